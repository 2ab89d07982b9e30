// Three or four side by side: each two in a row, and the questions that all of them share.
import { type Compared, type ComparedPair, closerOf, linked, sidesOf, titleLink } from './compared-sides.ts'
import { type Html, type HtmlPart, html } from './html.ts'
import { counted, grouped, percent, signed } from './numbers.ts'
import { scrolling } from './table.ts'
import { interval } from './wording.ts'

/** Questions in the table. */
const MOST_ROWS = 10

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
  const rows = all.slice(0, MOST_ROWS)
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
