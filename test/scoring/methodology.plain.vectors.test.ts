// Worked values of the method, made by an independent program (shared/vectors/methodology-2.0.0.json), against the plain
// scorer: eight worlds, the multiplier of the interval, and ranks.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { standingPlainly } from '../support/plain/ranking.ts'
import { multiplier } from '../support/plain/skill.ts'
import { type PlainEntityScores, type PlainWorld, scoreWorldPlainly } from '../support/plain/world.ts'

type PairValues = Record<
  'coverage' | 'brier' | 'reference_brier' | 'crowd_brier' | 'voices' | 'contested',
  number | boolean
>

interface Vectors {
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
        pairs: Record<string, PairValues>
        entities: Record<string, Partial<PlainEntityScores>>
        scale: number
        voice_rule: string
      }
    }
  >
}

const FILE = fileURLToPath(new URL('../../../shared/vectors/methodology-2.0.0.json', import.meta.url))
const there = existsSync(FILE)
if (!there && process.env['CI'] === 'true') throw new Error(`no worked values in ${FILE}`)
if (!there) console.warn('skipped: worked values of the method need ../shared/vectors/methodology-2.0.0.json')
const vectors = there ? (JSON.parse(readFileSync(FILE, 'utf8')) as Vectors) : undefined

describe.skipIf(!there)('the plain scorer', () => {
  test.each(Object.keys(vectors?.worlds ?? {}))('scores the world %s', (name) => {
    const { world, expected } = vectors!.worlds[name]!
    const scores = scoreWorldPlainly(world)
    expect({ scale: scores.scale, voice_rule: scores.voice_rule }).toEqual({
      scale: expected.scale,
      voice_rule: expected.voice_rule,
    })
    expect([...scores.pairs.keys()].sort()).toEqual(Object.keys(expected.pairs).sort())
    for (const [key, values] of Object.entries(expected.pairs)) {
      const pair = scores.pairs.get(key)!
      for (const [column, value] of Object.entries(values)) {
        const measured = pair[column as keyof PairValues]
        if (typeof value === 'boolean') expect(measured, `${column} of ${key}`).toBe(value)
        else {
          const difference = Math.abs(Number(measured) - value)
          expect(difference, `${column} of ${key}`).toBeLessThanOrEqual(vectors!.tolerance)
        }
      }
    }
    expect([...scores.entities.keys()].sort()).toEqual(Object.keys(expected.entities).sort())
    for (const [id, values] of Object.entries(expected.entities)) {
      const { metrics: _, ...measured } = scores.entities.get(id)!
      expect(measured, id).toEqual(values)
    }
  })

  test.each(vectors?.units.multiplier ?? [])(
    'multiplies the error of $clusters clusters at $alpha by $expected',
    ({ clusters, alpha, expected }) => {
      expect(multiplier(clusters, alpha)).toBe(expected)
    },
  )

  test.each(vectors?.units.ranks ?? [])(
    'ranks $skill among $voices (itself among them: $counted)',
    ({ voices, skill, lower, upper, counted, expected }) => {
      const field = counted ? voices : [...voices, skill]
      const standing = standingPlainly(field, skill, { lower, upper })
      expect([
        standing.rank,
        standing.rank_interval.lower,
        standing.rank_interval.upper,
        standing.percentile,
        standing.percentile_interval.lower,
        standing.percentile_interval.upper,
      ]).toEqual(expected)
    },
  )
})
