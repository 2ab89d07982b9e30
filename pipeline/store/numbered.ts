// Objects that are numbered from 1 without a gap, and never replaced.
import type { Store } from './store.ts'

/**
 * Returns the greatest number with an object; 0 without any. If n objects follow the `known` one, the search
 * makes about 2 log₂ n requests.
 */
export async function lastNumbered(
  store: Pick<Store, 'range'>,
  pathOf: (number: number) => string,
  known = 0,
): Promise<number> {
  const isThere = async (number: number) => (await store.range(pathOf(number), 0, 1)) !== undefined
  let last = known
  let step = 1
  while (await isThere(last + step)) {
    last += step
    step *= 2
  }
  for (step = Math.floor(step / 2); step >= 1; step = Math.floor(step / 2)) {
    if (await isThere(last + step)) last += step
  }
  return last
}
