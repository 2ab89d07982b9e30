// Two side by side: who was closer, how often and by how much, and where.
import { differenceBars } from './charts/difference-bars.ts'
import {
  type Compared,
  type ComparedPair,
  type TwoSides,
  closerOf,
  gainOf,
  linked,
  nameOf,
  plainName,
  sidesOf,
  titleLink,
} from './compared-sides.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { counted, grouped, percent, plain, signed } from './numbers.ts'
import type { Site } from './site.ts'
import { scrolling } from './table.ts'
import { term } from './terms.ts'
import { interval } from './wording.ts'
import { NANO } from '../../schemas/values.ts'

/** Questions in each table. */
const MOST_ROWS = 5

export function comparedTwo(view: Compared, pair: ComparedPair): HtmlPart {
  const { site } = view
  const [one, other] = sidesOf(view, pair)
  if (pair.questions === 0) {
    return html`<p class="lead">No question was answered by both at the same time, so nothing says who is better.</p>
<p class="mute">What counts are questions with an outcome that have closed. Their places, titles and skills come from other questions, and do not compare the two either.</p>`
  }
  if (pair.shared.every(({ errors: [first, second] }) => first === second)) {
    return html`<p class="lead">${linked(site, one)} and ${linked(site, other)} had the same error on each of the ${counted(pair.questions, 'question')} that both answered.</p>`
  }
  const gains = pair.shared.map(gainOf).toSorted((a, b) => b - a)
  return html`<p class="lead">${verdict(site, [one, other], pair)}</p>
${facts(site, [one, other], pair)}
<figure>${differenceBars(gains, [plainName(one), plainName(other)])}
<figcaption>Each bar is a question: how much closer one was than the other over the time that both had a forecast, not with the last forecast alone.</figcaption></figure>
${rowsWhere(view, pair, 0)}${rowsWhere(view, pair, 1)}<p class="mute">The errors are Brier scores over the shared time: 0 is perfect, and 0.25 is what always saying 50\u00a0% gets.</p>`
}

/** Says who is better, or that nobody can tell. */
function verdict(
  site: Site,
  sides: TwoSides,
  { questions, difference, interval: range }: ComparedPair,
): Html {
  const by = plain(Math.abs(difference!))
  const isFirst = difference! < 0
  const [better, worse] = isFirst ? sides : ([sides[1], sides[0]] as const)
  if (!range) {
    return html`The mean errors of ${linked(site, sides[0])} and ${linked(site, sides[1])} differ by ${by}, but all of their ${counted(questions, 'shared question')} are of one event. So nothing says how much of that is luck.`
  }
  if (range.lower <= 0 && range.upper >= 0) {
    return html`Too close to call: on the ${counted(questions, 'question')} that both answered, the mean errors of ${linked(site, sides[0])} and ${linked(site, sides[1])} differ by ${by}. Luck allowed for, the difference may lie anywhere from ${signed(range.lower)} to ${signed(range.upper)}.`
  }
  const [least, most] = isFirst ? [-range.upper, -range.lower] : [range.lower, range.upper]
  return html`${linked(site, better)} was closer than ${linked(site, worse)} on the ${counted(questions, 'question')} that both answered: the mean error is lower by ${by}. Luck allowed for, it is lower by ${plain(least)} to ${plain(most)}.`
}

function facts(site: Site, [one, other]: TwoSides, pair: ComparedPair): Html {
  const { questions, clusters, brier, difference, interval: range } = pair
  const { first, second, equal } = closerOf(pair)
  const names = html`${nameOf(one)} : ${nameOf(other)}`
  const ends = range
    ? html`${interval(range)}, ${percent(range.level)}; below 0 the first is better`
    : 'how sure is unknown'
  return html`<dl class="facts">
<div><dt>Closer more often</dt><dd>${grouped(first)} : ${grouped(second)}<small>questions, ${names}${equal > 0 && `; equal on ${grouped(equal)}`}</small></dd></div>
<div><dt>Mean error</dt><dd>${plain(brier![0])} : ${plain(brier![1])}<small>Brier, 0 is perfect</small></dd></div>
<div><dt>Difference</dt><dd>${signed(difference!)}<small>${ends}</small></dd></div>
<div><dt>Shared questions</dt><dd>${grouped(questions)}<small>in ${term(site, 'groups', counted(clusters, 'separate group'))}</small></dd></div>
</dl>`
}

/** The questions on which one side was closer by most; nothing if there are none. */
function rowsWhere(view: Compared, pair: ComparedPair, side: 0 | 1): HtmlPart {
  const { site, titles } = view
  const sides = sidesOf(view, pair)
  const sign = side === 0 ? 1 : -1
  const rows = pair.shared.filter((question) => gainOf(question) * sign > 0).slice(0, MOST_ROWS)
  if (rows.length === 0) return undefined
  return html`<h2>Where ${nameOf(sides[side])} was closer by most</h2>
${scrolling(
  `Where ${plainName(sides[side])}${side === 1 && plainName(sides[0]) === plainName(sides[1]) ? ', the other one,' : ''} was closer`,
  html`<table>
<thead><tr><th scope="col">question</th><th scope="col">outcome</th><th scope="col" class="n">error of ${nameOf(sides[0])}</th><th scope="col" class="n">error of ${nameOf(sides[1])}</th><th scope="col" class="n">closer by</th><th scope="col" class="n">shared time</th></tr></thead>
<tbody>
${rows.map(({ questionId, outcome, coverage, errors: [error, errorOfOther] }) => {
  const [first, second] = [error / coverage, errorOfOther / coverage]
  return html`<tr><th scope="row" class="name">${titleLink(site, questionId, titles)}</th><td>${outcome === 1 ? 'yes' : 'no'}</td><td class="n">${plain(first)}</td><td class="n">${plain(second)}</td><td class="n">${plain(Math.abs(second - first))}</td><td class="n">${percent(coverage / NANO)}</td></tr>
`
})}</tbody></table>`,
)}
`
}
