// The logarithm of every probability that can be held, rounded so that any correct library gives the same bits.

/** Parts per million in a probability of one. */
export const PPM = 1_000_000

/**
 * −ln of a probability given in parts per million, limited to [floor, 1 − floor], as a whole number of
 * 1e-9 (METHODOLOGY §6.1). Index 0..1,000,000; with a floor of 0.001 the values are 1,000,500..6,907,755,279.
 */
export function negativeLogNano(probabilityFloor: number): Float64Array {
  let table = tables.get(probabilityFloor)
  if (!table) {
    const floor = probabilityFloor * PPM
    table = Float64Array.from({ length: PPM + 1 }, (_, ppm) => {
      const limited = Math.min(Math.max(ppm, floor), PPM - floor)
      return Math.round(-Math.log(limited / PPM) * 1e9)
    })
    tables.set(probabilityFloor, table)
  }
  return table
}

/** A million logarithms take some milliseconds, and every question needs the same ones. */
const tables = new Map<number, Float64Array>()
