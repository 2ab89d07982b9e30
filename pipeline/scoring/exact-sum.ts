// Exact sums of any number of whole numbers, at nearly the cost of adding doubles.

/** Below this a double holds every whole number and the sum of two of them. */
const LIMIT = 2 ** 52

/** The double nearest to the sum of whole numbers, each of less than 2^52 in magnitude. */
export function exactSum(values: Float64Array | Int32Array): number {
  let low = 0
  let high = 0n
  for (let i = 0; i < values.length; i++) {
    low += values[i]!
    if (low >= LIMIT || low <= -LIMIT) {
      high += BigInt(low)
      low = 0
    }
  }
  return high === 0n ? low : Number(high + BigInt(low))
}

/**
 * Splits a number of less than 2^46 into 26 bits and 20 bits, so that products of these stay below `LIMIT`.
 */
const PART = 2 ** 20

/** Products of numbers below this are summed in parts. */
const SMALL = 2 ** 46

/** The double nearest to the sum of x[i]·y[i]. All must be whole numbers that doubles hold exactly. */
export function exactProductSum(x: Float64Array, y: Float64Array): number {
  return Number(wholeProductSum(x, y))
}

/** The sum itself. */
export function wholeProductSum(x: Float64Array, y: Float64Array): bigint {
  let whole = 0n
  let low = 0
  let middle = 0
  let high = 0
  for (let i = 0; i < x.length; i++) {
    if (Math.abs(x[i]!) >= SMALL || Math.abs(y[i]!) >= SMALL) {
      whole += BigInt(x[i]!) * BigInt(y[i]!)
      continue
    }
    const xHigh = Math.trunc(x[i]! / PART)
    const yHigh = Math.trunc(y[i]! / PART)
    const xLow = x[i]! - xHigh * PART
    const yLow = y[i]! - yHigh * PART
    low += xLow * yLow
    middle += xHigh * yLow + xLow * yHigh
    high += xHigh * yHigh
    if (Math.abs(low) >= LIMIT || Math.abs(middle) >= LIMIT || Math.abs(high) >= LIMIT) {
      whole += joined(low, middle, high)
      low = middle = high = 0
    }
  }
  return whole + joined(low, middle, high)
}

function joined(low: number, middle: number, high: number): bigint {
  return BigInt(low) + (BigInt(middle) << 20n) + (BigInt(high) << 40n)
}
