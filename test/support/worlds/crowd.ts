// A world of many entities with few forecasts each: several shards, pages and files of owners, and names that
// are hard to sort.
import type { Row, TableName } from '../../../schemas/tables.ts'
import { uuidOf } from './world.ts'

const DAY_MS = 86_400_000
const at = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * DAY_MS)

export const CROWD_AS_OF = at(60).toISOString()

const POOL_QUESTIONS = 40

/**
 * 520 agents, of whom a third have retired, 300 people of whom the last 230 have no forecast, and two pools of 40 questions, some of which
 * are annulled, open, or known before they close. The voices of the second pool are people, whom agents
 * without an owner meet there. All forecasts are made at four instants, and some are recorded twice.
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
    // Some had retired before the release, some at it, and some retire after it.
    retired_at: [null, null, at(50), null, at(60), at(60.5)][number % 6]!,
    recorded_at: at(0),
  }))
  const people = numbers(300).map((number) => ({
    user_id: uuidOf(2, number),
    recorded_at: at(0),
  }))
  const questions = numbers(2 * POOL_QUESTIONS).map((number) => ({
    question_id: uuidOf(1, number),
    title: 'Will it?',
    resolution_criteria: null,
    background: null,
    // All that count are of one category, so that it has a board.
    category: number % 7 === 6 ? null : number % 8 === 5 ? 'a "b" c' : 'sport',
    url: null,
    event_id: number % 4 === 0 ? `event ${number % 8}` : null,
    source: null,
    source_id: null,
    opened_at: at(0),
    closes_at: at(number % 8 === 5 ? 90 : 10 + (number % POOL_QUESTIONS)),
    recorded_at: at(0),
  }))
  const resolved = numbers(2 * POOL_QUESTIONS).filter((number) => number % POOL_QUESTIONS < 36)
  const resolutions = resolved.map((number) => ({
    question_id: uuidOf(1, number),
    outcome: ['yes', 'no', 'yes', 'annulled'][number % 7 === 6 ? 3 : number % 3]!,
    resolved_at: at(12 + (number % 20)),
    recorded_at: at(40),
  }))
  const entities = [
    ...agents.map(({ agent_id }) => ['agent', agent_id]),
    ...people.slice(0, 70).map(({ user_id }) => ['forecaster', user_id]),
  ]
  const answers = (who: number, question: number) => {
    const isSecond = question >= POOL_QUESTIONS
    if (who >= 520) return isSecond === who >= 560
    // Half of the agents without an owner, of whom none ties the pools together.
    const isWanderer = who % 14 === 7
    if (isSecond !== isWanderer) return false
    // The first agents answer all questions of a pool, and the others a few.
    return who < 40 || (question + who) % 9 === 0
  }
  const forecasts = entities.flatMap(([entity_type, entity_id], who) =>
    numbers(2 * POOL_QUESTIONS)
      .filter((question) => answers(who, question))
      .flatMap((question) =>
        numbers(1 + ((who + question) % 3)).map((again) => ({
          forecast_id: uuidOf(4, (who * 80 + question) * 3 + again),
          entity_type,
          entity_id,
          question_id: uuidOf(1, question),
          probability: ((who * 37 + question * 11 + again * 5) % 101) / 100,
          forecast_at: at(again + (question % 2)),
          recorded_at: at(5),
          // The imports of agents count for nothing.
          source: (entity_type === 'agent' ? who % 9 === 4 : who % 2 === 0) ? 'import' : 'api',
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
