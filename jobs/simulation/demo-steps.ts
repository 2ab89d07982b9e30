// The steps of `fvs demo` in order: a history, agents that register and submit over HTTP, their owners,
// outcomes, a release.
import { setTimeout as pause } from 'node:timers/promises'
import pMap from 'p-map'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { assignOwner } from '../../pipeline/import/agents.ts'
import { makeRelease } from '../../pipeline/release/make.ts'
import { issueCredentials } from '../../pipeline/credentials/issue.ts'
import { completeLog } from '../../pipeline/transparency/publish.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { Components } from '../components/components.ts'
import type { Credentials, DemoClient } from './demo-client.ts'
import {
  DEMO_AGENTS,
  OWNERS,
  ROUNDS,
  ROUND_MS,
  leastOpenMs,
  type Submission,
  simulateAgents,
  submissionsOf,
} from './demo-agents.ts'
import {
  type ForecastQuestions,
  DEMO_FORECASTERS,
  simulateLive,
  simulateOpen,
  simulatePast,
} from './demo-world.ts'
import { type SimulatedRows, addRows } from './rows.ts'
import { SEED_DEFAULTS } from './seed-options.ts'
import { seedSandbox } from './seed.ts'

/** The planned life of the live questions; they close and resolve as soon as every agent has answered. */
const LIVE_MS = 3_600_000
const POLL_MS = 100
const REQUESTS_AT_ONCE = 48
const DAY_MS = 86_400_000
/** The earlier releases are as of this many days ago, so that there is a history to look at. */
const EARLIER_RELEASES_DAYS = [4, 2]

export interface Stage {
  /** The components of the sandbox. */
  components: Components
  client: DemoClient
  /** Says what comes next. @throws the reason of `signal` once the demo has been told to end. */
  say: (text: string) => void
  /** Ends the demo at any step. */
  signal: AbortSignal
}

/** An entity with its name and how it was simulated. */
interface Entrant {
  id: string
  name: string
  traits: string
  /** Null for people, and for agents without a recorded owner. */
  owner: string | null
}

export type Played = Awaited<ReturnType<typeof playDemo>>
export type RankedEntity = Played['agents'][number]

export async function playDemo(stage: Stage) {
  const { components, client, say } = stage
  say('fvs sandbox seed')
  await seedSandbox(components, SEED_DEFAULTS)
  const past = simulatePast(new Date())
  say(
    `fvs import: ${past.questions.length} questions that are over, ${past.forecasts.length} forecasts of ${DEMO_FORECASTERS.length} people`,
  )
  await add(stage, { forecasters: DEMO_FORECASTERS, ...past, resolved: past.questions })
  for (const days of EARLIER_RELEASES_DAYS) await release(stage, new Date(Date.now() - days * DAY_MS))

  const agents = await registerAgents(stage)
  const live = await playLive(stage, agents)
  const made = await release(stage)

  say('GET /log/checkpoint, until it covers the release')
  await until(stage, async () => (await client.loggedReleases()) >= made)
  say('fvs keys create --tier pro')
  const pro = { tier: 'pro', monthly_calls: null } as const
  const key = await components.registry.createClientKey('the demo', components.now(), pro)
  say('POST /verification/bulk, once the release is served')
  const people = DEMO_FORECASTERS.map(({ userId, name, noise }) => ({
    id: userId,
    name,
    traits: `simulated: noise ${noise.toFixed(2)}`,
    owner: null,
  }))
  const scored = await placesOf(stage, key, made, 'agent', agents)
  for (const { name, id, verification } of scored) {
    const answered = live.answered.get(id)
    if (verification.resolved_questions === answered) continue
    throw new ServiceError(
      'corrupt',
      `${name} answered ${answered} questions, and release ${made} scores ${verification.resolved_questions} of them`,
    )
  }
  return {
    questions: { past: past.questions.length, ...live.questions },
    forecasts: { submitted: live.submitted, imported: past.forecasts.length + live.imported },
    /** The answer to an agent that submits after the outcome. */
    refusal: live.refusal,
    /** A question that is still open. */
    open_question_id: live.openQuestionId,
    release: made,
    agents: scored,
    forecasters: await placesOf(stage, key, made, 'forecaster', people),
    owners: await pMap(Object.values(OWNERS), (id) => client.owner(id)),
  }
}

type RegisteredAgent = Entrant & { credentials: Credentials }

/**
 * Registers agents one after another, because the first agent of an owner is a voice, and later ones are
 * judged at stricter levels.
 */
async function registerAgents(stage: Stage): Promise<RegisteredAgent[]> {
  const { client, say, signal } = stage
  say(`POST /agents/register for each of ${DEMO_AGENTS.length} agents`)
  const agents: RegisteredAgent[] = []
  for (const agent of DEMO_AGENTS) {
    signal.throwIfAborted()
    const credentials = await client.register(agent.name, agent.traits)
    agents.push({ ...agent, id: credentials.agent_id, credentials })
  }
  await assignOwners(stage, agents)
  return agents
}

