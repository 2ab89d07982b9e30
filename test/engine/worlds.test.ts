// Whole worlds through the tables and DuckDB, against the same steps over plain arrays: no number differs.
import { expect, test } from 'vitest'
import { orderEveryone, scoreEveryone } from '../../pipeline/engine/duckdb-engine.ts'
import { rankEntities } from '../../pipeline/release/payloads.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { ENTITY_TYPES, type Row, SCORED_TABLES, type TableName } from '../../schemas/tables.ts'
import { suiteFolder } from '../support/folder.ts'
import type { PlainWorld } from '../support/plain/world.ts'
import { randomWorld } from '../support/worlds/random-world.ts'
import { scoreWorld } from '../support/worlds/scored-world.ts'
import { openWorker, send } from '../support/tables.ts'
import { uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const LATER = new Date('2027-01-01T00:00:00.000Z')

/** UUIDs in the order of the names that they stand for. */
function uuids(kind: number, names: readonly string[]): Map<string, string> {
  return new Map([...new Set(names)].sort().map((name, index) => [name, uuidOf(kind, index)]))
}

/** The world with UUIDs for its names, and half of its clusters made of days. */
function asPublished(world: PlainWorld): PlainWorld {
  const entities = uuids(
    2,
    world.entities.map(({ id }) => id),
  )
  const questions = uuids(
    1,
    world.questions.map(({ id }) => id),
  )
  const forecasts = uuids(
    4,
    world.forecasts.map(([, , , , id]) => id!),
  )
  return {
    entities: world.entities.map((entity) => ({ ...entity, id: entities.get(entity.id)! })),
    questions: world.questions.map((question, index) => {
      const day = new Date(question.resolved_at_ms ?? 0).toISOString().slice(0, 10)
      const cluster =
        index % 2 === 0 ? `event:${question.cluster}` : `day:${index % 4 === 1 ? '' : 'a|b'}|${day}`
      return { ...question, id: questions.get(question.id)!, cluster }
    }),
    forecasts: world.forecasts.map(([entity, question, at, ppm, id]) => [
      entities.get(entity)!,
      questions.get(question)!,
      at,
      ppm,
      forecasts.get(id!)!,
    ]),
  }
}

function rowsOf({ entities, questions, forecasts }: PlainWorld): Partial<Record<TableName, Row[]>> {
  const recorded_at = new Date('2026-06-01T00:00:00.000Z')
  const kinds = new Map(entities.map(({ id, kind }) => [id, kind]))
  return {
    questions: questions.map(({ id, opened_at_ms, closes_at_ms, cluster }) => {
      const [kind, category] = cluster.split(/:|\|(?=[^|]*$)/) as [string, string]
      return {
        question_id: id,
        title: 'Will it?',
        category: kind === 'day' && category !== '' ? category : null,
        url: null,
        event_id: kind === 'event' ? category : null,
        opened_at: new Date(opened_at_ms),
        closes_at: new Date(closes_at_ms),
        recorded_at,
      }
    }),
    resolutions: questions.map(({ id, outcome, resolved_at_ms }) => ({
      question_id: id,
      outcome: outcome === null ? 'annulled' : outcome === 1 ? 'yes' : 'no',
      resolved_at: new Date(resolved_at_ms!),
      recorded_at,
    })),
    agents: entities
      .filter(({ kind }) => kind === 'agent')
      .map(({ id, owner, registered_at_ms }) => ({
        agent_id: id,
        name: 'an agent',
        model_type: 'none',
        organization_name: null,
        owner_id: owner,
        registered_at: new Date(registered_at_ms),
        retired_at: null,
        recorded_at,
      })),
    forecasters: entities
      .filter(({ kind }) => kind === 'forecaster')
      .map(({ id }) => ({ user_id: id, display_name: null, recorded_at })),
    forecasts: forecasts.map(([entity_id, question_id, at, ppm, forecast_id]) => ({
      forecast_id: forecast_id!,
      entity_type: kinds.get(entity_id)!,
      entity_id,
      question_id,
      probability: ppm / 1e6,
      forecast_at: new Date(at),
      recorded_at,
      source: 'api',
    })),
  }
}

test.each([
  { seed: 1, people: 7, agents: 6, owners: 2, questions: 70, noise: 0.7, rule: 'recorded' },
  { seed: 2, people: 3, agents: 9, owners: 5, questions: 60, noise: 1, rule: 'recorded' },
  { seed: 3, people: 2, agents: 6, owners: 1, questions: 50, noise: 0.3, rule: 'everyone' },
  { seed: 4, people: 0, agents: 8, owners: 0, questions: 40, noise: 0.7, rule: 'everyone' },
  { seed: 5, people: 0, agents: 0, owners: 0, questions: 3, noise: 0.7, rule: 'everyone' },
])('$people people, $agents agents of $owners owners: $rule', async ({ rule, ...shape }) => {
  const world = asPublished(randomWorld(shape))
  const store = new MemoryStore()
  using worker = await openWorker(store, `${folder}/${shape.seed}`)
  for (const [table, rows] of Object.entries(rowsOf(world))) {
    if (rows.length > 0) await send(store, table as TableName, 'a', rows)
  }
  for (const table of SCORED_TABLES) await compact(worker, table)
  const context = { ...worker, methodology: METHODOLOGY }
  const ordered = await orderEveryone(context, await currentVersions(store), LATER)
  const entities = await scoreEveryone(context, ordered)
  const expected = scoreWorld(world)
  expect([ordered.voiceRule, expected.voiceRule]).toEqual([rule, rule])
  const ranked = ENTITY_TYPES.flatMap((kind) =>
    rankEntities(
      METHODOLOGY,
      ordered.voiceRule,
      entities.filter(({ entityType }) => entityType === kind),
    ),
  )
  const numbers = new Map(ranked.map(({ entityId, metrics, award }) => [entityId, { ...metrics, ...award }]))
  expect(numbers.size).toBe(world.entities.length)
  for (const { entityId, metrics, award } of expected.entities) {
    expect(numbers.get(entityId), entityId).toEqual({ ...metrics, ...award })
  }

  const path = `${folder}/${shape.seed}.parquet`
  await ordered.writeScores(path, 0, ordered.pairs)
  const pairs = await worker.database.rows<{ pair: string; cluster: string; standard: bigint | null }>(
    `SELECT entity_id || question_id AS pair, cluster, standard_reference AS standard FROM '${path}'`,
  )
  const standards = new Map(pairs.map(({ pair, standard }) => [pair, Number(standard ?? -1)]))
  expect(standards).toEqual(
    new Map(expected.pairs.map(({ entity, question, standard }) => [entity + question, standard])),
  )
  const clusters = new Map(world.questions.map(({ id, cluster }) => [id, cluster]))
  for (const { pair, cluster } of pairs) expect(cluster).toBe(clusters.get(pair.slice(36)))
})
