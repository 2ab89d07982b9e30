// The steps of an engine without DuckDB: from plain arrays they make the shards of a release, byte for byte.
import { expect, test } from 'vitest'
import { Rows } from '../../pipeline/engine/rows.ts'
import { scoreEntities } from '../../pipeline/engine/score.ts'
import { signatureOf } from '../../pipeline/proof/hmac.ts'
import { releaseShards } from '../../pipeline/release/shards.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { SCORED_COLUMNS } from '../../pipeline/scoring/pairs.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { suiteFolder } from '../support/folder.ts'
import type { World } from '../support/plain/world.ts'
import { scoreWorld } from '../support/worlds/scored-world.ts'
import { Clock, SECRET, importRows, release, testComponents } from '../support/http/service.ts'
import { FORECAST_LINES, NOW, QUESTIONS_CSV, RESOLUTIONS_CSV, csvOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()

const linesOf = (csv: string) =>
  csv
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','))
const byText = (a: string, b: string) => (a < b ? -1 : 1)

const questions = linesOf(RESOLUTIONS_CSV).map(([id, outcome, resolvedAt]): World['questions'][number] => {
  const [event, ...times] = linesOf(QUESTIONS_CSV)
    .find(([question]) => question === id)!
    .slice(4, 7)
  const [opened_at_ms, closes_at_ms] = times.map((time) => Date.parse(time)) as [number, number]
  return {
    id: id!,
    opened_at_ms,
    closes_at_ms,
    resolved_at_ms: Date.parse(resolvedAt!),
    outcome: outcome === 'annulled' ? 'annulled' : outcome === 'yes' ? 1 : 0,
    category: null,
    event_id: event!,
    known_at_ms: null,
  }
})

const forecasts = FORECAST_LINES.map((line, place): World['forecasts'][number] => {
  const [, entity, question, probability, at] = line.split(',') as [string, string, string, string, string]
  const forecast_id = String(place).padStart(9, '0')
  const ppm = Math.round(Number(probability) * 1e6)
  return { entity, question, at_ms: Date.parse(at), ppm, forecast_id, witnessed: false }
})
const entities = [...new Set(forecasts.map(({ entity }) => entity))]
  .toSorted(byText)
  .map((id) => ({ id, kind: 'forecaster' as const, owner: null, registered_at_ms: 0 }))

test('sweep, score and rank over plain arrays give the shards of a release', { tags: ['slow'] }, async () => {
  const store = new MemoryStore()
  const components = await testComponents({ store, folder, clock: new Clock(NOW) })
  await importRows(components, 'questions', QUESTIONS_CSV)
  await importRows(components, 'resolutions', RESOLUTIONS_CSV)
  await importRows(components, 'forecasts', csvOf(FORECAST_LINES))
  await release(components)

  const nothing = { events: [], prices: [], declarations: [] }
  const world = scoreWorld({ as_of_ms: Date.parse(NOW), entities, questions, forecasts, ...nothing })
  const provenance = {
    methodology_version: METHODOLOGY.version,
    release: 1,
    as_of: NOW,
    environment: 'production' as const,
  }
  const sign = (bytes: Uint8Array) => signatureOf(bytes, { current: SECRET })
  const ranked = world.entities.map((entity) => {
    const own = forecasts.filter((row) => row.entity === entity.entityId)
    const last_forecast_at = Math.max(...own.map(({ at_ms }) => at_ms))
    return { ...entity, facts: { ...entity.facts, last_forecast_at } }
  })
  const shards = [
    ...releaseShards(ranked, { voiceRule: world.voiceRule, provenance, sign, bringsSnapshot: true }),
  ]
  expect(world.voiceRule).toBe('recorded')
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
  const circumstances = [0, 1].map(() => ({
    voice: true,
    owner_agents: null,
    attempt: null,
    pool: null,
    pool_size: null,
    offered_questions: 0,
    answered_share: null,
    isRetired: false,
  }))
  const scoring = Array.fromAsync(
    scoreEntities(
      METHODOLOGY,
      circumstances,
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
