// The page of an event: its questions, and what they have to do with each other.
import type { Event } from '../../schemas/answers.ts'
import type { EventKind } from '../../schemas/tables.ts'
import { type Html, html, scrolling } from './html.ts'
import { page } from './layout.ts'
import { statusInWords } from './questions.ts'
import { type Site, eventPath, linkTo, questionPath, withQuery } from './site.ts'
import { counted, dayOf, named } from './wording.ts'

/** For each kind a sentence for somebody who does not know the word. */
const KINDS: Record<EventKind, string> = {
  exclusive: 'Exactly one of them ends with yes.',
  at_most_one: 'At most one of them ends with yes.',
  ordered: 'A yes to one of them implies a yes to every one above it in the list.',
  independent: 'The answer to one of them implies nothing of the others.',
}

export function eventPage(site: Site, event: Event): Html {
  const { event_id, kind, questions, question_count, url, source } = event
  const counts = counted(question_count, 'question')
  const title = event.title ?? event_id
  return page({
    site,
    title,
    heading: named(title),
    description: `${counts} about one event. ${KINDS[kind]}`,
    path: eventPath(event_id),
    alternates: { 'application/json': `/events/${encodeURIComponent(event_id)}` },
    source: undefined,
    intro: `${counts} about one event, to which people and programs say how likely a yes is. ${KINDS[kind]}`,
    content: html`<p class="mute">event <code>${named(event_id)}</code>${source !== null && html`, from ${named(source)}`} · <a href="${linkTo(site, withQuery('/view/questions', {}))}">all questions</a></p>
${scrolling('Questions', questionTable(site, questions))}
${question_count > questions.length && html`<p>These are the ${questions.length} that close first.</p>\n`}<p class="mute">Title and questions are as they were brought in${url !== null && html`, explained at ${named(url)}`}: the service does not say that they are right.</p>`,
  })
}

function questionTable(site: Site, questions: Event['questions']): Html {
  const rows = questions.map(
    ({ question_id, title, option, status, outcome, closes_at }) =>
      html`<tr><th scope="row"><a href="${linkTo(site, questionPath(question_id))}">${named(option ?? title)}</a>${option !== null && html`<span class="under">${named(title)}</span>`}</th><td class="n">${statusInWords(status, outcome)}<span class="under">${dayOf(closes_at)}</span></td></tr>
`,
  )
  return html`<table>
<thead><tr><th scope="col">question</th><th scope="col" class="n">status and close</th></tr></thead>
<tbody>
${rows}</tbody></table>`
}
