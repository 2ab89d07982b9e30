// Finds a release among all by halves.

/**
 * Returns the last of the numbers from 1 up to `last` that something holds of; 0 if there is none. It must
 * hold of all numbers up to one, and of none after.
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
