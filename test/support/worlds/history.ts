// A history of what comes between releases, drawn from a seed: everything that may touch a question that was
// scored before.
import type { Row, TableName } from '../../../schemas/tables.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { choicesOf } from '../faults/seeded.ts'
import { send } from '../tables.ts'
import { uuidOf } from './world.ts'

const DAY_MS = 86_400_000
export const HISTORY_START_MS = Date.UTC(2026, 0, 1)

/** What comes before the next release, and how much later that is. */
export interface Step {
  rows: Partial<Record<TableName, Row[]>>
  laterMs: number
}

/** Puts what comes into the inbox, one object for each table. */
export async function takeIn({ rows }: Step, store: Store, id: string): Promise<void> {
  for (const [table, added] of Object.entries(rows)) {
    if (added.length > 0) await send(store, table as TableName, id, added)
  }
}

/**
 * The first step makes a world in which some questions score; each further one changes a little of it, or
 * nothing.
 */
export function historyOf(seed: number, steps: number): Step[] {
  const { whole, pick, chance } = choicesOf(seed)
  const forecasts: Row[] = []
  let forecastCount = 0
  let people = whole(3, 6)
  let agents = 4
  let agentRows = 0
  const questions = 12
  let nowMs = HISTORY_START_MS + 20 * DAY_MS
  const at = (ms: number) => new Date(ms)
  const question = (number: number): Row => ({
    question_id: uuidOf(1, number),
    title: 'Will it?',
    resolution_criteria: null,
    background: null,
    category: pick([null, 'sport']),
    url: null,
    event_id: chance(0.3) ? `event-${whole(0, 3)}` : null,
    source: null,
    source_id: null,
    opened_at: at(HISTORY_START_MS + whole(0, 5) * DAY_MS),
    closes_at: at(HISTORY_START_MS + whole(8, 30) * DAY_MS),
    recorded_at: at(nowMs),
  })
  const resolution = (number: number): Row => ({
    question_id: uuidOf(1, number),
    outcome: pick(['yes', 'no', 'yes', 'no', 'annulled', 'open']),
    // Some are recorded before they are known.
    resolved_at: at(HISTORY_START_MS + whole(4, 30) * DAY_MS),
    recorded_at: at(nowMs),
  })
  const agent = (number: number): Row => ({
    agent_id: uuidOf(3, number),
    name: 'an agent',
    model_type: 'none',
    organization_name: null,
    owner_id: pick([null, 'one owner', 'another owner']),
    registered_at: at(HISTORY_START_MS + number),
    // In turn it takes part, has retired, or retires a day later; its next row may say another.
    retired_at: [null, at(nowMs), at(nowMs + DAY_MS)][agentRows++ % 3]!,
    recorded_at: at(nowMs),
  })
  const person = (number: number): Row => ({
    user_id: uuidOf(2, number),
    recorded_at: at(nowMs),
  })
  /** Also of entities that nobody knows yet. */
  const forecast = (number: number): Row => {
    const isAgent = chance(0.5)
    const row = {
      forecast_id: uuidOf(4, forecastCount++),
      entity_type: isAgent ? 'agent' : 'forecaster',
      entity_id: isAgent ? uuidOf(3, whole(0, agents)) : uuidOf(2, whole(0, people)),
      question_id: uuidOf(1, number),
      probability: chance(0.1) ? null : whole(0, 100) / 100,
      forecast_at: at(HISTORY_START_MS + whole(0, 40) * (DAY_MS / 2)),
      recorded_at: at(nowMs),
      source: pick(['api', 'import']),
    }
    forecasts.push(row)
    return row
  }
  const isRare = () => chance(0.08)
  /**
   * A row with an id that is known, mostly alike, and now and then recorded before it or about another
   * question.
   */
  const repeated = (): Row => ({
    ...pick(forecasts),
    probability: whole(0, 100) / 100,
    recorded_at: at(nowMs - whole(0, 3) * DAY_MS),
    ...(isRare() ? { question_id: uuidOf(1, whole(0, questions - 1)) } : {}),
  })
  const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)
  const some = (most: number, make: (number: number) => Row) =>
    numbers(whole(0, most)).map(() => make(whole(0, questions - 1)))
  const first: Step = {
    rows: {
      questions: numbers(questions).map(question),
      resolutions: numbers(questions - 3).map(resolution),
      agents: numbers(agents).map(agent),
      forecasters: numbers(people).map(person),
      forecasts: numbers(questions).flatMap((number) => numbers(whole(0, 14)).map(() => forecast(number))),
    },
    laterMs: 20 * DAY_MS,
  }
  const rest = numbers(steps - 1).map((): Step => {
    const laterMs = chance(0.2) ? 0 : whole(1, 2 * DAY_MS)
    nowMs += laterMs
    if (chance(0.15)) return { rows: {}, laterMs }
    return {
      rows: {
        questions: chance(0.3) ? some(1, question) : [],
        resolutions: chance(0.5) ? some(2, resolution) : [],
        agents: chance(0.4) ? [agent(chance(0.5) ? agents++ : whole(0, agents - 1))] : [],
        forecasters: chance(0.3) ? [person(chance(0.6) ? people++ : 0)] : [],
        forecasts: [...(chance(0.7) ? some(3, forecast) : []), ...(chance(0.3) ? [repeated()] : [])],
      },
      laterMs,
    }
  })
  return [first, ...rest]
}

/** Without rows of an id that is known with another question: no program of the service makes those. */
export function lawful(steps: readonly Step[]): Step[] {
  const questions = new Map<string, unknown>()
  return steps.map(({ rows, laterMs }) => {
    const isLawful = ({ forecast_id, question_id }: Row) => {
      const known = questions.get(forecast_id as string) ?? question_id
      questions.set(forecast_id as string, known)
      return known === question_id
    }
    return { laterMs, rows: { ...rows, forecasts: (rows.forecasts ?? []).filter(isLawful) } }
  })
}
