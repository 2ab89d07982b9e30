// The skill by topic, on a profile.
import { intervalBar } from '../charts/interval-bar.ts'
import { type HtmlPart, html } from '../html.ts'
import { topicPath } from '../links.ts'
import { signed } from '../numbers.ts'
import { type Site, linkTo } from '../site.ts'
import { scrolling } from '../table.ts'
import { interval, named } from '../wording.ts'

export interface Topic {
  /** Null for questions without a category. */
  topic: string | null
  /** How many of them are shared. */
  questions: number
  /** Undefined where there are too few. */
  point: { skill: number; interval: { lower: number; upper: number } | null } | undefined
}

/** More topics than a reader compares are left out. */
const MOST_TOPICS = 20

/** False where no question has a category, or where there are too few for any skill. */
export function hasTopics(topics: readonly Topic[], needed: number): boolean {
  const total = topics.reduce((sum, { questions }) => sum + questions, 0)
  return total >= needed && topics.some(({ topic }) => topic !== null)
}

/**
 * Nothing where `hasTopics` is false.
 *
 * @param needed the number of questions from which a skill is shown.
 */
export function topicsSection(site: Site, topics: readonly Topic[], needed: number): HtmlPart {
  if (!hasTopics(topics, needed)) return undefined
  const shown = topics.slice(0, MOST_TOPICS)
  const left = topics.length - shown.length
  const rows = shown.map(
    ({
      topic,
      questions,
      point,
    }) => html`<tr><th scope="row" class="name">${topicName(site, topic)}</th><td class="n">${point ? questions : `${questions} of ${needed}`}</td><td>${point ? html`<div class="skill"><span class="number">${signed(point.skill)}</span>${intervalBar(point.skill, point.interval)}<span class="under">${interval(point.interval)}</span></div>` : html`<span class="mute">not enough questions yet</span>`}</td></tr>
`,
  )
  return html`<h2 id="topics">By topic</h2>
<p class="mute">The skill on the shared questions of each topic alone, from ${needed} of them on. Each interval holds for its topic with 95\u00a0%; among twenty topics, one misses by luck. A topic gives no title.${left > 0 && ` ${left} further topics with fewer questions are left out.`}</p>
${scrolling(
  'By topic',
  html`<table>
<thead><tr><th scope="col">topic</th><th scope="col" class="n">shared questions</th><th scope="col">skill</th></tr></thead>
<tbody>
${rows}</tbody></table>`,
)}`
}

function topicName(site: Site, topic: string | null): HtmlPart {
  if (topic === null) return 'without a topic'
  return html`<a href="${linkTo(site, topicPath(topic))}">${named(topic)}</a>`
}
