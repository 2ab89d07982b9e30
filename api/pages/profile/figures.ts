// The charts of a profile, each with its result in words and its numbers in a table.
import { multiples, stepFor } from '../charts/axis.ts'
import { intervalBar } from '../charts/interval-bar.ts'
import { reliabilityDiagram, reliabilityResult, reliabilityTable } from '../charts/reliability.ts'
import {
  type RunningPoint,
  type Threshold,
  type QuestionDot,
  type SkillOfDay,
  runningResult,
  runningSkillChart,
  skillByDateChart,
} from '../charts/skill-over-time.ts'
import { type Html, type HtmlPart, html, scrolling } from '../html.ts'
import { type Site, questionPath, linkTo, topicPath } from '../site.ts'
import { grouped, signed, interval, plain, dayOf, isolated, places, named } from '../wording.ts'
import { gainOf } from './questions.ts'
import { type Payloads, type TitleRules, type QuestionScore, levelOf } from './subject.ts'

/** The most rows of the table, not counting thresholds. */
const MOST_ROWS = 8

/** Returns the counts of shared questions that get a row in the table of the running skill. */
export function milestones(questions: number, rules: TitleRules): number[] {
  if (questions === 0) return []
  const steps = multiples(1, questions, Math.max(1, stepFor(questions, MOST_ROWS)))
  const wanted = [...steps, rules.eligible_questions, rules.certified_questions, questions].filter(
    (count) => Number.isInteger(count) && count <= questions,
  )
  return [...new Set(wanted)].sort((a, b) => a - b)
}

function thresholdsOf(rules: TitleRules): Threshold[] {
  return [
    { questions: rules.eligible_questions, label: 'place' },
    { questions: rules.certified_questions, label: 'certified' },
  ]
}

/** Nothing without a shared question. */
export function runningFigure(
  payloads: Payloads,
  points: readonly RunningPoint[],
  rules: TitleRules,
): HtmlPart {
  if (points.length === 0) return undefined
  const thresholds = thresholdsOf(rules)
  return html`<h2 id="skill">Skill, question by question</h2>
<p>${runningResult(points)}</p>
<div class="columns"><figure>${runningSkillChart(points, thresholds)}
<figcaption>${points.some((point) => point.interval) && 'Shaded: where the true skill may lie. '}Dashed: how many questions a title takes.</figcaption></figure>
${scrolling('The running skill in numbers', runningTable(payloads, points, milestones(points.at(-1)!.questions, rules)))}</div>`
}

function runningTable(payloads: Payloads, points: readonly RunningPoint[], shown: readonly number[]): Html {
  const level = payloads.metrics.skill_interval
    ? `${levelOf(payloads.metrics.skill_interval)} interval`
    : 'interval'
  const rows = points.filter(({ questions }) => shown.includes(questions))
  return html`<table><caption>The same in numbers</caption>
<thead><tr><th scope="col">questions</th><th scope="col" class="n">skill</th><th scope="col" class="n">${level}</th></tr></thead>
<tbody>
${rows.map(
  (point) =>
    html`<tr><th scope="row">${grouped(point.questions)}</th><td class="n">${signed(point.skill)}</td><td class="n">${interval(point.interval)}</td></tr>\n`,
)}</tbody></table>`
}

/** Nothing without a settled question. */
export function reliabilityFigure({ metrics: { calibration_curve: curve, corp } }: Payloads): HtmlPart {
  if (corp === null) return undefined
  return html`<h2 id="calibration">Do 7 in 10 things happen that were called 70 % likely?</h2>
<p>${reliabilityResult(curve)}</p>
<div class="columns"><figure>${reliabilityDiagram(curve, corp)}
<figcaption>On the dashed line, what was said is what happened; the vertical lines show what luck can do. The stepped line smooths the dots, and the bars below count the forecasts.</figcaption></figure>
${scrolling('The calibration in numbers', reliabilityTable(curve))}</div>`
}

/** A day on which a skill was published. */
export interface Day extends SkillOfDay {
  interval: { lower: number; upper: number; level: number } | null
  /** Null without a place. */
  rank: number | null
  /** The places that the bars leave open; likewise null. */
  places: { lower: number; upper: number } | null
}

/** More dots than these would hide each other. */
const MOST_DOTS = 120

/**
 * Nothing before the second day, unless there are questions that count.
 *
 * @param days in order, at most some tens. @param scores those that were settled first at the front.
 */
export function byDateFigure(site: Site, days: readonly Day[], scores: readonly QuestionScore[]): HtmlPart {
  const shared = scores.flatMap((score) => dotOf(site, score))
  const dots = shared.slice(-MOST_DOTS)
  if (!hasDates(days, scores)) return undefined
  const title = dateChartTitle(days)
  const which =
    shared.length > dots.length ? `The ${dots.length} newest questions are dots: ` : 'A dot is a question: '
  return html`<h2 id="dates">By date</h2>
<p>${title}</p>
<figure>${skillByDateChart(days, dots, title)}
<figcaption>${dots.length > 0 && `${which}the higher, the better against the others, on the day from which it counts. Each leads to its question.`}${days.length > 1 && ' Shaded: where the true skill may lie.'}</figcaption></figure>
${
  days.length > 0 &&
  html`<details><summary>Skill and place by date</summary>
${scrolling('Skill and place by date', dayTable(days))}</details>\n`
}`
}

/** Whether there is anything to show by date. */
export function hasDates(days: readonly Day[], scores: readonly QuestionScore[]): boolean {
  return days.length > 1 || scores.some((score) => score.contested)
}

function dateChartTitle(days: readonly Day[]): string {
  const [first, last] = [days[0], days.at(-1)]
  if (!first || !last) return 'How each question went, by date.'
  if (first === last) return `The skill was ${signed(last.skill)} on ${last.date}.`
  return `The skill was ${signed(first.skill)} on ${first.date} and ${signed(last.skill)} on ${last.date}.`
}

function dotOf(site: Site, score: QuestionScore): QuestionDot[] {
  const gain = gainOf(score)
  const { settled_at: at } = score
  if (gain === null || at === null) return []
  const size = plain(Math.abs(gain))
  const compared = size === plain(0) ? 'the same' : `${size} ${gain > 0 ? 'better' : 'worse'}`
  const title = score.title === null ? `question …${score.question_id.slice(-6)}` : isolated(score.title)
  const words = `${at.toISOString().slice(0, 10)}, ${compared}: ${title}`
  return [{ at, gain, words, href: linkTo(site, questionPath(score.question_id)) }]
}

function dayTable(days: readonly Day[]): Html {
  const bounds = days.at(-1)!.interval
  return html`<table>
<thead><tr><th scope="col">date</th><th scope="col" class="n">skill</th><th scope="col" class="n">${bounds ? `${levelOf(bounds)} interval` : 'interval'}</th><th scope="col" class="n">place</th></tr></thead>
<tbody>
${days
  .toReversed()
  .map(
    (day) =>
      html`<tr><th scope="row">${dayOf(day.date)}</th><td class="n">${signed(day.skill)}</td><td class="n">${interval(day.interval)}</td><td class="n">${placeOf(day)}</td></tr>\n`,
  )}</tbody></table>`
}

function placeOf({ rank, places: range }: Day): string {
  if (rank === null) return '–'
  return range === null ? String(rank) : places(range)
}

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
