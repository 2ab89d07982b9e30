// The part of a question's page that says what was forecast in the end. It exists for settled questions
// alone.
import type { QuestionSummary, VoiceRule } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { courseChart, binWords, lastForecastsChart } from './charts/settled-question.ts'
import { type Html, type HtmlPart, html, scrolling } from './html.ts'
import { entityLink } from './profile/subject.ts'
import { type Site, questionTable, linkTo } from './site.ts'
import { term } from './terms.ts'
import { counted, grouped, percent, plain } from './wording.ts'

/** A release says this of the question. */
export interface Settled {
  summary: QuestionSummary
  /** The names of those that are named in it, by id; none for those who have none. */
  names: ReadonlyMap<string, string>
  voiceRule: VoiceRule
  /** Whether there is a table of all answers. */
  hasAnswers: boolean
  /** The opening, and when nothing was taken any more. */
  from: Date
  to: Date
}

type Crowd = NonNullable<QuestionSummary['crowd']>
const ALWAYS_HALF = 0.25

/** Says who forecast it, and what, in one or two sentences. */
export function forecastSentence({ summary, voiceRule }: Settled): HtmlPart {
  const { agents, forecasters, crowd, outcome } = summary
  const who = [
    ...(forecasters > 0 ? [counted(forecasters, 'forecaster')] : []),
    ...(agents > 0 ? [counted(agents, 'agent')] : []),
  ]
  const total = agents + forecasters
  const begin = `${who.join(' and ')} answered it`
  if (!crowd) return `${begin}, and no forecast that counts here stood at the end.`
  if (crowd.voices === 1) {
    return total === 1
      ? html`${begin}, and said <strong>${share(crowd.average)}</strong> last.`
      : html`${begin}. The one that ${countsAs(voiceRule)} said <strong>${share(crowd.average)}</strong> last.`
  }
  const middle = html`at least half said ${outcome === 'yes' ? floored(crowd.middle) : ceiled(crowd.middle)} or ${outcome === 'yes' ? 'more' : 'less'}`
  return crowd.voices === total
    ? html`${begin}; on average they said <strong>${share(crowd.average)}</strong>, and ${middle}.`
    : html`${begin}. The ${grouped(crowd.voices)} of them that ${countAs(voiceRule)} said <strong>${share(crowd.average)}</strong> on average, and ${middle}.`
}

const countAs = (rule: VoiceRule) =>
  rule === 'everyone' ? 'had a forecast at the end' : 'count, one for each owner,'
const countsAs = (rule: VoiceRule) => (rule === 'everyone' ? 'had a forecast at the end' : 'counts')

export function settledSections(site: Site, settled: Settled): Html {
  const { summary } = settled
  return html`${summary.crowd && crowdSection(site, settled, summary.crowd)}${courseSection(settled)}${ends(site, settled)}${answers(site, settled)}${summary.crowd && numbers(site, summary, summary.crowd)}`
}

function crowdSection(site: Site, { summary, voiceRule }: Settled, crowd: Crowd): Html {
  const { agents, forecasters, outcome, withdrawn } = summary
  const total = agents + forecasters
  const result = `The last forecasts: ${share(crowd.average)} on average, and the outcome was ${outcome}.`
  const left = total - crowd.voices
  const rule =
    voiceRule === 'everyone'
      ? 'Everybody counts whose forecast stood at the end.'
      : 'All forecasters count, and the first agent of each recorded owner, if their forecast stood at the end.'
  const row = (what: HtmlPart, figure: HtmlPart, brier: number) =>
    html`<tr><th scope="row">${what}</th><td class="n">${figure}</td><td class="n">${plain(brier)}</td></tr>\n`
  const average =
    crowd.average === crowd.middle
      ? row('the average, and the middle one', share(crowd.average), crowd.average_brier)
      : html`${row('the average', share(crowd.average), crowd.average_brier)}${row('the middle one', share(crowd.middle), crowd.middle_brier)}`
  return html`<h2 id="said">What was said last</h2>
<div class="columns"><figure>${lastForecastsChart(crowd, outcome, result)}
<figcaption>How many said what, in steps of ${percent(1 / crowd.counts.length)}.${left > 0 && ` ${rule} ${grouped(left)} of ${grouped(total)} ${left === 1 ? 'does' : 'do'} not${withdrawn > 0 ? `; ${counted(withdrawn, 'forecast')} had been withdrawn` : ''}.`}</figcaption></figure>
<div><table><caption>How far off they were: 0 is perfect, 1 is the worst</caption>
<thead><tr><th scope="col">forecast</th><th scope="col" class="n">said</th><th scope="col" class="n">${term(site, 'brier', 'error')}</th></tr></thead>
<tbody>
${average}${row('always 50\u00a0%', '50\u00a0%', ALWAYS_HALF)}</tbody></table>
<p>${surprise(site, crowd)}</p></div></div>
`
}

