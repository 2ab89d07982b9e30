// The comparison of sides: each two of them with what they share, and the finding on two or on several.
import type { EntityMetrics } from '../../../schemas/metrics.ts'
import type { EntityType } from '../../../schemas/tables.ts'
import { NANO } from '../../../schemas/values.ts'
import { differenceBars } from '../charts/comparison.ts'
import { type Html, type HtmlPart, html, scrolling } from '../html.ts'
import { shownName, unnamed } from '../profile/subject.ts'
import { type Site, questionPath, linkTo } from '../site.ts'
import { term } from '../terms.ts'
import { endOf, named, counted, grouped, percent, plain, signed, interval } from '../wording.ts'

/** A compared agent or forecaster. */
export interface Side {
  entityType: EntityType
  id: string
  name: string | null
  /** Of the profile. */
  path: string
  /** Of all its forecasts, not only of those on shared questions. */
  curve: EntityMetrics['calibration_curve']
}

/** A question that two shared, with whole 1e-9 of their errors over the shared time. */
interface SharedQuestion {
  questionId: string
  outcome: 0 | 1
  coverage: number
  errors: readonly [number, number]
}

export interface ComparedPair {
  /** The places of the two among the sides. */
  sides: readonly [number, number]
  questions: number
  clusters: number
  brier: readonly [number, number] | null
  difference: number | null
  interval: { lower: number; upper: number; level: number } | null
  /** Those on which they differ most come first. */
  shared: readonly SharedQuestion[]
}

export interface Compared {
  site: Site
  sides: readonly Side[]
  /** Each two of the sides; empty as long as it is open who is meant. */
  pairs: readonly ComparedPair[]
  /** Of the shared questions; null where the node does not know one. */
  titles: ReadonlyMap<string, string | null>
}

type TwoSides = readonly [Side, Side]

function sidesOf({ sides }: Pick<Compared, 'sides'>, pair: ComparedPair): TwoSides {
  return [sides[pair.sides[0]]!, sides[pair.sides[1]]!]
}

/** By how much the first one was closer on a question, weighted by the shared time. */
function gainOf({ errors: [one, other] }: SharedQuestion): number {
  return (other - one) / NANO
}

/** Counts the questions on which each was closer. */
function closerOf({ shared }: ComparedPair): { first: number; second: number; equal: number } {
  const gains = shared.map(gainOf)
  const [first, second] = [gains.filter((gain) => gain > 0).length, gains.filter((gain) => gain < 0).length]
  return { first, second, equal: gains.length - first - second }
}

/** A link to the profile. */
export function linked(site: Site, side: Omit<Side, 'curve'>): Html {
  return html`<a href="${linkTo(site, side.path)}">${nameOf(side)}</a>`
}

export function nameOf(side: Omit<Side, 'curve'>): Html {
  return shownName(side.entityType, side.id, side.name)
}

export function plainName({ entityType, id, name }: Omit<Side, 'curve'>): string {
  return name ?? unnamed(entityType, id)
}

function titleLink(site: Site, id: string, titles: Compared['titles']): Html {
  const title = titles.get(id) ?? null
  return html`<a href="${linkTo(site, questionPath(id))}">${title === null ? endOf(id) : named(title)}</a>`
}

/** Questions in each table. */
const MOST_ROWS = 5

/** Says of two who was closer, how often and by how much, and where. */
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

/** Questions in the table. */
const MOST_COMMON = 10

/** Shows each two of three or four in a row, and the questions that all of them share. */
export function comparedSeveral(view: Compared): HtmlPart {
  const { pairs } = view
  const decided = pairs.filter((pair) => betterOf(pair) !== undefined).length
  const apart = pairs.filter(({ questions }) => questions === 0).length
  const level = pairs.find((pair) => pair.interval)?.interval?.level
  return html`<p class="lead">Of ${counted(pairs.length, 'pair')}, ${decided === 0 ? 'none is' : decided === 1 ? 'one is' : `${decided} are`} decided beyond luck${apart > 0 && `; ${counted(apart, 'pair')} ${apart === 1 ? 'shares' : 'share'} no question, so nothing says who of them is better`}.</p>
${scrolling('Each two', pairTable(view))}
<p class="mute">Below 0 the first one of a row was better.${level !== undefined && html` The intervals hold at ${percent(level)} each: of many pairs of equals, about one in ${Math.round(1 / (1 - level))} looks decided by luck alone.`}</p>
${sharedByAll(view)}`
}

