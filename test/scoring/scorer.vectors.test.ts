// The worked values of METHODOLOGY 4.0.0, made by an independent program from the text alone, against the
// plain scorer.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type World, scoreWorld } from '../support/scorer/world.ts'

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

describe.each(Object.entries(worlds))('the world %s', (_, { world, expected }) => {
  const scores = scoreWorld(world)

  test('its voices', () => {
    expect(scores.voice_rule).toBe(expected.voice_rule)
    expect(scores.voices.toSorted()).toEqual(expected.voices.toSorted())
  })

  test('every pair', () => {
    expect([...scores.pairs.keys()].sort()).toEqual(Object.keys(expected.pairs).sort())
    const unlike = Object.entries(expected.pairs).flatMap(([name, values]) =>
      pair_columns.flatMap((column, i) => {
        const [got, wanted] = [scores.pairs.get(name)![column], values[i]!]
        return isSame(column, got, wanted) ? [] : [`${name} ${column}: ${String(got)}, not ${String(wanted)}`]
      }),
    )
    expect(unlike).toEqual([])
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

/** The columns that the file has to twelve decimals. */
const FRACTIONS = ['coverage', 'brier', 'log_score', 'baseline_score', 'peer_score', 'judged_coverage']

function isSame(column: string, got: Value | undefined, wanted: Value): boolean {
  if (!FRACTIONS.includes(column)) return got === wanted
  return Math.abs(Number(got) - Number(wanted)) <= tolerance
}
