// The worked values of METHODOLOGY 4.0.0, made by an independent program from the text alone, against the plain
// scorer and the service's own steps.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type PairValues, type World, scoreWorld as scorePlainly } from '../support/plain/world.ts'
import { scoreWorld, valuesOf } from '../support/worlds/scored-world.ts'

type Value = number | string | boolean | null

interface Vectors {
  tolerance: number
  pair_columns: string[]
  worlds: Record<
    string,
    {
      world: World
      expected: {
        voice_rule: string
        voices: string[]
        /** By `entity|question`, in the order of `pair_columns`. */
        pairs: Record<string, Value[]>
        entities: Record<string, object>
        /** By `kind|pool|category|reference`. */
        references: Record<string, object>
      }
    }
  >
}

const file = new URL('../vectors/methodology-4.0.0.json', import.meta.url)
const { worlds, pair_columns, tolerance } = JSON.parse(readFileSync(file, 'utf8')) as Vectors

describe.each(Object.entries(worlds))('the world %s by the plain scorer', (_, { world, expected }) => {
  const scores = scorePlainly(world)

  test('its voices', () => {
    expect(scores.voice_rule).toBe(expected.voice_rule)
    expect(scores.voices.toSorted()).toEqual(expected.voices.toSorted())
  })

  test('every pair', () => {
    expect(unlike(scores.pairs, expected.pairs)).toEqual([])
  })

  test('every entity', () => {
    expect([...scores.entities.keys()].sort()).toEqual(Object.keys(expected.entities).sort())
    for (const [id, values] of Object.entries(expected.entities)) {
      expect(scores.entities.get(id), id).toMatchObject(values)
    }
  })

  test('every reference', () => {
    expect(Object.fromEntries(scores.references)).toEqual(expected.references)
  })
})

describe.each(Object.entries(worlds))('the world %s by the service', (_, { world, expected }) => {
  const scored = scoreWorld(world)

  test('its voices', () => {
    expect(scored.voiceRule).toBe(expected.voice_rule)
    const voices = scored.entities.filter(({ metrics }) => metrics.voice).map(({ entityId }) => entityId)
    expect(voices.sort()).toEqual(expected.voices.toSorted())
  })

  test('every pair', () => {
    const pairs = scored.pairs.map((pair) => [`${pair.entity}|${pair.question}`, valuesOf(pair)] as const)
    expect(unlike(new Map(pairs), expected.pairs)).toEqual([])
  })

  test('every entity', () => {
    expect(scored.entities.map(({ entityId }) => entityId).sort()).toEqual(
      Object.keys(expected.entities).sort(),
    )
    for (const { entityId, metrics, award } of scored.entities) {
      const wanted = expected.entities[entityId]! as Record<string, unknown>
      const published = Object.entries(wanted).filter(([name]) => name in metrics && name !== 'calibration')
      expect(published.length).toBeGreaterThan(30)
      expect(metrics, entityId).toMatchObject(Object.fromEntries(published))
      expect(Object.values(award), entityId).toEqual([wanted['certification'] ?? wanted['badge']])
    }
  })

  test('every reference', () => {
    const inCategories = scored.references.filter(({ category }) => category !== null)
    const found = inCategories.map(
      ({ entity_type, pool, category, reference, board_interval, ...numbers }) => [
        `${entity_type}|${pool}|${category}|${WORDS[reference]}`,
        { ...numbers, skill_interval: board_interval && { ...board_interval, level: 0.95 } },
      ],
    )
    expect(Object.fromEntries(found)).toEqual(expected.references)
  })
})

const WORDS = { always_half: 'half', base_rate: 'base_rate', median: 'middle', market: 'market' }

/** The columns that the file has to twelve decimals. */
const FRACTIONS = ['coverage', 'brier', 'log_score', 'baseline_score', 'peer_score', 'judged_coverage']

/** The values of pairs that are not the expected ones, in words. */
function unlike(pairs: ReadonlyMap<string, PairValues>, expected: Record<string, Value[]>): string[] {
  const isSame = (column: string, got: Value | undefined, wanted: Value): boolean =>
    FRACTIONS.includes(column) ? Math.abs(Number(got) - Number(wanted)) <= tolerance : got === wanted
  const more = [...pairs.keys()].filter((name) => !(name in expected)).map((name) => `${name} is no pair`)
  return [
    ...more,
    ...Object.entries(expected).flatMap(([name, values]) => {
      const pair = pairs.get(name)
      if (!pair) return [`${name} is missing`]
      return pair_columns.flatMap((column, i) =>
        isSame(column, pair[column], values[i]!)
          ? []
          : [`${name} ${column}: ${String(pair[column])}, not ${String(values[i])}`],
      )
    }),
  ]
}