/** Returns the place of the side that is better beyond luck; undefined if nobody can tell. */
function betterOf({ sides, interval: range }: ComparedPair): number | undefined {
  if (!range || (range.lower <= 0 && range.upper >= 0)) return undefined
  return range.upper < 0 ? sides[0] : sides[1]
}

function pairTable(view: Compared): Html {
  return html`<table>
<thead><tr><th scope="col">who</th><th scope="col">finding</th><th scope="col" class="n">shared questions</th><th scope="col" class="n">closer more often</th><th scope="col" class="n">difference of mean errors</th></tr></thead>
<tbody>
${view.pairs.map((pair) => pairRow(view, pair))}</tbody></table>`
}

function pairRow(view: Compared, pair: ComparedPair): Html {
  const { site, sides } = view
  const [one, other] = sidesOf(view, pair)
  const who = html`<th scope="row" class="name">${linked(site, one)} and ${linked(site, other)}</th>`
  if (pair.questions === 0) {
    return html`<tr>${who}<td>no question shared</td><td class="n">0</td><td class="n">–</td><td class="n">–</td></tr>\n`
  }
  const better = betterOf(pair)
  const finding = better === undefined ? 'too close to call' : html`${linked(site, sides[better]!)} is better`
  const { first, second } = closerOf(pair)
  return html`<tr>${who}<td class="name">${finding}</td><td class="n">${grouped(pair.questions)}</td><td class="n">${grouped(first)} : ${grouped(second)}</td><td class="n">${signed(pair.difference!)}<span class="under">${interval(pair.interval)}</span></td></tr>
`
}

interface CommonQuestion {
  questionId: string
  outcome: 0 | 1
  /** The place of the side that was closer than every other one; undefined if there is none. */
  closest: number | undefined
  /** The greatest difference between two of them. */
  spread: number
}

/** The questions that each two share, those on which two differ most first. */
export function commonQuestions({ sides, pairs }: Pick<Compared, 'sides' | 'pairs'>): CommonQuestion[] {
  const rest = pairs.slice(1).map(({ shared }) => new Map(shared.map((each) => [each.questionId, each])))
  const common = pairs[0]!.shared.flatMap((first) => {
    const all = [first, ...rest.flatMap((each) => each.get(first.questionId) ?? [])]
    if (all.length < pairs.length) return []
    const wins = sides.map(() => 0)
    for (const [index, { errors }] of all.entries()) {
      const [one, other] = pairs[index]!.sides
      if (errors[0] < errors[1]) wins[one]! += 1
      if (errors[1] < errors[0]) wins[other]! += 1
    }
    const closest = wins.indexOf(sides.length - 1)
    const spread = Math.max(...all.map(({ errors }) => Math.abs(errors[0] - errors[1])))
    const { questionId, outcome } = first
    return [{ questionId, outcome, closest: closest < 0 ? undefined : closest, spread }]
  })
  return common.sort((a, b) => b.spread - a.spread)
}

function sharedByAll(view: Compared): HtmlPart {
  const { site, sides, titles } = view
  const all = commonQuestions(view)
  if (all.length === 0) return html`<p>No question was answered by all ${sides.length} at the same time.</p>`
  const times = sides.map((side, place) => {
    const count = all.filter(({ closest }) => closest === place).length
    return html`<li>${linked(site, side)}: ${grouped(count)}</li>\n`
  })
  const rows = all.slice(0, MOST_COMMON)
  return html`<h2>The ${counted(all.length, 'question')} that all share</h2>
<p>How often each was the closest of all:</p>
<ul>
${times}</ul>
${scrolling(
  'Questions that all share',
  html`<table><caption>${all.length > rows.length ? `The ${rows.length} on which they differ most` : 'Those on which they differ most come first'}</caption>
<thead><tr><th scope="col">question</th><th scope="col">outcome</th><th scope="col">closest</th></tr></thead>
<tbody>
${rows.map(
  ({ questionId, outcome, closest }) =>
    html`<tr><th scope="row" class="name">${titleLink(site, questionId, titles)}</th><td>${outcome === 1 ? 'yes' : 'no'}</td><td class="name">${closest === undefined ? '–' : linked(site, sides[closest]!)}</td></tr>
`,
)}</tbody></table>`,
)}`
}
