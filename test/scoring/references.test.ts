// The reference forecasts: what holds of them whatever the world. That they are what their definition says is
// tested with whole worlds in world.equivalence.test.ts.
import fc from 'fast-check'
import { parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import { referenceFiles } from '../../pipeline/release/files/references.ts'
import { newColumns } from '../../schemas/columns.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { REFERENCE_COLUMNS, type ReferenceQuestions, baseRates } from '../../pipeline/scoring/references.ts'
import type { ReferencesFile } from '../../schemas/references.ts'
import { randomWorld } from '../support/worlds/random-world.ts'
import { scoreWorld } from '../support/worlds/scored-world.ts'

const shape = fc.record({
  seed: fc.nat(1_000_000),
  people: fc.integer({ min: 6, max: 9 }),
  agents: fc.constant(2),
  owners: fc.constant(1),
  questions: fc.constant(140),
  noise: fc.constantFrom(0.3, 1),
  circles: fc.constantFrom(1, 2),
})
const provenance = {
  methodology_version: '4.0.0',
  release: 1,
  as_of: '2026-01-01T00:00:00.000Z',
  environment: 'production',
} as const

test('a board has each reference once, the same in JSON and in Parquet', async () => {
  let scored = 0
  await fc.assert(
    fc.asyncProperty(shape, async (drawn) => {
      const { references } = scoreWorld(randomWorld(drawn))
      scored += references.length
      const boards = Map.groupBy(
        references,
        ({ entity_type, pool, category }) => `${entity_type} ${pool} ${category}`,
      )
      for (const board of boards.values()) {
        expect(board.map(({ reference }) => reference)).toEqual(['always_half', 'base_rate', 'median'])
        // Whoever says the median gains nothing on it.
        expect(board[2]!.median_skill).toBe(0)
      }
      const [json, parquet] = Array.from(referenceFiles(references, provenance), ({ bytes }) => bytes)
      const file = JSON.parse(Buffer.from(json!).toString()) as ReferencesFile
      expect(file.references).toEqual(references)
      const rows = await parquetReadObjects({ file: new Uint8Array(parquet!).buffer })
      const of = { release: provenance.release, as_of: new Date(provenance.as_of) }
      const flat = references.map(({ board_interval: bounds, ...row }) => {
        return { ...of, ...row, board_lower: bounds?.lower ?? null, board_upper: bounds?.upper ?? null }
      })
      expect(rows).toEqual(flat)
    }),
    { numRuns: 12, seed: 20261128 },
  )
  expect(scored).toBeGreaterThan(20)
})

interface Drawn {
  outcome: number
  category: number
  openedMs: number
  settledMs: number
}

const drawn: fc.Arbitrary<Drawn[]> = fc
  .array(
    fc.record({
      outcome: fc.constantFrom(0, 1),
      category: fc.constantFrom(-1, 0, 1),
      openedMs: fc.nat(20),
      lifeMs: fc.integer({ min: 1, max: 10 }),
    }),
    { maxLength: 60 },
  )
  .map((rows) =>
    rows
      .map(({ lifeMs, ...row }) => ({ ...row, settledMs: row.openedMs + lifeMs }))
      .sort((a, b) => a.settledMs - b.settledMs),
  )

function questionsOf(rows: readonly Drawn[]): ReferenceQuestions {
  const columns = newColumns(REFERENCE_COLUMNS, rows.length)
  for (const [row, { outcome, category, openedMs, settledMs }] of rows.entries()) {
    columns.outcome[row] = outcome
    columns.category[row] = category
    columns.opened_ms[row] = openedMs
    columns.settled_ms[row] = settledMs
  }
  return { rowCount: rows.length, columns }
}

test('a base rate does not know what was settled at the opening or later, nor in other categories', () => {
  fc.assert(
    fc.property(drawn, (rows) => {
      const rates = baseRates(METHODOLOGY, questionsOf(rows))
      for (const [at, { openedMs, category }] of rows.entries()) {
        const others = rows.map((row) =>
          row.settledMs >= openedMs || row.category !== category ? { ...row, outcome: 1 - row.outcome } : row,
        )
        expect(baseRates(METHODOLOGY, questionsOf(others))[at]).toBe(rates[at])
        const known = rows.filter((row) => row.settledMs < openedMs && row.category === category)
        const yes = known.filter(({ outcome }) => outcome === 1).length
        const expected = known.length < 10 ? 0.5 : yes / known.length
        expect(Math.abs(rates[at]! - 1e6 * expected)).toBeLessThanOrEqual(0.5)
      }
    }),
  )
})
