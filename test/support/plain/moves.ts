// How an entity's forecasts on one question moved (METHODOLOGY §5).
import { sum } from './rounding.ts'

export interface PlainMoves {
  updates: number
  /** In parts per million. */
  moved: number
  /** In parts per million. */
  toward: number
  /** The index of Griffiths et al. 2019; null with fewer than three forecasts. */
  flip_flop: number | null
}

/** `ppm` holds the forecasts that count, in order; a withdrawal between two of them changes nothing. */
export function movesOf(ppm: readonly number[], outcome: 0 | 1): PlainMoves {
  const moves = ppm.slice(1).map((value, i) => value - ppm[i]!)
  const moved = sum(moves.map(Math.abs))
  const range = Math.max(...ppm) - Math.min(...ppm)
  return {
    updates: moves.length,
    moved,
    toward: sum(moves.filter((move) => (outcome === 1 ? move > 0 : move < 0)).map(Math.abs)),
    flip_flop: ppm.length < 3 ? null : (moved - range) / 1e6 / (ppm.length - 2),
  }
}
