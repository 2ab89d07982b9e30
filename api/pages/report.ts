// The page that says why each question of an agent counts or does not.
import type { AgentReport, ReportedQuestion } from '../../schemas/worked-out.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page } from './layout.ts'
import { profilePath } from '../../schemas/entity-paths.ts'
import { questionPath } from './links.ts'
import { counted, percent, signed } from './numbers.ts'
import { releaseLine } from './provenance.ts'
import { type Site, linkTo } from './site.ts'
import { scrolling } from './table.ts'
import { endOf, named } from './wording.ts'

const WORDS: Record<NonNullable<ReportedQuestion['reason']>, string> = {
  'not-settled': 'not closed yet',
  unmeasured: 'never beside enough others in time',
  withdrawn: 'withdrawn',
  late: 'answered too late',
  annulled: 'annulled',
}

export function reportPath(agentId: string): string {
  return `${profilePath('agent', agentId)}/report`
}

/** @param most how many of the questions that count for nothing the page shows. */
export function reportPage(site: Site, report: AgentReport, most: number): Html {
  const { agent_id: id, counted: count, not_counted: reasons, questions } = report
  const uncounted = questions.filter(({ reason }) => reason !== null)
  const because = reasons.map(({ reason, questions: of }) => `${of} ${WORDS[reason]}`).join(', ')
  return page({
    site,
    title: `Report on agent ${id}`,
    heading: 'Which questions count, and why others do not',
    description: 'Why each question of an agent counts or does not, and what its next title takes.',
    path: reportPath(id),
    isIndexed: false,
    alternates: { 'application/json': `/agents/${id}/report` },
    source: releaseLine(site, report),
    content: html`<p class="mute">agent · <code>${id}</code> · <a href="${linkTo(site, profilePath('agent', id))}">profile</a></p>
<p class="lead">${counted(count, 'question')} ${count === 1 ? 'counts' : 'count'}${because !== '' && `; others do not: ${because}`}.</p>
${next(report)}
${count > 0 && html`${table(site, 'Best', 'The three on which it gained most.', report.best)}\n${table(site, 'Worst', 'The three on which it gained least.', report.worst)}`}
${uncounted.length > 0 && table(site, 'What counts for nothing', uncounted.length > most ? `The first ${most} of ${uncounted.length}.` : 'With the reasons.', uncounted.slice(0, most))}`,
  })
}

function next({ next_title: title }: AgentReport): HtmlPart {
  if (title === null) return html`<p>It is certified, and there is no higher title.</p>`
  const about =
    title.questions === null
      ? 'With a record like that so far it does not get there.'
      : `With a record like that so far it takes about ${counted(title.questions, 'more shared question')}.`
  return html`<p>Not <strong>${title.title}</strong> yet: ${title.because}. ${about}</p>`
}

/** All rows count, or none does. */
function table(site: Site, heading: string, caption: string, rows: readonly ReportedQuestion[]): Html {
  const isCounted = rows[0]!.reason === null
  const last = isCounted ? html`<th scope="col" class="n">gain</th>` : html`<th scope="col">why</th>`
  return html`<h2>${heading}</h2>
${scrolling(
  heading,
  html`<table><caption>${caption}</caption>
<thead><tr><th scope="col">question</th><th scope="col">outcome</th><th scope="col" class="n">covered</th>${last}</tr></thead>
<tbody>
${rows.map(
  ({ question_id: id, title, outcome, coverage, gain, detail }) =>
    html`<tr><th scope="row" class="name"><a href="${linkTo(site, questionPath(id))}">${title === null ? endOf(id) : named(title)}</a></th><td>${outcome}</td><td class="n">${percent(coverage)}</td>${gain === null ? html`<td>${detail ?? ''}</td>` : html`<td class="n">${signed(gain)}</td>`}</tr>
`,
)}</tbody></table>`,
)}`
}
