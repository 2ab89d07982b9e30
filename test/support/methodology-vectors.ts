// The worked values of the method 3.0.0, made by an independent program from the formulas alone, against both
// scorers.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { PlainEntityScores } from './plain/entity-scores.ts'
import type { PlainPairValues } from './plain/pair-values.ts'
import { type PlainPool, type PlainWorld, scoreWorldPlainly } from './plain/world.ts'
import { scoreWorld, valuesOf } from './worlds/scored-world.ts'

interface Vectors {
  parameters: Record<string, number>
  tolerance: number
  worlds: Record<
    string,
    {
      world: PlainWorld
      expected: {
        voice_rule: string
        /** By name. */
        pools: Record<string, PlainPool>
        /** By `entity|question`. */
        pairs: Record<string, Partial<PlainPairValues>>
        entities: Record<string, Partial<PlainEntityScores>>
      }
    }
  >
}

/**
 * `file` is the path of the vectors; the small worlds are in test/vectors, all of them beside the repository. The
 * independent program ranked all who are eligible, so that its worlds are read as if nobody had retired.
 */
export function readVectors(file: URL): Vectors {
  const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vectors
  for (const { world } of Object.values(vectors.worlds)) {
    world.entities = world.entities.map((entity) => ({ ...entity, retired_at_ms: null }))
  }
  return vectors
}

export const SMALL_VECTORS = new URL('../vectors/methodology-3.0.0.json', import.meta.url)

/** The values of a pair that are no whole numbers; the file has them to twelve decimals. */
const FRACTIONS = new Set(['coverage', 'brier', 'reference_brier', 'crowd_brier', 'conviction'])

/**
 * The mean of these convictions is 0.2613905. §7.5 rounds it in doubles, in which x·10⁶ is a little more than
 * 261390.5; the independent program rounded the fraction to the even number, 0.26139.
 */
const TIES: Record<string, Partial<PlainEntityScores>> = { 'witnessed|f0': { conviction: 0.261391 } }

/** One test for each kind of value in each world, by the plain scorer. */
export function testWorldsPlainly({ worlds, tolerance }: Vectors): void {
  describe.each(Object.entries(worlds))('the world %s', (name, { world, expected }) => {
    const scores = scoreWorldPlainly(world)

    test('its voice rule and pools', () => {
      expect(scores.voice_rule).toBe(expected.voice_rule)
      expect(Object.fromEntries(scores.pools)).toEqual(expected.pools)
    })

    test('every pair', () => {
      expect(unlike(scores.pairs, expected.pairs, tolerance)).toEqual([])
      expect(scores.pairs.size).toBe(Object.keys(expected.pairs).length)
    })

    test('every entity', () => {
      // The independent program counts no outcomes that a skill hangs on.
      const got = [...scores.entities].map(
        ([entity, { id: _id, metrics: _metrics, fragility: _fragility, ...published }]) => [
          entity,
          published,
        ],
      )
      const wanted = Object.entries(expected.entities).map(([entity, values]) => [
        entity,
        { ...values, ...TIES[`${name}|${entity}`] },
      ])
      expect(Object.fromEntries(got)).toEqual(Object.fromEntries(wanted))
    })
  })
}

/** The same by the steps of the service. */
export function testWorlds({ worlds, tolerance }: Vectors): void {
  describe.each(Object.entries(worlds))('the world %s', (name, { world, expected }) => {
    const scored = scoreWorld(world)

    test('its voice rule and scales', () => {
      expect(scored.voiceRule).toBe(expected.voice_rule)
      const scales = Object.entries(expected.pools).map(([pool, { scale }]) => [pool, scale])
      expect(Object.fromEntries(scored.scales)).toEqual(Object.fromEntries(scales))
    })

    test('every pair', () => {
      const pairs = new Map(scored.pairs.map((pair) => [`${pair.entity}|${pair.question}`, valuesOf(pair)]))
      expect(unlike(pairs, expected.pairs, tolerance)).toEqual([])
      expect(pairs.size).toBe(Object.keys(expected.pairs).length)
    })

    test('every entity', () => {
      for (const { entityId, entityType, metrics, award } of scored.entities) {
        const { n, n_c, kind, ...values } = {
          ...expected.entities[entityId]!,
          ...TIES[`${name}|${entityId}`],
        }
        const published = Object.entries(values).filter(([metric]) => metric in metrics)
        expect([entityType, metrics.resolved_questions, metrics.contested_questions]).toEqual([kind, n, n_c])
        expect(metrics, entityId).toMatchObject(Object.fromEntries(published))
        const { certification, badge } = values
        expect(award, entityId).toEqual(entityType === 'agent' ? { certification } : { badge })
      }
    })
  })
}

/** The values of pairs that are not the expected ones, in words. */
function unlike(
  pairs: ReadonlyMap<string, Partial<PlainPairValues>>,
  expected: Record<string, Partial<PlainPairValues>>,
  tolerance: number,
): string[] {
  const isSame = (column: string, got: unknown, value: unknown): boolean =>
    FRACTIONS.has(column) ? Math.abs(Number(got) - Number(value)) <= tolerance : got === value
  return Object.entries(expected).flatMap(([key, values]) => {
    const pair = pairs.get(key)
    if (!pair) return [`${key} is missing`]
    return Object.entries(values).flatMap(([column, value]) => {
      const got = pair[column as keyof PlainPairValues]
      return isSame(column, got, value) ? [] : [`${key} ${column}: ${String(got)}, not ${String(value)}`]
    })
  })
}
