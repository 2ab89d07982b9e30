// Rows of a varied world, the same every time: ties, repetitions, events, owners, annulled, corrected and
// open questions, forecasts before the opening, after the close and of nobody, and names that try to break a
// line.
import type { Row, TableName } from '../../../schemas/tables.ts'
import { choicesOf } from '../faults/seeded.ts'
import { uuidOf } from './world.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 1)
/** When most questions have been resolved, and some are open. */
export const VARIED_AS_OF = new Date(START_MS + 40 * DAY_MS)

const NAMES = [
  'plain',
  'tab\tand\nline',
  '\\N',
  `"quo'ted" \\t`,
  'Übung 問い 🎲',
  ' ',
  'line\u2028separator',
  '{}',
]

export interface VariedSize {
  forecasts: number
  questions: number
  agents: number
  people: number
}

export function variedRows(size: VariedSize): Record<Exclude<TableName, 'usage'>, Row[]> {
  const { whole, pick, chance } = choicesOf(20_000)
  const at = (ms: number) => new Date(ms)
  const times = (count: number) => Array.from({ length: count }, (_, number) => number)
  const recorded = at(VARIED_AS_OF.getTime() - 1)
  const questions = times(size.questions).map((number) => ({
    id: uuidOf(1, number),
    openedMs: START_MS + whole(0, 15) * DAY_MS,
    closesMs: START_MS + whole(16, number % 9 === 0 ? 60 : 38) * DAY_MS + whole(0, 1),
  }))
  const owners = times(Math.ceil(size.agents / 3)).map((number) => `owner ${pick(NAMES)} ${number}`)
  const agentRow = (number: number): Row => ({
    agent_id: uuidOf(3, number),
    name: pick(NAMES),
    model_type: pick(['none', 'tab\t']),
    organization_name: pick([null, 'an organization']),
    owner_id: chance(0.7) ? pick(owners) : null,
    // Few instants, so that ids break ties.
    registered_at: at(START_MS + whole(0, 3)),
    retired_at: chance(0.1) ? at(START_MS + 30 * DAY_MS) : null,
    recorded_at: at(START_MS + whole(0, 1)),
  })
  const forecastRow = (number: number): Row => {
    const isAgent = chance(0.5)
    const { id, openedMs, closesMs } = pick(questions)
    const between = openedMs + whole(0, closesMs - openedMs)
    // Before the opening, after the close, or in one millisecond with many others.
    const atMs = pick([
      openedMs - whole(0, DAY_MS),
      closesMs + whole(0, 1),
      openedMs + DAY_MS,
      between,
      between,
    ])
    return {
      forecast_id: uuidOf(4, number),
      entity_type: isAgent ? 'agent' : 'forecaster',
      // One of each kind more than are known.
      entity_id: isAgent ? uuidOf(3, whole(0, size.agents)) : uuidOf(2, whole(0, size.people)),
      question_id: id,
      probability: whole(0, 1_000_000) / 1_000_000,
      forecast_at: at(atMs),
      recorded_at: recorded,
      source: isAgent ? 'api' : 'import',
    }
  }
  const forecasts = times(size.forecasts).map(forecastRow)
  const repeated = times(Math.ceil(size.forecasts / 100)).map(() => {
    const row = pick(forecasts)
    // A retry is recorded at another time.
    return { ...row, recorded_at: at(recorded.getTime() + whole(-1, 1)) }
  })
  const resolved = questions.filter((_, number) => number % 13 !== 5)
  const resolution = ({ id, openedMs, closesMs }: (typeof questions)[number], recordedMs: number): Row => ({
    question_id: id,
    outcome: pick(['yes', 'no', 'yes', 'no', 'yes', 'no', 'annulled']),
    resolved_at: at(chance(0.3) ? openedMs + whole(1, closesMs - openedMs) : closesMs + whole(0, DAY_MS)),
    recorded_at: at(recordedMs),
  })
  return {
    questions: questions.map(({ id, openedMs, closesMs }, number) => ({
      question_id: id,
      title: `Question ${number}?`,
      resolution_criteria: null,
      background: pick([null, 'much\nis known']),
      category: pick([null, 'sport', '\\N', 'a | "bar"']),
      url: null,
      event_id: chance(0.3) ? `event ${whole(0, 20)}` : null,
      source: null,
      source_id: null,
      opened_at: at(openedMs),
      closes_at: at(closesMs),
      recorded_at: at(START_MS),
    })),
    resolutions: [
      ...resolved.map((question) => resolution(question, START_MS + 39 * DAY_MS)),
      // Corrections, some recorded in the same millisecond as what they correct.
      ...resolved
        .filter(() => chance(0.1))
        .map((question) => resolution(question, START_MS + 39 * DAY_MS + whole(0, 1))),
    ],
    agents: [...times(size.agents).map(agentRow), ...times(20).map(agentRow)],
    forecasters: times(size.people).map((number) => ({
      user_id: uuidOf(2, number),
      display_name: pick([null, ...NAMES]),
      recorded_at: at(START_MS),
    })),
    forecasts: [...forecasts, ...repeated],
  }
}
