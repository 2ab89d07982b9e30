// Random numbers for simulations. They follow from a seed and are the same on every machine.

export type Random = () => number

/**
 * sfc32 of Chris Doty-Humphrey's PractRand (2010): uniform in [0, 1), one sequence for each pair of numbers.
 */
export function sfc32(seed: number, stream = 0): Random {
  let [a, b, c, counter] = [0, seed | 0, stream | 0, 1]
  const next = () => {
    const sum = (a + b + counter++) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  for (let i = 0; i < 15; i++) next()
  return next
}

/** Returns a standard normal number (Box & Muller 1958, doi:10.1214/aoms/1177706645). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

export function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds))
}
