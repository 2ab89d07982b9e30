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
  entities,
  randomRows,
} from '../support/worlds/fitted-rows.ts'
import { testFolder } from '../support/folder.ts'
import { choicesOf } from '../support/faults/seeded.ts'

const fit = (rows: readonly FittedRow[]) => fitStrengths(METHODOLOGY, QUESTIONS, entities, columnsOf(rows))

test('the order of the pairs changes no bit', () => {
  const rows = randomRows()
  const expected = fit(rows)
  expect(new Set(expected.strength).size).toBeGreaterThan(ENTITIES / 2)
  expect(expected.scales.length).toBe(2)
  expect(expected.scales).not.toContain(1_000_000)
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
    'CREATE TABLE pair (question INTEGER, entity INTEGER, w BIGINT, v BIGINT, b BIGINT, y BIGINT, contested BOOLEAN)',
  )
  const values = rows.map(
    ({ question, entity, weight, own_weight, brier, reference, contested }) =>
      `(${question}, ${entity}, ${weight}, ${own_weight}, ${brier}, ${reference}, ${contested === 1})`,
  )
  await database.run(`INSERT INTO pair VALUES ${values.join(', ')}`)
  const { ofEntity, ofQuestion, names } = fit(rows).pools
  const own = Array.from(
    ofEntity,
    (pool, entity) => `(${entity}, ${entities.voices[entity]!}, ${pool}, 1000000::BIGINT)`,
  )
  await database.run(
    `CREATE TABLE strength AS FROM (VALUES ${own.join(', ')}) AS strength(entity, own_voice, pool, a)`,
  )
  await database.run(
    `CREATE TABLE asked AS FROM (VALUES ${Array.from(ofQuestion, (pool, question) => `(${question}, ${pool})`).join(', ')})
       AS asked(question, pool)`,
  )
  /** `scale` is an expression over the question's pool. */
  const standards = (scale: string) => `
    WITH field AS (
      SELECT question, sum(w)::BIGINT AS u, sum(w * a)::BIGINT AS total
      FROM pair JOIN strength USING (entity) WHERE own_voice = entity GROUP BY question)
    SELECT pair.entity, question, b,
      round_even(y::DOUBLE * (((u - v) * ${scale})::DOUBLE / (total - v * coalesce(own.a, 0))::DOUBLE), 0)::BIGINT AS z
    FROM pair JOIN strength USING (entity) LEFT JOIN strength own ON own.entity = strength.own_voice
      JOIN field USING (question) JOIN asked USING (question) WHERE contested`
  for (let pass = 1; pass <= parameters.strength_passes; pass++) {
    await database.run(
      `CREATE OR REPLACE TEMP TABLE total AS
       SELECT entity, count(*) AS contested, sum(b)::BIGINT AS b, sum(z)::BIGINT AS z FROM (${standards('1000000')}) GROUP BY entity`,
    )
    await database.run(
      `CREATE OR REPLACE TEMP TABLE scale AS
       SELECT pool, round_even(1e6 * list_sort(list(b::DOUBLE / z::DOUBLE))[((count(*) - 1) // 2 + 1)::INTEGER], 0)::BIGINT AS scale
       FROM total JOIN strength USING (entity)
       WHERE own_voice = entity AND contested >= ${parameters.eligible_questions} AND z > 0 GROUP BY pool`,
    )
    await database.run(
      `UPDATE strength SET a = fitted FROM (
         SELECT entity, least(greatest(round_even(
           1e6 * ((b + 2500000000)::DOUBLE / (z::DOUBLE * (scale::DOUBLE / 1e6) + 2500000000::DOUBLE)), 0), 50000), 10000000)::BIGINT AS fitted
         FROM total JOIN (SELECT entity, pool FROM strength) USING (entity) JOIN scale USING (pool)) AS pass
       WHERE pass.entity = strength.entity`,
    )
    const scales = await database.rows<{ scale: bigint }>('SELECT scale FROM scale ORDER BY pool')
    const strengths = await database.rows<{ a: bigint }>('SELECT a FROM strength ORDER BY entity')
    const method = { ...METHODOLOGY, parameters: { ...parameters, strength_passes: pass } }
    const fitted = fitStrengths(method, QUESTIONS, entities, columnsOf(rows))
    expect(scales.length).toBe(names.length)
    expect(
      scales.map(({ scale }) => Number(scale)),
      `scales after pass ${pass}`,
    ).toEqual([...fitted.scales])
    expect(strengths.map(({ a }) => Number(a))).toEqual([...fitted.strength])
    if (pass < parameters.strength_passes) continue
    const scaleOf = '(SELECT scale FROM scale WHERE scale.pool = asked.pool)'
    const found = await database.rows<{ entity: number; question: number; z: bigint }>(standards(scaleOf))
    const byPair = new Map(found.map(({ entity, question, z }) => [`${entity} ${question}`, Number(z)]))
    const contested = rows.filter((row) => row.contested === 1)
    expect(byPair.size).toBe(contested.length)
    for (const { question, entity, own_weight, reference } of contested) {
      const [u, a] = [fitted.weight[question]!, fitted.weighted[question]!]
      const scale = fitted.scales[ofQuestion[question]!]!
      const z = standardReference(reference, u, a, own_weight, fitted.ownStrength[entity]!, scale)
      expect(byPair.get(`${entity} ${question}`)).toBe(z)
    }
  }
})
