// A part of the events of a step, and what finding them takes.
import type { PipelineComponents } from '../components.ts'
import type { NewEvent } from '../../schemas/events.ts'
import type { Database } from '../duckdb.ts'
import type { ChangedTable } from '../tables/changes.ts'
import type { TableVersion } from '../tables/delta.ts'

export type FeedContext = Pick<PipelineComponents, 'store' | 'local'> & { database: Database }
export type KnownTables = Record<ChangedTable, TableVersion>

/** A part of the events of a step, and the place at which the rest begins; null if there is no rest. */
export interface Told {
  events: NewEvent[]
  rest: string | null
}

/** The most questions or entities of one part, which is read and stored as a whole. */
export const MOST_AT_ONCE = 2_000

/** Returns the part that rows tell, of which there is one more where there is a rest. */
export function partOf<Row>(
  rows: readonly Row[],
  placeOf: (row: Row) => string,
  eventsFor: (row: Row) => NewEvent[],
): Told {
  const own = rows.slice(0, MOST_AT_ONCE)
  return { events: own.flatMap(eventsFor), rest: rows.length > own.length ? placeOf(own.at(-1)!) : null }
}
