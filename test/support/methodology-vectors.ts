// The worked values of the method 2.0.0, made by an independent program from the formulas alone.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { PlainEntityScores, PlainWorld } from './plain/world.ts'
import { scoreWorldPlainly } from './plain/world.ts'
import { scoreWorld } from './worlds/scored-world.ts'

type PairValues = Record<
  'coverage' | 'brier' | 'reference_brier' | 'crowd_brier' | 'voices' | 'contested',
  number | boolean
>

export interface MethodologyVectors {
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

/**
 * `file` is the path of the vectors; the small worlds are in test/vectors, all of them beside the repository.
 */
export function readVectors(file: URL): MethodologyVectors {
  return JSON.parse(readFileSync(file, 'utf8')) as MethodologyVectors
}

export const SMALL_VECTORS = new URL('../vectors/methodology-2.0.0.json', import.meta.url)

/** One test for each kind of value in each world, by the steps of the service. */
export function testWorlds({ worlds, tolerance }: MethodologyVectors): void {
  describe.each(Object.entries(worlds))('the world %s', (_, { world, expected }) => {
    const scored = scoreWorld(world)

    test('its voice rule and scale', () => {
      expect([scored.voiceRule, scored.scale]).toEqual([expected.voice_rule, expected.scale])
    })

    test('every pair', () => {
      const off = scored.pairs.flatMap((pair) => {
        const own = expected.pairs[`${pair.entity}|${pair.question}`]
        if (!own) return [`${pair.entity} ${pair.question} is not expected`]
        return Object.entries(own).flatMap(([column, value]) => {
          const got =
            column === 'contested'
              ? pair.standard >= 0
              : column === 'voices'
                ? pair.voices
                : pair[column as 'coverage'] / 1e12
          const isEqual =
            typeof value === 'number' ? Math.abs(Number(got) - value) <= tolerance : got === value
          return isEqual ? [] : [`${pair.entity} ${pair.question} ${column}: ${got}, not ${String(value)}`]
        })
      })
      expect(off).toEqual([])
      expect(scored.pairs).toHaveLength(Object.keys(expected.pairs).length)
    })

    test('every entity', () => {
      const got = scored.entities.map(({ entityId, metrics, award }) => {
        const names = Object.keys(expected.entities[entityId]!)
        const values = { ...metrics, ...award } as Record<string, unknown>
        return [entityId, Object.fromEntries(names.map((column) => [column, values[column]]))]
      })
      expect(Object.fromEntries(got)).toEqual(expected.entities)
    })
  })
}

/** One test for each world, by the plain scorer. */
export function testWorldsPlainly({ worlds, tolerance }: MethodologyVectors): void {
  test.each(Object.entries(worlds))('scores the world %s', (_, { world, expected }) => {
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
          expect(difference, `${column} of ${key}`).toBeLessThanOrEqual(tolerance)
        }
      }
    }
    expect([...scores.entities.keys()].sort()).toEqual(Object.keys(expected.entities).sort())
    for (const [id, values] of Object.entries(expected.entities)) {
      const { metrics: _metrics, ...measured } = scores.entities.get(id)!
      expect(measured, id).toEqual(values)
    }
  })
}
