// Finds a release by halving the numbers.

/**
 * Returns the last number from 1 up to `last` for which `holds`; 0 if there is none. It must hold for all
 * numbers up to that one, and for none after.
 */
export async function lastWhere(last: number, holds: (number: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, last]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (await holds(middle)) low = middle
    else high = middle - 1
  }
  return low
}