/** Compares the error of the average with those on other questions. */
function surprise(site: Site, { surprise: { more, of: total } }: Crowd): HtmlPart {
  const word = term(site, 'surprise', 'surprise')
  if (total === 1) return 'There is no other settled question to compare it with.'
  if (more === 0) return html`Of ${counted(total, 'question')} none took the crowd by more ${word}.`
  return html`Of ${counted(total, 'question')}, ${grouped(more)} took the crowd by more ${word}.`
}

function courseSection({ summary: { course, outcome }, from, to }: Settled): HtmlPart {
  if (!course) return undefined
  const stood = course.filter((value) => value !== null)
  const result = `The average went from ${share(stood[0]!)} to ${share(stood.at(-1)!)}.`
  return html`<h2 id="course">How the average moved</h2>
<figure>${courseChart({ course, from, to }, outcome, result)}
<figcaption>${result} At each instant those count whose forecasts stood then.</figcaption></figure>
`
}

function ends(site: Site, settled: Settled): HtmlPart {
  const { closest, farthest } = settled.summary
  if (closest.length === 0) return undefined
  if (farthest.every(({ probability }) => probability === closest[0]!.probability)) {
    return endTable(site, settled, 'Who forecast it', [...closest, ...farthest])
  }
  return html`<div class="columns"><div>${endTable(site, settled, 'Closest at the end', closest)}</div>
<div>${endTable(site, settled, 'Farthest at the end', farthest)}</div></div>
<p class="mute">By the last forecast. Of those who were equally close, the one whose forecast stood longer comes first.</p>
`
}

/** Leads to the table of all answers, or says where else they are. */
function answers(site: Site, { summary: { question_id: id }, hasAnswers }: Settled): Html {
  return hasAnswers
    ? html`<p><a href="${linkTo(site, questionTable(id, 'answers'))}">All last forecasts with their scores as CSV</a></p>
`
    : html`<p class="mute">All last forecasts with their scores: in the view <code>scores</code> of <a href="${linkTo(site, '/data/views.sql')}">/data/views.sql</a>, by the question’s id.</p>
`
}

function endTable(site: Site, { names }: Settled, heading: string, rows: QuestionSummary['closest']): Html {
  const shown = rows.map((row) => {
    const [entityType, id]: [EntityType, string] =
      'agent_id' in row ? ['agent', row.agent_id] : ['forecaster', row.user_id]
    const link = entityLink(site, entityType, id, names.get(id) ?? null)
    return html`<tr><th scope="row" class="name">${link}</th><td class="n">${share(row.probability)}</td></tr>
`
  })
  return html`<h2>${heading}</h2>
<table><thead><tr><th scope="col">who</th><th scope="col" class="n">said last</th></tr></thead><tbody>
${shown}</tbody></table>`
}

/** All numbers of the pictures. */
function numbers(site: Site, { course, question_id: id }: QuestionSummary, { counts }: Crowd): Html {
  const bins = counts.map(
    (count, bin) =>
      html`<tr><th scope="row">${binWords(bin / counts.length, (bin + 1) / counts.length)}</th><td class="n">${grouped(count)}</td></tr>
`,
  )
  return html`<details><summary>All numbers of the pictures</summary>
${scrolling(
  'Last forecasts',
  html`<table class="record"><thead><tr><th scope="col">said last</th><th scope="col" class="n">forecasts</th></tr></thead><tbody>
${bins}</tbody></table>`,
)}${course && html`<p>The average at ${course.length} instants, equally far apart from the opening to the close: ${course.map((value) => (value === null ? '–' : share(value))).join(', ')}.</p>`}
<p>As CSV: <a href="${linkTo(site, questionTable(id, 'last-forecasts'))}">the last forecasts</a>${course && html`, <a href="${linkTo(site, questionTable(id, 'course'))}">the average</a>`}</p></details>
`
}

/** Writes a probability with up to one decimal. */
function share(probability: number): string {
  return percent(probability, Number.isInteger(Math.round(probability * 1e6) / 1e4) ? 0 : 1)
}

/** Writes a probability so that whoever said as much or more has said at least what is written. */
function floored(probability: number): string {
  return share(Math.floor(Math.round(probability * 1e6) / 1e3) / 1e3)
}

function ceiled(probability: number): string {
  return share(Math.ceil(Math.round(probability * 1e6) / 1e3) / 1e3)
}
