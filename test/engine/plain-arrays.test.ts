// The steps of an engine without DuckDB: from sorted arrays they make the shards of a release, byte for byte.
import { expect, test } from 'vitest'
import type { ScoredEntity } from '../../pipeline/engine/duckdb-engine.ts'
import { Rows } from '../../pipeline/engine/rows.ts'
import { scoreEntities } from '../../pipeline/engine/score.ts'
import { type ForecastQuestion, sweepQuestions } from '../../pipeline/engine/sweep.ts'
import { signatureOf } from '../../pipeline/proof/hmac.ts'
import { rankEntities } from '../../pipeline/release/payloads.ts'
import { releaseShards } from '../../pipeline/release/shards.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { PAIR_COLUMNS, SCORED_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, SECRET, importRows, release, testComponents } from '../support/service.ts'
import { FORECAST_LINES, NOW, QUESTIONS_CSV, RESOLUTIONS_CSV, csvOf } from '../support/world.ts'

const folder = await suiteFolder()

const linesOf = (csv: string) => csv.trim().split('\n').slice(1)
const byText = (a: string, b: string) => (a < b ? -1 : 1)

/** The resolved questions of the world, in the order of their ids. */
const questions = linesOf(RESOLUTIONS_CSV)
  .map((line) => line.split(','))
  .filter(([, outcome]) => outcome !== 'annulled')
  .map(([id, outcome, resolvedAt]) => {
    const times = linesOf(QUESTIONS_CSV)
      .find((line) => line.startsWith(id!))!
      .split(',')
      .slice(-2)
    const [openedAtMs, closesAtMs] = times.map((time) => Date.parse(time)) as [number, number]
    const isYes: 0 | 1 = outcome === 'yes' ? 1 : 0
    return { id: id!, openedAtMs, closesAtMs, resolvedAtMs: Date.parse(resolvedAt!), outcome: isYes }
  })
  .toSorted((a, b) => byText(a.id, b.id))

const forecasts = FORECAST_LINES.map((line) => {
  const [, entityId, questionId, probability, at] = line.split(',') as [
    string,
    string,
    string,
    string,
    string,
  ]
  return { entityId, questionId, ppm: Math.round(Number(probability) * 1e6), atMs: Date.parse(at) }
})
const entityIds = [...new Set(forecasts.map(({ entityId }) => entityId))].toSorted(byText)

/** No two forecasts of one question share an instant here, so the instant alone gives their order. */
async function* forecastsByQuestion(): AsyncIterable<ForecastQuestion> {
  for (const [question, { id }] of questions.entries()) {
    const own = forecasts.filter(({ questionId }) => questionId === id).toSorted((a, b) => a.atMs - b.atMs)
    if (own.length === 0) continue
    yield {
      question,
      forecasts: {
        count: own.length,
        entity: Int32Array.from(own, ({ entityId }) => entityIds.indexOf(entityId)),
        atMs: Float64Array.from(own, ({ atMs }) => atMs),
        ppm: Int32Array.from(own, ({ ppm }) => ppm),
        imported: new Int32Array(own.length).fill(1),
      },
    }
  }
}

/** The pairs in the order (entity, resolved_at, question_id), with the outcomes of their questions. */
async function* inOrder(pairs: Rows<typeof PAIR_COLUMNS>) {
  const { columns } = pairs
  const resolvedMs = (row: number) => questions[columns.question[row]!]!.resolvedAtMs
  const order = Array.from({ length: pairs.rowCount }, (_, row) => row).sort(
    (a, b) =>
      columns.entity[a]! - columns.entity[b]! ||
      resolvedMs(a) - resolvedMs(b) ||
      columns.question[a]! - columns.question[b]!,
  )
  const rows = new Rows(SCORED_COLUMNS)
  for (const row of order) {
    for (const [name, column] of Object.entries(rows.columns)) {
      column[rows.row] =
        name === 'outcome'
          ? questions[columns.question[row]!]!.outcome
          : columns[name as keyof typeof PAIR_COLUMNS][row]!
    }
    rows.next()
  }
  yield rows
}

test('sweep and score over plain arrays give the shards of a release', async () => {
  const store = new MemoryStore()
  const components = await testComponents({ store, folder, clock: new Clock(NOW) })
  await importRows(components, 'questions', QUESTIONS_CSV)
  await importRows(components, 'resolutions', RESOLUTIONS_CSV)
  await importRows(components, 'forecasts', csvOf(FORECAST_LINES))
  await release(components)

  const pairs = new Rows(PAIR_COLUMNS)
  await sweepQuestions(METHODOLOGY, entityIds.length, questions, forecastsByQuestion(), pairs)
  const scored: ScoredEntity[] = []
  for await (const { entity, ...result } of scoreEntities(METHODOLOGY, inOrder(pairs))) {
    scored.push({ entityType: 'forecaster', entityId: entityIds[entity]!, ...result })
  }
  const provenance = {
    methodology_version: METHODOLOGY.version,
    release: 1,
    as_of: NOW,
    environment: 'production' as const,
  }
  const sign = (bytes: Uint8Array) => signatureOf(bytes, { current: SECRET })
  const shards = [...releaseShards(rankEntities(METHODOLOGY, scored), provenance, sign, true)]
  expect(shards.length).toBeGreaterThan(0)
  for (const { path, bytes } of shards) {
    const stored = await store.get(releasePrefix(1) + path)
    expect(new TextDecoder().decode(bytes)).toBe(new TextDecoder().decode(stored))
  }
})

test('pairs that are not in order are refused', async () => {
  const rows = new Rows(SCORED_COLUMNS)
  for (const entity of [1, 0]) {
    rows.columns.entity[rows.row] = entity
    rows.next()
  }
  const scoring = Array.fromAsync(
    scoreEntities(
      METHODOLOGY,
      (async function* () {
        yield rows
      })(),
    ),
  )
  await expect(scoring).rejects.toMatchObject({
    kind: 'corrupt',
    message: 'rows out of order: entity 0 after 1',
  })
})
