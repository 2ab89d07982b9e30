// The weeks before a simulation starts, as if the service had been running: resolved questions, people's
// forecasts, and forecasts that agents submitted in time.
import { v5 as uuidv5, v7 as uuidv7, parse } from 'uuid'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { GroupCommit } from '../../pipeline/tables/group-commit.ts'
import type { AgentRow, ForecastRow, Row, TableName } from '../../schemas/tables.ts'
import type { Components } from '../components/components.ts'
import { type Added, type SimulatedRows, addRows, sumOf } from './rows.ts'
import { SIMULATED_AGENTS, answersOfAgents, roundStartsAt } from './simulated-agents.ts'
import {
  PEOPLE,
  SIMULATED_IDS,
  type SimulatedQuestion,
  type Simulation,
  WEEK_MS,
  forecastsOn,
  questionsOfWeeks,
  questionsOpenForAWeek,
} from './world.ts'

/** A forecast of an agent. */
export interface Submission {
  /** The index of the agent. */
  agent: number
  questionId: string
  probability: number
  at: Date
}

export interface SimulatedHistory extends SimulatedRows {
  /** In the order of their times. */
  submissions: readonly Submission[]
}

/** Simulates the weeks before the start, and the questions that stay open for a week after it. */
export function simulateHistory(world: Simulation): SimulatedHistory {
  const resolved = questionsOfWeeks(world).flat()
  const forecasts = resolved.flatMap((question) => forecastsOn(world, question, PEOPLE))
  return {
    forecasters: PEOPLE,
    questions: [...resolved, ...questionsOpenForAWeek(world)],
    forecasts,
    resolved,
    submissions: submissionsOn(resolved, answersOfAgents(world.seed, resolved, forecasts)),
  }
}

function submissionsOn(
  questions: readonly SimulatedQuestion[],
  agents: ReturnType<typeof answersOfAgents>,
): Submission[] {
  const byId = new Map(questions.map((question) => [question.questionId, question]))
  return agents
    .flatMap(({ rounds }, agent) =>
      rounds.flatMap((answers, round) =>
        answers.map((answer) => ({
          agent,
          ...answer,
          at: roundStartsAt(byId.get(answer.questionId)!, round),
        })),
      ),
    )
    .sort((a, b) => a.at.getTime() - b.at.getTime())
}

/**
 * Returns the time of an agent's registration. Agents register one after another before the first question,
 * because an owner's first agent is a voice and is judged at the mildest level.
 */
function registeredAt(world: Simulation, agent: number): Date {
  const openedMs = Date.parse(world.started_at) - (world.weeks ?? 0) * WEEK_MS
  return new Date(openedMs - (SIMULATED_AGENTS.length - agent) * 1000)
}

export function agentIdIn(world: Simulation, agent: number): string {
  return idAt(registeredAt(world, agent), `agent ${world.seed} ${agent}`)
}

/** Returns an id as the service would have made it at an instant, the same each time. */
function idAt(at: Date, name: string): string {
  return uuidv7({ msecs: at.getTime(), random: parse(uuidv5(name, SIMULATED_IDS)) })
}

/**
 * Adds the weeks to the tables. Added again, they count once. All but the last are recorded a week before the
 * start, so that the tables can show what was known at different times.
 */
export async function addHistory(components: Components, world: Simulation): Promise<Added> {
  const history = simulateHistory(world)
  const lastWeek = history.resolved.at(-1)!.openedAt
  const earlier = { ...components, now: () => lastWeek }
  const isEarlier = ({ closesAt }: SimulatedQuestion) => closesAt <= lastWeek
  const added = await withDatabase(components.openDatabase, async (database) => {
    const before = await addRows(earlier, database, rowsOn(history, isEarlier), { onlyUnknown: true })
    const last = await addRows(
      components,
      database,
      rowsOn(history, (each) => !isEarlier(each)),
      {
        onlyUnknown: true,
      },
    )
    return sumOf(before, last)
  })
  const agents = SIMULATED_AGENTS.map((_, agent) => agentRow(world, agent))
  await record(components, 'agents', agents)
  const rows = history.submissions.map((submission) =>
    forecastRow(agents[submission.agent]!.agent_id, submission),
  )
  await record(components, 'forecasts', rows)
  return { ...added, forecasts: added.forecasts + rows.length }
}

function rowsOn(
  { forecasters, questions, forecasts, resolved }: SimulatedHistory,
  isWanted: (question: SimulatedQuestion) => boolean,
): SimulatedRows {
  const wanted = questions.filter(isWanted)
  const ids = new Set(wanted.map(({ questionId }) => questionId))
  return {
    forecasters,
    questions: wanted,
    forecasts: forecasts.filter(({ questionId }) => ids.has(questionId)),
    resolved: resolved.filter(isWanted),
  }
}

function agentRow(world: Simulation, agent: number): AgentRow {
  const { name, traits, owner } = SIMULATED_AGENTS[agent]!
  const at = registeredAt(world, agent)
  return {
    agent_id: agentIdIn(world, agent),
    name,
    model_type: traits,
    organization_name: null,
    owner_id: owner,
    registered_at: at,
    retired_at: null,
    recorded_at: at,
  }
}

function forecastRow(entity_id: string, { questionId, probability, at }: Submission): ForecastRow {
  return {
    forecast_id: idAt(at, `${entity_id} ${questionId}`),
    question_id: questionId,
    probability,
    entity_type: 'agent',
    entity_id,
    forecast_at: at,
    recorded_at: at,
    source: 'api',
  }
}

/** Writes rows as the service does when agents send them. */
async function record(components: Components, table: TableName, rows: readonly Row[]): Promise<void> {
  const { settings, store, newId, monotonicMs } = components
  const limits = { queueLimit: rows.length, timeoutMs: settings.COMMIT_TIMEOUT_MS }
  const inbox = new GroupCommit(table, limits, { store, newId, monotonicMs })
  await inbox.submit(...rows)
  await inbox.close()
}
