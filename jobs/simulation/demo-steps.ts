// The steps of `fvs demo` in order: a history, agents that register and submit over HTTP, outcomes, a release.
import { setTimeout as pause } from 'node:timers/promises'
import pMap from 'p-map'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { makeRelease } from '../../pipeline/release/make.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Components } from '../components.ts'
import type { Credentials, DemoClient } from './demo-client.ts'
import {
  DEMO_FORECASTERS,
  ROUNDS,
  type SimulatedAgent,
  simulateAgents,
  simulateLive,
  simulateOpen,
  simulatePast,
} from './demo-world.ts'
import { type SimulatedRows, addRows } from './rows.ts'
import { SEED_DEFAULTS, seedSandbox } from './seed.ts'
import type { SimulatedQuestion } from './world.ts'

/** How long the live questions are open, and how long before that they are imported. */
const WINDOW_MS = 6_000
const LEAD_MS = 1_000
const REQUESTS_AT_ONCE = 48
const DAY_MS = 86_400_000
/** The earlier releases are as of this many days ago, so that there is a history to look at. */
const EARLIER_RELEASES_DAYS = [4, 2]

export interface Stage {
  /** The sandbox's. */
  components: Components
  client: DemoClient
  /** Says what comes next. @throws the reason of `signal` once the demo has been told to end. */
  say: (text: string) => void
  /** Ends the demo wherever it is. */
  signal: AbortSignal
}

export type RegisteredAgent = SimulatedAgent & { credentials: Credentials }

export interface Played {
  agents: RegisteredAgent[]
  questions: { past: number; live: number; open: number; live_for_seconds: number }
  forecasts: { submitted: number; imported: number }
  /** What the service tells an agent that submits after the close. */
  refusal: string
  /** A question that is still open. */
  open_question_id: string
  release: number
}

export async function playDemo(stage: Stage): Promise<Played> {
  stage.say('fvs sandbox seed')
  await seedSandbox(stage.components, SEED_DEFAULTS)
  const past = simulatePast(new Date())
  stage.say(
    `fvs import: ${past.questions.length} questions that are over, ${past.forecasts.length} forecasts of ${DEMO_FORECASTERS.length} people`,
  )
  await add(stage, { forecasters: DEMO_FORECASTERS, ...past, resolved: past.questions })
  for (const days of EARLIER_RELEASES_DAYS) await release(stage, new Date(Date.now() - days * DAY_MS))

  const opensAt = new Date(Date.now() + LEAD_MS)
  const { questions, forecasts } = simulateLive(opensAt, WINDOW_MS)
  const open = simulateOpen(opensAt)
  stage.say(
    `fvs import: ${questions.length} questions that are open for ${WINDOW_MS / 1000} seconds, ${open.length} for a week`,
  )
  await add(stage, { questions: [...questions, ...open] })
  const agents = await registerAgents(stage, simulateAgents(questions))
  const submitted = await submitRounds(stage, questions, agents)
  const refusal = await submitLate(stage, questions[0]!, agents[0]!)
  stage.say(`fvs import: ${forecasts.length} forecasts of people, and the outcomes of the live questions`)
  await add(stage, { forecasts, resolved: questions })
  return {
    agents,
    questions: {
      past: past.questions.length,
      live: questions.length,
      open: open.length,
      live_for_seconds: WINDOW_MS / 1000,
    },
    forecasts: { submitted, imported: past.forecasts.length + forecasts.length },
    refusal,
    open_question_id: open[0]!.questionId,
    release: await release(stage),
  }
}

async function add({ components }: Stage, rows: Partial<SimulatedRows>): Promise<void> {
  await withDatabase(components.openDatabase, (database) => addRows(components, database, rows))
}

function registerAgents(
  { say, client }: Stage,
  agents: readonly SimulatedAgent[],
): Promise<RegisteredAgent[]> {
  say(`POST /agents/register for each of ${agents.length} agents`)
  return pMap(agents, async (agent) => ({ ...agent, credentials: await client.register(agent) }))
}

/** In each round each agent submits what it thinks by then. Returns how many forecasts were accepted. */
async function submitRounds(
  { say, client, signal }: Stage,
  questions: readonly SimulatedQuestion[],
  agents: readonly RegisteredAgent[],
): Promise<number> {
  const { openedAt, closesAt } = questions[0]!
  let accepted = 0
  for (let round = 0; round < ROUNDS; round++) {
    await until(new Date(openedAt.getTime() + (round * WINDOW_MS) / ROUNDS), signal)
    const forecasts = agents.flatMap(({ credentials, rounds }) =>
      rounds[round]!.map((forecast) => ({ credentials, ...forecast })),
    )
    say(
      `POST /agents/{agent_id}/forecast for each of ${forecasts.length} forecasts, round ${round + 1} of ${ROUNDS}`,
    )
    const answers = await pMap(
      forecasts,
      ({ credentials, questionId, probability }) => client.submit(credentials, questionId, probability),
      { concurrency: REQUESTS_AT_ONCE, signal },
    )
    accepted += answers.filter((answer) => 'forecastId' in answer).length
  }
  await until(closesAt, signal)
  return accepted
}

async function submitLate(
  { say, client }: Stage,
  { questionId }: SimulatedQuestion,
  { credentials }: RegisteredAgent,
): Promise<string> {
  say('the live questions have closed; one more forecast is submitted, too late')
  const answer = await client.submit(credentials, questionId, 0.99)
  if ('refused' in answer) return answer.refused
  throw new ServiceError('corrupt', 'a forecast on a closed question was accepted')
}

async function release({ components, say }: Stage, asOf?: Date): Promise<number> {
  say(asOf ? `fvs release --as-of ${asOf.toISOString()}` : 'fvs release')
  const made = await makeRelease(components, { asOf })
  if (made.made) return made.release
  throw new ServiceError('conflict', `another job is at work on ${components.store.url}`)
}

async function until(time: Date, signal: AbortSignal): Promise<void> {
  await pause(Math.max(0, time.getTime() - Date.now()), undefined, { signal })
}
