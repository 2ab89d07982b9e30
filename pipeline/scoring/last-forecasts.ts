// The last forecasts on a settled question: the crowd that they make, the closest and the farthest of them.
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
   * The last forecast of the middle one, in order of error; of two, the one with the lesser error. So at
   * least half said as much or more if the outcome is yes, and as much or less if it is no.
   */
  middlePpm: number
  /** How many of them said something in each bin. */
  counts: number[]
}

/** Undefined where no forecast of a voice stood at the end. */
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
  /** Rows, the closest to the outcome first; of equals the one whose forecasts covered more time first. */
  closest: number[]
  /** Rows, the farthest first; of equals the same one first. */
  farthest: number[]
}

/** Finds the closest and the farthest among those that may be named, so that none is in both. */
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
