/**
 * The length of the beginning of a sorted list whose members all hold; none after it does. Found by halving.
 */
export function countWhile(sorted: Float64Array, holds: (value: number) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(sorted[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
