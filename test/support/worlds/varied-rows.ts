// Rows of a varied world, the same every time: two pools, ties, repetitions, events, owners, the retired, annulled,
// corrected, withdrawn and open questions, kinds of events, prices, outcomes before the close, forecasts before the opening, after the
// close and of nobody, and names that try to break a line.
import { EVENT_KINDS, type Row, type ScoredTable } from '../../../schemas/tables.ts'
import { choicesOf } from '../faults/seeded.ts'
import { uuidOf } from './world.ts'

const MINUTE_MS = 60_000
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

export function variedRows(size: VariedSize): Record<ScoredTable, Row[]> {
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
  // Entities and questions of odd numbers are of the second pool. Some agents without an owner are of both.
  const isWanderer = (number: number) => number % 10 === 9
  const agentRow = (number: number): Row => ({
    agent_id: uuidOf(3, number),
    name: pick(NAMES),
    model_type: pick(['none', 'tab\t']),
    organization_name: pick([null, 'an organization']),
    owner_id: !isWanderer(number) && chance(0.8) ? pick(owners) : null,
    // Few instants, so that ids break ties.
    registered_at: at(START_MS + whole(0, 3)),
    // Some retire only after the release.
    retired_at: chance(0.3) ? at(START_MS + pick([30, 50]) * DAY_MS) : null,
    recorded_at: at(START_MS + whole(0, 1)),
  })
  const forecastRow = (number: number): Row => {
    const isAgent = chance(0.5)
    // One of each kind more than are known. A few make half of the forecasts.
    const entity = whole(0, chance(0.5) ? 20 : isAgent ? size.agents : size.people)
    const pool = questions.filter((_, question) => question % 2 === entity % 2)
    const { id, openedMs, closesMs } = pick(isAgent && isWanderer(entity) ? questions : pool)
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
      entity_id: uuidOf(isAgent ? 3 : 2, entity),
      question_id: id,
      probability: whole(0, 1_000_000) / 1_000_000,
      forecast_at: at(atMs),
      // Some are witnessed.
      recorded_at: chance(0.3) ? at(atMs + whole(9, 11) * MINUTE_MS) : recorded,
      // The imports of agents count for nothing.
      source: chance(isAgent ? 0.02 : 0.5) ? 'import' : 'api',
    }
  }
  const forecasts = times(size.forecasts).map(forecastRow)
  const repeated = times(Math.ceil(size.forecasts / 100)).map(() => {
    const row = pick(forecasts)
    // A retry is recorded at another time, or at the same.
    return { ...row, recorded_at: at((row.recorded_at as Date).getTime() + whole(-1, 1)) }
  })
  const resolved = questions.filter((_, number) => number % 13 !== 5)
  const resolution = ({ id, openedMs, closesMs }: (typeof questions)[number], recordedMs: number): Row => ({
    question_id: id,
    outcome: pick(['yes', 'no', 'yes', 'no', 'yes', 'no', 'annulled']),
    resolved_at: at(chance(0.3) ? openedMs + whole(1, closesMs - openedMs) : closesMs + whole(0, DAY_MS)),
    known_at: chance(0.2) ? at(openedMs + whole(0, closesMs - openedMs)) : null,
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
      position: chance(0.5) ? whole(0, 9) : null,
      option: pick([null, 'tab\t']),
      source: null,
      source_id: null,
      opened_at: at(openedMs),
      closes_at: at(closesMs),
      recorded_at: at(START_MS),
    })),
    // Corrected kinds, and events without a row.
    events: times(40)
      .filter(() => chance(0.7))
      .map((number) => ({
        event_id: `event ${number % 21}`,
        title: pick(NAMES),
        kind: pick(EVENT_KINDS),
        source: null,
        source_id: null,
        url: null,
        recorded_at: at(START_MS + whole(0, 1)),
      })),
    // Several at one time, some recorded at one time too, before the opening, and of nobody.
    prices: questions
      .filter(() => chance(0.5))
      .flatMap(({ id, openedMs, closesMs }) =>
        times(whole(1, 9)).map(() => ({
          question_id: id,
          priced_at: at(
            pick([
              openedMs - whole(0, 2 * DAY_MS),
              openedMs + DAY_MS,
              openedMs + whole(0, closesMs - openedMs),
            ]),
          ),
          probability: chance(0.1) ? null : whole(0, 1_000_000) / 1_000_000,
          source: 'a market',
          recorded_at: at(VARIED_AS_OF.getTime() - whole(1, 2)),
        })),
      ),
    resolutions: [
      ...resolved.map((question) => resolution(question, START_MS + 39 * DAY_MS)),
      // Corrections, some recorded in the same millisecond as what they correct.
      ...resolved
        .filter(() => chance(0.1))
        .map((question) => resolution(question, START_MS + 39 * DAY_MS + whole(0, 1))),
      // Withdrawn, of questions that have closed and of some that have not.
      ...resolved
        .filter((_, number) => number % 8 === 0)
        .map((question) => ({
          ...resolution(question, START_MS + 39 * DAY_MS + 2),
          outcome: 'open',
        })),
    ],
    agents: [...times(size.agents).map(agentRow), ...times(20).map(agentRow)],
    forecasters: times(size.people).map((number) => ({
      user_id: uuidOf(2, number),
      recorded_at: at(START_MS),
    })),
    forecasts: [...forecasts, ...repeated],
  }
}
