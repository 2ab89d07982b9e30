// The values of one pair under the names of the worked values, for comparison: whole numbers as numbers.
import type { Gains } from './gains.ts'
import type { WholePair } from './strength.ts'

export type PlainPairValues = ReturnType<typeof pairValues>

/** `gains` is null where the pair is not contested. The unit of whole numbers is 1e-9, of `w` 1e-4. */
export function pairValues({ pair, cluster, w, B, Y, K, other }: WholePair, gains: Gains | null) {
  const { entity: _entity, pico: _pico, other_pico: _other, ...scores } = pair
  const orNull = (value: bigint | undefined): number | null => (value === undefined ? null : Number(value))
  return {
    ...scores,
    settled_at_ms: pair.settled ? pair.settled_at_ms : null,
    cluster,
    w: Number(w),
    B: Number(B),
    Y: Number(Y),
    K: Number(K),
    "B'": Number(other.B),
    "Y'": Number(other.Y),
    "K'": Number(other.K),
    Z: orNull(gains?.standard.reference),
    "Z'": orNull(gains?.standard.otherReference),
    X: orNull(gains?.standard.gain),
    "X'": orNull(gains?.standard.otherGain),
    f: orNull(gains?.standard.spread),
    strict_f: orNull(gains?.strict.spread),
    crowd_f: orNull(gains?.crowd.spread),
  }
}
