// The last forecasts on a settled question: their crowd, the closest and the farthest.
import type { Block, ColumnKinds } from '../../schemas/columns.ts'
import { PPM } from './logarithm.ts'
import { roundHalfEven } from './round.ts'

/** Bins of the histogram. Each holds its lower end, and the last one also 1. */
const BINS = 20
/** At most this many are named at each end. */
const NAMED = 5

/**
 * Grain: one row per entity that took part in one question, in order of entity. `ppm` is its last forecast in
 * parts per million, −1 where it was withdrawn; `coverage` is as in a pair; `voice` and `listed` are flags.
 */
export const LAST_COLUMNS = {
  question: 'int32',
  entity: 'int32',
  ppm: 'int32',
  coverage: 'double',
  voice: 'int32',
  listed: 'int32',
} as const satisfies ColumnKinds
export type LastForecasts = Block<typeof LAST_COLUMNS>

export interface Crowd {
  /** The voices whose forecasts stood at the end. */
  voices: number
  /** Their average in parts per million, rounded half to even. */
  averagePpm: number
  /**
   * The last forecast of the middle voice in order of error; of two middle ones, that with the lesser error.
   * So at least half of the voices forecast this or more for yes, or this or less for no.
   */
  middlePpm: number
  /** How many of these forecasts lie in each bin. */
  counts: number[]
}

/** Returns undefined if no voice's forecast stood at the end. */
export function crowdOf({ rowCount, columns }: LastForecasts, outcome: 0 | 1): Crowd | undefined {
  const standing: number[] = []
  for (let row = 0; row < rowCount; row++) {
    if (columns.voice[row] === 1 && columns.ppm[row]! >= 0) standing.push(columns.ppm[row]!)
  }
  const voices = standing.length
  if (voices === 0) return undefined
  const counts = Array.from({ length: BINS }, () => 0)
  for (const ppm of standing) counts[Math.min(BINS - 1, Math.floor((ppm * BINS) / PPM))]! += 1
  const averagePpm = roundHalfEven(standing.reduce((sum, ppm) => sum + ppm, 0) / voices)
  standing.sort((a, b) => (outcome === 1 ? b - a : a - b))
  return { voices, averagePpm, middlePpm: standing[(voices - 1) >> 1]!, counts }
}

/** The error of a probability in parts per million. */
export function errorOf(ppm: number, outcome: 0 | 1): number {
  return outcome === 1 ? PPM - ppm : ppm
}

export interface Ends {
  /**
   * Rows, the closest to the outcome first. Of equals, the one whose forecasts covered more time comes first.
   */
  closest: number[]
  /** Rows, the farthest first. Of equals, the one with more covered time comes first too. */
  farthest: number[]
}

/** Finds the closest and the farthest entities that may be named. None is in both lists. */
export function endsOf({ rowCount, columns }: LastForecasts, outcome: 0 | 1): Ends {
  const rows: number[] = []
  for (let row = 0; row < rowCount; row++) {
    if (columns.listed[row] === 1 && columns.ppm[row]! >= 0) rows.push(row)
  }
  const error = (row: number) => errorOf(columns.ppm[row]!, outcome)
  const longer = (a: number, b: number) => columns.coverage[b]! - columns.coverage[a]! || a - b
  const near = rows.toSorted((a, b) => error(a) - error(b) || longer(a, b))
  const closest = near.slice(0, Math.min(NAMED, Math.ceil(rows.length / 2)))
  const farthest = near
    .slice(closest.length)
    .sort((a, b) => error(b) - error(a) || longer(a, b))
    .slice(0, NAMED)
  return { closest, farthest }
}
