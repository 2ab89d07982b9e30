/**
 * Counts the members at the beginning of a sorted list for which `holds`, by halving. After the first member
 * for which it does not, it must hold for none.
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
