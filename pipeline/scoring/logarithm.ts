// The logarithms of all storable probabilities, rounded so that any correct mathematical library gives the
// same bits.

/** A probability of one, in parts per million. */
export const PPM = 1_000_000

/**
 * A table of −ln p as an integer number of 1e-9, with p limited to [floor, 1 − floor] (METHODOLOGY §6). The
 * index is p in parts per million. With a floor of 0.001 the values are 1,000,500..6,907,755,279.
 */
export function negativeLogNano(probabilityFloor: number): Float64Array {
  let table = tables.get(probabilityFloor)
  if (!table) {
    const floor = probabilityFloor * PPM
    table = new Float64Array(PPM + 1)
    for (let ppm = 0; ppm <= PPM; ppm++) {
      const limited = Math.min(Math.max(ppm, floor), PPM - floor)
      table[ppm] = Math.round(-Math.log(limited / PPM) * 1e9)
    }
    tables.set(probabilityFloor, table)
  }
  return table
}

/** Kept, because a million logarithms take some milliseconds and every question needs the same ones. */
const tables = new Map<number, Float64Array>()
