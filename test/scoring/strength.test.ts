// The passes that fit strengths: the same whole numbers in any order of the pairs, and by another engine.
import { expect, test } from 'vitest'
import { Database } from '../../pipeline/duckdb.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { fitStrengths, standardReference } from '../../pipeline/scoring/strength.ts'
import {
  ENTITIES,
  type FittedRow,
  QUESTIONS,
  columnsOf,
  randomRows,
  voices,
} from '../support/worlds/fitted-rows.ts'
import { testFolder } from '../support/folder.ts'
import { choicesOf } from '../support/faults/seeded.ts'

const fit = (rows: readonly FittedRow[]) => fitStrengths(METHODOLOGY, QUESTIONS, voices, columnsOf(rows))

test('the order of the pairs changes no bit', () => {
  const rows = randomRows()
  const expected = fit(rows)
  expect(new Set(expected.strength).size).toBeGreaterThan(ENTITIES / 2)
  expect(expected.scale).not.toBe(1_000_000)
  const random = choicesOf(8).random
  for (let run = 0; run < 20; run++) {
    const shuffled = rows
      .map((row) => ({ row, place: random() }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ row }) => row)
    expect(fit(shuffled)).toEqual(expected)
  }
})

test('SQL with whole sums gives the same integers after every pass, and the same standard references', async () => {
  const rows = randomRows()
  const { parameters } = METHODOLOGY
  using database = await Database.open({ threads: 2, memoryLimit: '1GB', directory: await testFolder() })
  await database.run(
    'CREATE TABLE pair (question INTEGER, entity INTEGER, w BIGINT, b BIGINT, y BIGINT, voices INTEGER)',
  )
  const values = rows.map(
    (row) => `(${row.question}, ${row.entity}, ${row.weight}, ${row.brier}, ${row.reference}, ${row.voices})`,
  )
  await database.run(`INSERT INTO pair VALUES ${values.join(', ')}`)
  await database.run(
    `CREATE TABLE strength AS SELECT range::INTEGER AS entity, range % 3 <> 0 AS voice, 1000000::BIGINT AS a FROM range(${ENTITIES})`,
  )
  const standards = (scale: bigint) => `
    WITH field AS (
      SELECT question, sum(w)::BIGINT AS u, sum(w * a)::BIGINT AS total
      FROM pair JOIN strength USING (entity) WHERE voice GROUP BY question)
    SELECT entity, question, b,
      round_even(y::DOUBLE * (((u - own) * ${scale})::DOUBLE / (total - own * a)::DOUBLE), 0)::BIGINT AS z
    FROM (SELECT *, CASE WHEN voice THEN w ELSE 0 END AS own FROM pair JOIN strength USING (entity))
      JOIN field USING (question) WHERE voices >= ${parameters.contest_voices}`
  for (let pass = 1; pass <= parameters.strength_passes; pass++) {
    await database.run(
      `CREATE OR REPLACE TEMP TABLE total AS
       SELECT entity, count(*) AS contested, sum(b)::BIGINT AS b, sum(z)::BIGINT AS z FROM (${standards(1_000_000n)}) GROUP BY entity`,
    )
    await database.run(
      `CREATE OR REPLACE TEMP TABLE scale AS
       SELECT round_even(1e6 * list_sort(list(b::DOUBLE / z::DOUBLE))[((count(*) - 1) // 2 + 1)::INTEGER], 0)::BIGINT AS scale
       FROM total JOIN strength USING (entity) WHERE voice AND contested >= ${parameters.eligible_questions} AND z > 0`,
    )
    await database.run(
      `UPDATE strength SET a = fitted FROM (
         SELECT entity, least(greatest(round_even(
           1e6 * ((b + 2500000000)::DOUBLE / (z::DOUBLE * (scale::DOUBLE / 1e6) + 2500000000::DOUBLE)), 0), 50000), 10000000)::BIGINT AS fitted
         FROM total, scale) AS pass WHERE pass.entity = strength.entity`,
    )
    const [{ scale }] = (await database.rows<{ scale: bigint }>('SELECT scale FROM scale')) as [
      { scale: bigint },
    ]
    const strengths = await database.rows<{ a: bigint }>('SELECT a FROM strength ORDER BY entity')
    const method = { ...METHODOLOGY, parameters: { ...parameters, strength_passes: pass } }
    const fitted = fitStrengths(method, QUESTIONS, voices, columnsOf(rows))
    expect(Number(scale), `scale after pass ${pass}`).toBe(fitted.scale)
    expect(strengths.map(({ a }) => Number(a))).toEqual([...fitted.strength])
    if (pass < parameters.strength_passes) continue
    const found = await database.rows<{ entity: number; question: number; z: bigint }>(standards(scale))
    const byPair = new Map(found.map(({ entity, question, z }) => [`${entity} ${question}`, Number(z)]))
    const contested = rows.filter((row) => row.voices >= parameters.contest_voices)
    expect(byPair.size).toBe(contested.length)
    for (const { question, entity, weight, reference } of contested) {
      const own = voices[entity] === 1 ? weight : 0
      const [u, a] = [fitted.weight[question]!, fitted.weighted[question]!]
      const z = standardReference(reference, u, a, own, fitted.strength[entity]!, fitted.scale)
      expect(byPair.get(`${entity} ${question}`)).toBe(z)
    }
  }
})
