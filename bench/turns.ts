// Measures parties by turns, because the machine changes its pace: what stands side by side was measured side
// by side.
import { median } from './spread.ts'

export interface Spread {
  least: number
  middle: number
  most: number
}

/** Measures every party once in each turn; who goes first changes from turn to turn. */
export async function byTurns<Name extends string, T>(
  parties: Record<Name, () => Promise<T>>,
  turns: number,
): Promise<Record<Name, T>[]> {
  const names = Object.keys(parties) as Name[]
  const all: Record<Name, T>[] = []
  for (let turn = 0; turn < turns; turn++) {
    const first = turn % names.length
    const measured: Partial<Record<Name, T>> = {}
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      measured[name] = await parties[name]()
    }
    all.push(measured as Record<Name, T>)
  }
  return all
}

/** The least, the median and the most. */
export function spread(all: readonly number[]): Spread {
  return { least: Math.min(...all), middle: median(all), most: Math.max(...all) }
}
