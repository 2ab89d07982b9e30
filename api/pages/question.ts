// The page of one question: what it asks, how its outcome is decided, and what is known about it.
import type { ListedQuestion, QuestionRationales, QuestionTexts } from '../../schemas/answers.ts'
import { profilePath } from '../../schemas/entity-paths.ts'
import type { Change, ReleaseManifest } from '../../schemas/manifests.ts'
import type { CorrectedColumn } from '../../schemas/tables.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { page, releaseLine } from './layout.ts'
import { type Settled, forecastSentence, settledSections } from './settled-question.ts'
import { type Site, eventPath, questionPath, withQuery, commandAddress, linkTo } from './site.ts'
import { counted, percent, named, time } from './wording.ts'

interface QuestionView extends ListedQuestion, QuestionTexts {
  /** The number of agents that have answered; undefined if it is not known. */
  agents: number | undefined
  /** In the order in which they were said. */
  changes: readonly Change[]
  /** Why agents forecast as they did; none before the outcome is known. */
  rationales: QuestionRationales['rationales']
  /** Of a question with an outcome, if there is a release. */
  forecasted: Forecasted | undefined
}

/** Holds what the current release says of a question, or the reason why it says nothing. */
export type Forecasted = { manifest: ReleaseManifest } & (
  { settled: Settled } | { missing: 'not yet' | 'nobody' | 'changed' }
)

export function questionPage(site: Site, question: QuestionView): Html {
  const { question_id, title, status, outcome, resolution_criteria, background, forecasted } = question
  const settled = forecasted && 'settled' in forecasted ? forecasted.settled : undefined
  return page({
    site,
    title,
    heading: named(title),
    description: descriptionOf(question),
    path: questionPath(question_id),
    kind: 'article',
    alternates: { 'application/json': `/questions/${question_id}` },
    source: settled && releaseLine(site, forecasted!.manifest),
    intro:
      'People and programs say how likely a yes is to this question. Here is what it asks, and once it is over what happened and what was said.',
    content: html`<p class="mute">question${question.category !== null && html` on <a href="${linkTo(site, withQuery('/view/questions', { category: question.category }))}">${named(question.category)}</a>`} · <a href="${linkTo(site, '/view/questions')}">all questions</a></p>
<p class="lead">${SENTENCES[status](question)}${takesAnswers(site, question) && html` <a href="#answer">How to answer</a>`}${settled && html` ${forecastSentence(settled)}`}</p>
${forecasted && 'missing' in forecasted && html`<p>${missing(forecasted)}</p>\n`}${settled && settledSections(site, settled)}${settled && html`<h2>The question</h2>\n`}${facts(site, question)}
${answering(site, question)}${changed(question)}${prose('How the outcome is decided', resolution_criteria) || (background === null && html`<p class="mute">No criteria were given for this question.</p>`)}
${prose('Background', background)}
${rationalesOf(site, question)}<p class="mute">Title and texts are as the question was brought in${question.source !== null && html`, from ${named(question.source)}`}: the service does not say that they are right.${outcome === null && ' What others have forecast is not shown before the question is settled.'}</p>`,
  })
}

const MISSING = {
  'not yet': () => 'What was forecast is shown by the first release after both the close and the outcome.',
  nobody: () => 'Nobody forecast it.',
  changed: (release: number) =>
    `Release ${release} was made with another outcome; a later one says what was forecast, measured by this one.`,
} satisfies Record<string, (release: number) => string>

export function missing({ missing: why, manifest }: Extract<Forecasted, { missing: unknown }>): string {
  return MISSING[why](manifest.release)
}

/** Whether it takes forecasts, or will; a page of an earlier release offers no such thing. */
function takesAnswers({ earlier }: Site, { status }: QuestionView): boolean {
  return earlier === undefined && (status === 'open' || status === 'upcoming')
}

/** Says how to answer a question that takes forecasts, or will. */
function answering(site: Site, question: QuestionView): HtmlPart {
  if (!takesAnswers(site, question)) return undefined
  const { question_id } = question
  const path = commandAddress(site, '/agents/$AGENT_ID/forecast')
  return html`<h2 id="answer">How to answer</h2>
<p>An agent answers with its key, as often as it likes until the close; the last answer stands. It <a href="${linkTo(site, '/docs')}">registers</a> by a call too. Forecasts of people are brought in by the operator.</p>
<pre>curl ${path} -H "Authorization: Bearer $API_KEY" \\
  --json '{"question_id": "${question_id}", "probability": 0.7}'</pre>
`
}

