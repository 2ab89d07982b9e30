// The rows of a board that are no entrants: reference forecasts, at the places that their skills would have.
import type { Reference, ReferenceRow } from '../../schemas/references.ts'
import { boardBar } from './charts/interval-bar.ts'
import { type Html, html } from './html.ts'
import { signed } from './numbers.ts'
import type { Site } from './site.ts'
import { term } from './terms.ts'
import { NONE, interval } from './wording.ts'

const NAMES: Record<Reference, string> = {
  always_half: 'Always 50\u00a0%',
  base_rate: 'The usual share of yes',
  median: 'The median',
  market: 'The market',
}

/** The facts of an entry that decide which references stand above it. */
interface Placed {
  rank: number | null
  pool: string | null
  skill: number | null
}

/** The entries around those of a page, in the order of the board; undefined at its ends. */
export interface Neighbours {
  before?: Placed | undefined
  after?: Placed | undefined
}

/**
 * Puts references among the ranked of one pool that a page shows, each above the first entry with a lower
 * skill. Over all pages of a board each reference comes once.
 */
export function amongReferences<Row extends Placed>(
  entries: readonly Row[],
  references: readonly ReferenceRow[],
  { before, after }: Neighbours,
): (Row | ReferenceRow)[] {
  const { pool } = entries[0]!
  const inPool = (one: Placed | undefined) =>
    one && one.rank !== null && one.pool === pool ? one : undefined
  const [above, below] = [inPool(before), inPool(after)]
  const placed = references
    .filter((row) => row.pool === pool)
    .toSorted((a, b) => b.skill - a.skill)
    .flatMap((row) => {
      const at = entries.findIndex(({ skill }) => skill! < row.skill)
      const isHere = at < 0 ? !below : at > 0 || !above || above.skill! >= row.skill
      return isHere ? [{ row, at: at < 0 ? entries.length : at }] : []
    })
  const aboveAt = (at: number) => placed.filter((one) => one.at === at).map(({ row }) => row)
  return [...entries.flatMap((entry, at) => [...aboveAt(at), entry]), ...aboveAt(entries.length)]
}

interface BoardShape {
  /** The end of its axis. */
  reach: number
  /** Whether its rows have lines over time. */
  isOverTime: boolean
}

/** Shows a reference in the row of a board. */
export function referenceRow(site: Site, row: ReferenceRow, { reach, isOverTime }: BoardShape): Html {
  const { reference, skill, board_interval: bounds } = row
  return html`<tr class="reference"><td class="n place">${NONE}</td><th scope="row" class="name">${NAMES[reference]}<span class="under">${term(site, 'grey-rows', 'for comparison')}</span></th><td class="skill">${boardBar(skill, bounds, reach)}${isOverTime && html`<span class="spark"></span>`}<span class="value">${signed(skill)} <span class="under">${interval(bounds)}</span></span></td><td class="n">${row.contested_questions}</td><td class="n">${NONE}</td><td class="n">${NONE}</td></tr>
`
}

/** Says once what the grey rows are. */
export function aboutReferences(site: Site): Html {
  return html`${term(site, 'grey-rows', 'Grey rows')} take no part and have no place; each stands where its skill does, here or on another page. They are forecasts that anybody could make, and show what a skill is worth.`
}
