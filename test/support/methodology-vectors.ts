// The worked values of METHODOLOGY 2.0.0 that an independent program made (shared/vectors/methodology-2.0.0.json). Where they are
// missing, CI fails, and elsewhere the tests that need them are skipped with a message.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PlainEntityScores, PlainWorld } from './plain/world.ts'

export type PairValues = Record<
  'coverage' | 'brier' | 'reference_brier' | 'crowd_brier' | 'voices' | 'contested',
  number | boolean
>

interface Vectors {
  parameters: Record<string, number>
  tolerance: number
  units: {
    multiplier: { clusters: number; alpha: number; expected: number }[]
    ranks: {
      voices: number[]
      skill: number
      lower: number
      upper: number
      /** Whether the entity is one of the voices. */
      counted: boolean
      /** Rank, its interval, percentile, its interval. */
      expected: number[]
    }[]
  }
  worlds: Record<
    string,
    {
      world: PlainWorld
      expected: {
        /** By `entity|question`. */
        pairs: Record<string, PairValues>
        entities: Record<string, Partial<PlainEntityScores>>
        scale: number
        voice_rule: string
      }
    }
  >
}

const FILE = fileURLToPath(new URL('../../../shared/vectors/methodology-2.0.0.json', import.meta.url))
export const areVectorsThere = existsSync(FILE)
if (!areVectorsThere && process.env['CI'] === 'true') throw new Error(`no worked values in ${FILE}`)
if (!areVectorsThere)
  console.warn('skipped: worked values of the method need ../shared/vectors/methodology-2.0.0.json')

export const vectors: Vectors = areVectorsThere
  ? (JSON.parse(readFileSync(FILE, 'utf8')) as Vectors)
  : { parameters: {}, tolerance: 0, units: { multiplier: [], ranks: [] }, worlds: {} }
