// A world of many entities with few forecasts each: several shards, pages and files of owners, and names that
// are hard to sort.
import type { Row, TableName } from '../../../schemas/tables.ts'
import { uuidOf } from './world.ts'

const DAY_MS = 86_400_000
const at = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * DAY_MS)

export const CROWD_AS_OF = at(60).toISOString()

/**
 * 520 agents, 300 people of whom the last 260 have no forecast, and 40 questions, some of which annulled or
 * open. All forecasts are made in four milliseconds, and some are recorded twice.
 */
export function crowd(): Partial<Record<TableName, Row[]>> {
  const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)
  // Of UTF-16 and of UTF-8, the orders of the last two differ.
  const odd = ['\\N', '\u{1f600} "both"', '\uff21 wide']
  const ownerOf = (number: number) =>
    (number % 9 === 0 ? odd[number % 4] : undefined) ?? `owner ${number % 400}`
  const agents = numbers(520).map((number) => ({
    agent_id: uuidOf(3, number),
    name: number % 2 === 0 ? `agent "${number}"` : '\\N',
    model_type: 'none',
    organization_name: null,
    owner_id: number % 7 === 0 ? null : ownerOf(number),
    registered_at: at(number % 3),
    retired_at: null,
    recorded_at: at(0),
  }))
  const people = numbers(300).map((number) => ({
    user_id: uuidOf(2, number),
    display_name: number % 2 === 0 ? null : 'Ünal \\t',
    recorded_at: at(0),
  }))
  const questions = numbers(40).map((number) => ({
    question_id: uuidOf(1, number),
    title: 'Will it?',
    resolution_criteria: null,
    background: null,
    category: [null, 'sport', 'a "b" c'][number % 3]!,
    url: null,
    event_id: number % 4 === 0 ? `event ${number % 8}` : null,
    source: null,
    source_id: null,
    opened_at: at(0),
    closes_at: at(10 + (number % 60)),
    recorded_at: at(0),
  }))
  const resolutions = numbers(36).map((number) => ({
    question_id: uuidOf(1, number),
    outcome: ['yes', 'no', 'yes', 'annulled'][number % 7 === 6 ? 3 : number % 3]!,
    resolved_at: at(12 + (number % 20)),
    recorded_at: at(40),
  }))
  const entities = [
    ...agents.map(({ agent_id }) => ['agent', agent_id]),
    ...people.slice(0, 40).map(({ user_id }) => ['forecaster', user_id]),
  ]
  const forecasts = entities.flatMap(([entity_type, entity_id], who) =>
    numbers(40)
      .filter((question) => (who < 40 || who >= 520 ? true : (question + who) % 9 === 0))
      .flatMap((question) =>
        numbers(1 + ((who + question) % 3)).map((again) => ({
          forecast_id: uuidOf(4, (who * 40 + question) * 3 + again),
          entity_type,
          entity_id,
          question_id: uuidOf(1, question),
          probability: ((who * 37 + question * 11 + again * 5) % 101) / 100,
          forecast_at: at(again + (question % 2)),
          recorded_at: at(5),
          source: who % 2 === 0 ? 'api' : 'import',
        })),
      ),
  )
  // Recorded again, before or later, with another probability.
  const repeated = forecasts
    .filter((_, index) => index % 40 === 0)
    .map((row, index) => ({ ...row, probability: 0.5, recorded_at: at(index % 2 === 0 ? 4 : 6) }))
  const rows = { questions, resolutions, agents, forecasters: people, forecasts: [...forecasts, ...repeated] }
  return rows as Partial<Record<TableName, Row[]>>
}
