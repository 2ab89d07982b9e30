// The logarithm of every probability that can be held, rounded so that any correct library gives the same bits.
import { PARAMETERS } from './methodology.ts'

/** Parts per million in a probability of one. */
export const PPM = 1_000_000

/**
 * −ln of a probability given in parts per million, limited to [0.001, 0.999], as a whole number of
 * 1e-9 (METHODOLOGY §6.1). Index 0..1,000,000; values 1,000,500..6,907,755,279.
 */
export const NEGATIVE_LOG_NANO: Float64Array = Float64Array.from({ length: PPM + 1 }, (_, ppm) => {
  const floor = PARAMETERS.log_probability_floor * PPM
  const limited = Math.min(Math.max(ppm, floor), PPM - floor)
  return Math.round(-Math.log(limited / PPM) * 1e9)
})
