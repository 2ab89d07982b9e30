// Tails of the binomial distribution, exact but for rounding.

/** The probability of at most `count` of `n` independent events, each of the probability p. */
export function atMost(count: number, n: number, p: number): number {
  if (count >= n) return 1
  if (p <= 0) return 1
  if (p >= 1) return 0
  const odds = Math.log(p) - Math.log1p(-p)
  let logarithm = n * Math.log1p(-p)
  let sum = Math.exp(logarithm)
  for (let k = 1; k <= count; k++) {
    logarithm += Math.log((n - k + 1) / k) + odds
    sum += Math.exp(logarithm)
  }
  return Math.min(1, sum)
}

/** The probability of at least `count` of `n` independent events, each of the probability p. */
export function atLeast(count: number, n: number, p: number): number {
  return atMost(n - count, n, 1 - p)
}