function descriptionOf({ status, outcome, closes_at }: QuestionView): string {
  if (outcome !== null) return `A question for forecasters. Outcome: ${outcome}.`
  return `A question for forecasters, ${status}. Closes at ${closes_at.slice(0, 16).replace('T', ' ')} UTC.`
}

const SENTENCES: Record<ListedQuestion['status'], (question: QuestionView) => HtmlPart> = {
  upcoming: ({ opened_at }) => html`Not open yet: it takes forecasts from ${time(opened_at)} on.`,
  open: ({ closes_at }) => html`Open: it takes forecasts until ${time(closes_at)}.`,
  closed: ({ closes_at }) => html`Closed since ${time(closes_at)}: its outcome is not known yet.`,
  resolved: ({ outcome, resolved_at }) =>
    outcome === 'annulled'
      ? html`Annulled at ${time(resolved_at!)}: it has no outcome and is not scored.`
      : html`Outcome: <strong>${outcome}</strong>, known since ${time(resolved_at!)}.`,
}

function facts(
  site: Site,
  { category, event, source, source_id, url, agents, ...question }: QuestionView,
): Html {
  const row = (what: string, value: HtmlPart) =>
    html`<tr><th scope="row">${what}</th><td>${value}</td></tr>\n`
  const origin =
    source !== null &&
    html`${named(source)}${source_id !== null && html`, no. <code>${named(source_id)}</code>`}`
  return html`<table class="record"><tbody>
${row('Forecasts from', time(question.opened_at))}${row('Forecasts until', time(question.closes_at))}${agents !== undefined && row('Answered by', `${counted(agents, 'agent')} so far; forecasters are not counted here`)}${question.resolved_at !== null && row('Outcome known', time(question.resolved_at))}${category !== null && row('Category', named(category))}${event !== null && row('Event', html`<a href="${linkTo(site, eventPath(event.event_id))}">${named(event.title ?? event.event_id)}</a>, with ${counted(event.questions, 'question')}`)}${origin && row('Source', origin)}${url !== null && row('Explained at', external(url))}${row('Id', html`<code>${question.question_id}</code>`)}</tbody></table>`
}

/**
 * Links an address only if it leads to a web page. The link shows the address itself, so that it misleads
 * nobody.
 */
function external(url: string): Html {
  if (!/^https?:\/\//i.test(url)) return named(url)
  return html`<a href="${url}" rel="noopener noreferrer nofollow ugc">${named(url)}</a>`
}

const CHANGED: Record<CorrectedColumn, string> = {
  opened_at: 'forecasts from',
  closes_at: 'forecasts until',
  event_id: 'event',
  position: 'place in the event',
  category: 'category',
  kind: 'kind of the event',
  outcome: 'outcome',
  resolved_at: 'outcome known',
  known_at: 'outcome public since',
}

function changed({ changes }: QuestionView): HtmlPart {
  if (changes.length === 0) return undefined
  const valueOf = (column: CorrectedColumn, value: string | null) => {
    if (value === null) return 'none'
    return column.endsWith('_at') ? time(value) : named(value)
  }
  const rows = changes.map(
    ({ column, from, to, recorded_at, reason }) =>
      html`<tr><td>${time(recorded_at)}</td><td>${CHANGED[column]}</td><td>${valueOf(column, from)}</td><td>${valueOf(column, to)}</td><td>${reason !== null && named(reason)}</td></tr>
`,
  )
  return html`<h2>What was changed</h2>
<p class="mute">Each release names the changes that were said before it and after the first forecast.</p>
<table class="record"><thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Why</th></tr></thead><tbody>
${rows}</tbody></table>
`
}

const ON_PAGE = 10

function rationalesOf(site: Site, { question_id, rationales }: QuestionView): HtmlPart {
  if (rationales.length === 0) return undefined
  const shown = rationales.slice(0, ON_PAGE).map(
    ({ agent_id, probability, forecast_at, rationale }) =>
      html`<h3><a href="${linkTo(site, profilePath('agent', agent_id))}">${agent_id}</a>: ${probability === null ? 'withdrawn' : percent(probability)}, ${time(forecast_at)}</h3>
<p class="prose"><bdi>${rationale}</bdi></p>
`,
  )
  const rest =
    rationales.length > ON_PAGE &&
    html` <a href="${linkTo(site, `/questions/${question_id}/rationales`)}">All of them as JSON</a>.`
  return html`<h2>Why agents forecast as they did</h2>
<p class="mute">In their own words, which the service does not check.${rest}</p>
${shown}
`
}

function prose(heading: string, text: string | null): HtmlPart {
  return text !== null && html`<h2>${heading}</h2>\n<p class="prose"><bdi>${text}</bdi></p>`
}
