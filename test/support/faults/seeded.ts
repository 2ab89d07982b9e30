// Random choices that follow from a seed. Each run of faults prints its seed, and FAULT_SEED repeats one.
import { type Random, sfc32 } from '../../../jobs/sandbox/random.ts'

export interface Choices {
  seed: number
  random: Random
  /** A whole number from `least` to `most`, both included. */
  whole: (least: number, most: number) => number
  pick: <T>(values: readonly T[]) => T
  /** True in this share of the calls. */
  chance: (share: number) => boolean
}

/** Streams of one seed are independent, so that a test draws the same whatever others draw. */
export function choicesOf(seed: number, stream = 0): Choices {
  const random = sfc32(seed, stream)
  const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  return {
    seed,
    random,
    whole,
    pick: (values) => values[whole(0, values.length - 1)]!,
    chance: (share) => random() < share,
  }
}

/** The seed in FAULT_SEED, or another one each time. */
export function faultSeed(): number {
  const given = process.env['FAULT_SEED']
  if (given === undefined) return Math.floor(Math.random() * 2 ** 31)
  if (/^\d{1,10}$/.test(given)) return Number(given)
  throw new Error(`FAULT_SEED must be a whole number of at most ten digits, not ${JSON.stringify(given)}`)
}

/** Returns the streams of a suite's storms, only the first FAULT_STORMS of them if that is set. */
export function storms(streams: readonly number[]): readonly number[] {
  const given = process.env['FAULT_STORMS']
  if (given === undefined) return streams
  if (/^[1-9]\d?$/.test(given)) return streams.slice(0, Number(given))
  throw new Error(`FAULT_STORMS must be a whole number from 1 to 99, not ${JSON.stringify(given)}`)
}

/** Prints what a run did as one line of JSON, from which bench/notes/faults.md quotes. */
export function report(name: string, seed: number, counts: object): void {
  console.info(JSON.stringify({ faults: name, seed, ...counts }))
}
