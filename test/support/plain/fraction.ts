// Exact fractions of whole numbers, in which the plain scorer integrates what becomes whole numbers.

/** `over` / `under`, with `under` > 0. Not always in lowest terms. */
export interface Fraction {
  over: bigint
  under: bigint
}

/** Adds up fractions with few different denominators. */
export class FractionSum {
  readonly #over = new Map<bigint, bigint>()

  add(over: bigint, under: bigint): void {
    this.#over.set(under, (this.#over.get(under) ?? 0n) + over)
  }

  total(): Fraction {
    let sum: Fraction = { over: 0n, under: 1n }
    for (const [under, over] of this.#over) {
      sum = { over: sum.over * under + over * sum.under, under: sum.under * under }
    }
    return sum
  }
}

/**
 * How many units there are in the fraction, `perOne` in one, rounded half to even. For fractions that are not
 * negative.
 */
export function wholeUnits({ over, under }: Fraction, perOne: bigint): bigint {
  const scaled = over * perOne
  const floor = scaled / under
  const twice = 2n * (scaled % under)
  if (twice === under) return floor % 2n === 0n ? floor : floor + 1n
  return twice > under ? floor + 1n : floor
}