/** Asks the agents questions, lets each agent answer, and then closes and resolves the questions. */
async function playLive(stage: Stage, agents: readonly RegisteredAgent[]) {
  const { client, say } = stage
  const opensAt = new Date()
  const asked = simulateLive(opensAt, LIVE_MS)
  const open = simulateOpen(opensAt)
  say(
    `fvs import: ${asked.questions.length} questions that are open until all agents have answered, ${open.length} for a week`,
  )
  await add(stage, { questions: [...asked.questions, ...open] })
  const { questionId } = asked.questions[0]!
  await until(stage, async () => (await client.questionStatus(questionId)) === 'open')
  const { submitted, answered, twoRoundsAt } = await submitRounds(stage, asked, agents)
  const passedMs = Date.now() - opensAt.getTime()
  const liveMs = leastOpenMs(passedMs, twoRoundsAt.getTime() - opensAt.getTime())
  await pause(liveMs - passedMs, undefined, { signal: stage.signal })
  // The same questions with their close brought forward: it is their scheduled life that coverage is measured
  // by.
  const over = simulateLive(opensAt, liveMs)
  say(
    `fvs import: the close of the live questions, ${over.forecasts.length} forecasts of people, and the outcomes`,
  )
  await add(stage, { ...over, resolved: over.questions })
  await until(stage, async () => (await client.questionStatus(questionId)) === 'resolved')
  say('one more forecast is submitted, too late')
  const late = await client.submit(agents[0]!.credentials, questionId, 0.99)
  if (!('detail' in late)) throw new ServiceError('corrupt', 'a forecast on a resolved question was accepted')
  return {
    questions: {
      live: asked.questions.length,
      open: open.length,
      live_for_seconds: Math.round(liveMs / 1000),
    },
    submitted,
    answered,
    imported: over.forecasts.length,
    refusal: late.detail,
    openQuestionId: open[0]!.questionId,
  }
}

async function add({ components }: Stage, rows: Partial<SimulatedRows>): Promise<void> {
  await withDatabase(components.openDatabase, (database) => addRows(components, database, rows))
}

async function assignOwners({ components, say }: Stage, agents: readonly RegisteredAgent[]): Promise<void> {
  await withDatabase(components.openDatabase, async (database) => {
    for (const owner of Object.values(OWNERS)) {
      const own = agents.filter((agent) => agent.owner === owner)
      say(`fvs agents assign, ${own.length} of the agents to --owner ${owner}`)
      const ids = own.map(({ id }) => id)
      await assignOwner({ ...components, database }, ids, owner)
    }
  })
}

async function release({ components, say }: Stage, asOf?: Date): Promise<number> {
  say(asOf ? `fvs release --as-of ${asOf.toISOString()}` : 'fvs release')
  const made = await makeRelease(components, { asOf })
  if (!made.made) throw new ServiceError('conflict', `another job is at work on ${components.store.url}`)
  await completeLog(components, made.release)
  await issueCredentials(components, made.release)
  return made.release
}

/**
 * Submits every agent's probabilities, round by round. Returns the number of forecasts and, by the id of an
 * agent, the number of questions that it answered.
 *
 * @throws ServiceError `conflict` if any was refused.
 */
async function submitRounds(
  { say, client, signal }: Stage,
  live: ForecastQuestions,
  agents: readonly RegisteredAgent[],
) {
  const simulated = simulateAgents(live)
  const all: Submission[] = []
  let twoRoundsAt = new Date()
  for (let round = 0; round < ROUNDS; round++) {
    const roundIsOver = pause(ROUND_MS, undefined, { signal })
    const submissions = submissionsOf(live, simulated, round)
    say(
      `POST /agents/{agent_id}/forecast for each of ${submissions.length} forecasts, round ${round + 1} of ${ROUNDS}`,
    )
    const submit = async ({ agent, questionId, probability }: Submission) => {
      const { name, credentials } = agents[agent]!
      const answer = await client.submit(credentials, questionId, probability)
      if ('forecast_id' in answer) return
      throw new ServiceError('conflict', `a forecast of ${name} was refused: ${answer.detail}`)
    }
    await Promise.all([pMap(submissions, submit, { concurrency: REQUESTS_AT_ONCE, signal }), roundIsOver])
    all.push(...submissions)
    if (round === 1) twoRoundsAt = new Date()
  }
  const questionsOf = (place: number) =>
    new Set(all.flatMap(({ agent, questionId }) => (agent === place ? [questionId] : []))).size
  return {
    submitted: all.length,
    /** When the second round was over. */
    twoRoundsAt,
    answered: new Map(agents.map(({ id }, place) => [id, questionsOf(place)])),
  }
}

/**
 * Asks until the service serves the release. Returns the most skilled entities first, and those without a
 * skill last.
 */
async function placesOf(
  stage: Stage,
  apiKey: string,
  released: number,
  entityType: EntityType,
  entrants: readonly Entrant[],
) {
  const { client } = stage
  const ids = entrants.map(({ id }) => id)
  let current: Awaited<ReturnType<DemoClient['verifications']>> = []
  await until(stage, async () => {
    const results = await client.verifications(apiKey, entityType, ids)
    current = results.filter(({ verification }) => verification.release === released)
    return current.length === entrants.length
  })
  const places = await pMap(
    entrants,
    // Takes only these fields, because the result is printed, and an agent has a key.
    async ({ id, name, traits, owner }, place) => {
      const { verification, signature } = current[place]!
      const { rank, rank_interval, board_interval, pool } = await client.rankings(entityType, id)
      return { id, name, traits, owner, verification, signature, rank, rank_interval, board_interval, pool }
    },
    { concurrency: REQUESTS_AT_ONCE },
  )
  return places.sort((a, b) => (b.verification.skill ?? -Infinity) - (a.verification.skill ?? -Infinity))
}

/** Asks again and again, until the answer is yes or the demo is told to end. */
async function until({ signal }: Stage, isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(POLL_MS, undefined, { signal })
}
