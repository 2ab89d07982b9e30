// The skill and the place of an entity by date, and its questions on the same dates.
import { type QuestionDot, type SkillOfDay, skillByDateChart } from '../charts/skill-by-date.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { questionPath } from '../links.ts'
import { plain, signed } from '../numbers.ts'
import { type Site, linkTo } from '../site.ts'
import { scrolling } from '../table.ts'
import { dayOf, interval, isolated, places } from '../wording.ts'
import { gainOf } from './question-order.ts'
import { type QuestionScore, levelOf } from './subject.ts'

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
