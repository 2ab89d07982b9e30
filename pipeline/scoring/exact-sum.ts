// Sums of whole numbers that are exact however many there are, at nearly the cost of adding doubles.

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

/** Splits a number of less than 2^46 into 26 bits and 20 bits, so that products of these stay below `LIMIT`. */
const PART = 2 ** 20

/** The double nearest to the sum of x[i]·y[i], of whole numbers of less than 2^46 in magnitude. */
export function exactProductSum(x: Float64Array, y: Float64Array): number {
  const parts = [0, 0, 0] as [number, number, number]
  let whole = 0n
  const carry = () => {
    whole += BigInt(parts[0]) + (BigInt(parts[1]) << 20n) + (BigInt(parts[2]) << 40n)
    parts.fill(0)
  }
  for (let i = 0; i < x.length; i++) {
    const xHigh = Math.trunc(x[i]! / PART)
    const yHigh = Math.trunc(y[i]! / PART)
    const xLow = x[i]! - xHigh * PART
    const yLow = y[i]! - yHigh * PART
    parts[0] += xLow * yLow
    parts[1] += xHigh * yLow + xLow * yHigh
    parts[2] += xHigh * yHigh
    if (Math.abs(parts[0]) >= LIMIT || Math.abs(parts[1]) >= LIMIT || Math.abs(parts[2]) >= LIMIT) carry()
  }
  carry()
  return Number(whole)
}
