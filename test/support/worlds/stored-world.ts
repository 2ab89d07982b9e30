// A random world as the service stores it: with UUIDs for its names, and as rows of tables.
import type { Row, TableName } from '../../../schemas/tables.ts'
import type { World } from '../plain/world.ts'
import { uuidOf } from './world.ts'

/** UUIDs in the order of the names that they stand for. */
function uuids(kind: number, names: readonly string[]): Map<string, string> {
  return new Map([...new Set(names)].sort().map((name, index) => [name, uuidOf(kind, index)]))
}

/** The world with UUIDs for its names, without the outcomes that were not known at its `as_of_ms`. */
export function asPublished(world: World): World {
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
    ...world,
    entities: world.entities.map((entity) => ({ ...entity, id: entities.get(entity.id)! })),
    questions: world.questions.map((question) => ({
      ...question,
      id: questions.get(question.id)!,
      outcome: question.resolved_at_ms! > world.as_of_ms ? null : question.outcome,
    })),
    prices: world.prices.map((price) => ({ ...price, question: questions.get(price.question)! })),
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

/** Whether the operator hides an agent: some of them. */
export const isHidden = (id: string): boolean => /[37]$/.test(id)

/** The rows of all tables. */
export function tablesOf({
  as_of_ms,
  entities,
  events,
  questions,
  forecasts,
  prices,
}: World): Partial<Record<TableName, Row[]>> {
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
    events: events.map((event) => ({ ...event, title: 'Which?', recorded_at })),
    prices: prices.map(({ question, at_ms, ppm }) => ({
      question_id: question,
      priced_at: new Date(at_ms),
      probability: ppm === null ? null : ppm / 1e6,
      source: 'a market',
      recorded_at,
    })),
    resolutions: questions.flatMap(({ id, outcome, resolved_at_ms, known_at_ms }) =>
      outcome === null && resolved_at_ms! <= as_of_ms
        ? []
        : [
            {
              question_id: id,
              outcome: outcome === 1 ? 'yes' : outcome === 0 ? 'no' : 'annulled',
              resolved_at: new Date(resolved_at_ms!),
              known_at: known_at_ms === null ? null : new Date(known_at_ms),
              recorded_at,
            },
          ],
    ),
    agents: entities
      .filter(({ kind }) => kind === 'agent')
      .map(({ id, owner, registered_at_ms, retired_at_ms: retired = null }) => ({
        agent_id: id,
        name: isHidden(id) ? '' : 'an agent',
        model_type: 'none',
        organization_name: null,
        owner_id: owner,
        registered_at: new Date(registered_at_ms),
        retired_at: retired === null ? null : new Date(retired),
        recorded_at,
      })),
    forecasters: entities
      .filter(({ kind }) => kind === 'forecaster')
      .map(({ id }) => ({ user_id: id, recorded_at })),
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
