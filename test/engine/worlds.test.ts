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
import { scoreWorld, valuesOf } from '../support/worlds/scored-world.ts'
import { openWorker, send } from '../support/tables.ts'
import { uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()

/** UUIDs in the order of the names that they stand for. */
function uuids(kind: number, names: readonly string[]): Map<string, string> {
  return new Map([...new Set(names)].sort().map((name, index) => [name, uuidOf(kind, index)]))
}

/** The world with UUIDs for its names, without the outcomes that were not known at its `as_of_ms`. */
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
    world.forecasts.map(({ forecast_id }) => forecast_id),
  )
  return {
    as_of_ms: world.as_of_ms,
    entities: world.entities.map((entity) => ({ ...entity, id: entities.get(entity.id)! })),
    questions: world.questions.map((question) => ({
      ...question,
      id: questions.get(question.id)!,
      outcome: question.resolved_at_ms! > world.as_of_ms ? null : question.outcome,
    })),
    forecasts: world.forecasts.map((row) => ({
      ...row,
      entity: entities.get(row.entity)!,
      question: questions.get(row.question)!,
      forecast_id: forecasts.get(row.forecast_id)!,
    })),
  }
}

/** A forecast that the service saw later than this is not witnessed. */
const TOO_LATE_MS = 600_001

function rowsOf({ entities, questions, forecasts }: PlainWorld): Partial<Record<TableName, Row[]>> {
  const recorded_at = new Date('2026-06-01T00:00:00.000Z')
  const kinds = new Map(entities.map(({ id, kind }) => [id, kind]))
  return {
    questions: questions.map(({ id, opened_at_ms, closes_at_ms, category, event_id }) => ({
      question_id: id,
      title: 'Will it?',
      category,
      url: null,
      event_id,
      opened_at: new Date(opened_at_ms),
      closes_at: new Date(closes_at_ms),
      recorded_at,
    })),
    resolutions: questions.map(({ id, outcome, resolved_at_ms }) => ({
      question_id: id,
      outcome: outcome === null ? 'annulled' : outcome === 1 ? 'yes' : 'no',
      resolved_at: new Date(resolved_at_ms!),
      recorded_at,
    })),
    agents: entities
      .filter(({ kind }) => kind === 'agent')
      .map(({ id, owner, registered_at_ms, retired_at_ms: retired = null }) => ({
        agent_id: id,
        name: 'an agent',
        model_type: 'none',
        organization_name: null,
        owner_id: owner,
        registered_at: new Date(registered_at_ms),
        retired_at: retired === null ? null : new Date(retired),
        recorded_at,
      })),
    forecasters: entities
      .filter(({ kind }) => kind === 'forecaster')
      .map(({ id }) => ({ user_id: id, display_name: null, recorded_at })),
    forecasts: forecasts.map(({ entity, question, at_ms, ppm, forecast_id, witnessed }) => ({
      forecast_id,
      entity_type: kinds.get(entity)!,
      entity_id: entity,
      question_id: question,
      probability: ppm === null ? null : ppm / 1e6,
      forecast_at: new Date(at_ms),
      recorded_at: new Date(at_ms + (witnessed ? 0 : TOO_LATE_MS)),
      source: 'api',
    })),
  }
}

test.each([
  { seed: 1, people: 7, agents: 6, owners: 2, questions: 90, noise: 0.7, rule: 'recorded' },
  { seed: 6, people: 14, agents: 6, owners: 2, questions: 90, noise: 0.7, circles: 2, rule: 'recorded' },
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
  const ordered = await orderEveryone(context, await currentVersions(store), new Date(world.as_of_ms))
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
  const pairs = await worker.database.rows<Record<string, unknown>>(
    `SELECT entity_id || '|' || question_id AS pair, settled, epoch_ms(settled_at)::DOUBLE AS settled_at_ms, witnessed,
       contested, cluster, standard_reference::DOUBLE AS "Z", gain_if_other::DOUBLE AS "X'", spread::DOUBLE AS f,
       round(closing_probability * 1e6)::INTEGER AS closing
     FROM '${path}'`,
  )
  expect(pairs).toHaveLength(expected.pairs.length)
  const values = new Map(expected.pairs.map((pair) => [`${pair.entity}|${pair.question}`, valuesOf(pair)]))
  for (const { pair, ...columns } of pairs) expect(values.get(pair as string)).toMatchObject(columns)
})
