// The steps of `fvs demo` in order: agents that register and submit over HTTP week by week, their owners,
// people's forecasts, outcomes, releases.
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
import type { Credentials, DemoClient } from './client.ts'
import {
  DEMO_AGENTS,
  OWNERS,
  ROUNDS,
  type SimulatedAgent,
  type Submission,
  roundStartsAt,
  simulateAgents,
  submissionsOf,
} from './agents.ts'
import type { DemoClock } from './clock.ts'
import { type ForecastQuestions, DEMO_FORECASTERS, simulateOpen } from './world.ts'
import { type SimulatedRows, addRows } from '../sandbox/rows.ts'
import { SEED_DEFAULTS, seedSandbox } from '../sandbox/seed.ts'
import type { SimulatedQuestion } from '../sandbox/world.ts'

const POLL_MS = 100
const REQUESTS_AT_ONCE = 128
/** The earlier releases are made this many weeks before the end, so that there is a history to look at. */
const EARLIER_RELEASES_WEEKS = [2, 1]

export interface Stage {
  /** The components of the sandbox. */
  components: Components
  client: DemoClient
  /** The clock of the components, at the opening of the first week. */
  clock: DemoClock
  /** The questions of the weeks, and people's forecasts on them. */
  weeks: ForecastQuestions
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
  const { components, client, clock, weeks, say } = stage
  say(`fvs import: ${DEMO_FORECASTERS.length} people, ${weeks.questions.length} questions`)
  await add(stage, { forecasters: DEMO_FORECASTERS, questions: weeks.questions })
  const agents = await registerAgents(stage)
  const played = await playWeeks(stage, agents)

  clock.catchUp()
  const open = simulateOpen(clock.now())
  say(`fvs import: ${open.length} questions that stay open for a week`)
  await add(stage, { questions: open })
  await resolve(stage, played.unresolved)
  const refusal = await submitTooLate(stage, agents[0]!)
  say('fvs sandbox seed')
  await seedSandbox(components, SEED_DEFAULTS)
  const made = await release(stage)

  say('GET /log/checkpoint, until it covers the release')
  await until(stage, async () => (await client.loggedReleases()) >= made)
  say('fvs keys create --tier pro')
  const pro = { tier: 'pro', monthly_calls: null } as const
  const key = await components.registry.createClientKey('the demo', components.now(), pro)
  say('POST /verification/bulk, once the release is served')
  const people = DEMO_FORECASTERS.map(({ userId, name, noise, news }) => ({
    id: userId,
    name,
    traits: `simulated: noise ${noise.toFixed(2)}${news === undefined ? '' : ', much news of its own'}`,
    owner: null,
  }))
  const scored = await placesOf(stage, key, made, 'agent', agents)
  for (const { name, id, verification } of scored) {
    const answered = played.answered.get(id)
    if (verification.resolved_questions === answered) continue
    throw new ServiceError(
      'corrupt',
      `${name} answered ${answered} questions, and release ${made} scores ${verification.resolved_questions} of them`,
    )
  }
  return {
    questions: { asked: weeks.questions.length, weeks: played.weeks, open: open.length },
    forecasts: { submitted: played.submitted, imported: weeks.forecasts.length },
    /** The answer to an agent that submits after the outcome. */
    refusal,
    /** A question that is still open. */
    open_question_id: open[0]!.questionId,
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

/**
 * Lets every agent submit its probabilities, week by week, at the times at which it makes them, and makes the
 * earlier releases. Returns the number of forecasts, by the id of an agent the number of questions that it
 * answered, and the questions that have no outcome yet.
 */
async function playWeeks(stage: Stage, agents: readonly RegisteredAgent[]) {
  const { client, clock, weeks, say } = stage
  const first = weeks.questions[0]!
  await until(stage, async () => (await client.questionStatus(first.questionId)) === 'open')
  const simulated = simulateAgents(weeks)
  const byWeek = [...Map.groupBy(weeks.questions, ({ openedAt }) => openedAt.getTime()).values()]
  const all: Submission[] = []
  let unresolved: SimulatedQuestion[] = []
  for (const [week, questions] of byWeek.entries()) {
    const rounds = roundsOf(questions, simulated)
    const count = rounds.reduce((sum, { submissions }) => sum + submissions.length, 0)
    say(
      `POST /agents/{agent_id}/forecast for each of ${count} forecasts, week ${week + 1} of ${byWeek.length}`,
    )
    for (const { startsAt, submissions } of rounds) {
      clock.moveTo(startsAt)
      await submit(stage, agents, submissions)
      all.push(...submissions)
    }
    unresolved.push(...questions)
    if (!EARLIER_RELEASES_WEEKS.includes(byWeek.length - 1 - week)) continue
    clock.moveTo(questions[0]!.closesAt)
    await resolve(stage, unresolved)
    unresolved = []
    await release(stage)
  }
  const questionsOf = (place: number) =>
    new Set(all.flatMap(({ agent, questionId }) => (agent === place ? [questionId] : []))).size
  return {
    weeks: byWeek.length,
    submitted: all.length,
    answered: new Map(agents.map(({ id }, place) => [id, questionsOf(place)])),
    unresolved,
  }
}

/** Adds people's forecasts on questions that have closed, and the outcomes. */
async function resolve(stage: Stage, questions: readonly SimulatedQuestion[]): Promise<void> {
  const ids = new Set(questions.map(({ questionId }) => questionId))
  const forecasts = stage.weeks.forecasts.filter(({ questionId }) => ids.has(questionId))
  stage.say(`fvs import: ${forecasts.length} forecasts of people, and ${questions.length} outcomes`)
  await add(stage, { forecasts, resolved: questions })
}

/** Returns the rounds of questions that open and close together. */
function roundsOf(questions: ForecastQuestions['questions'], agents: readonly SimulatedAgent[]) {
  return Array.from({ length: ROUNDS }, (_, round) => ({
    startsAt: roundStartsAt(questions[0]!, round),
    submissions: submissionsOf(questions, agents, round),
  }))
}

/** @throws ServiceError `conflict` if any was refused. */
async function submit(
  { client, signal }: Stage,
  agents: readonly RegisteredAgent[],
  submissions: readonly Submission[],
): Promise<void> {
  const post = async ({ agent, questionId, probability }: Submission) => {
    const { name, credentials } = agents[agent]!
    const answer = await client.submit(credentials, questionId, probability)
    if ('forecast_id' in answer) return
    throw new ServiceError('conflict', `a forecast of ${name} was refused: ${answer.detail}`)
  }
  await pMap(submissions, post, { concurrency: REQUESTS_AT_ONCE, signal })
}

/** Returns what the service says to an agent that submits after the outcome. */
async function submitTooLate(stage: Stage, { credentials }: RegisteredAgent): Promise<string> {
  const { client, weeks, say } = stage
  const { questionId } = weeks.questions.at(-1)!
  await until(stage, async () => (await client.questionStatus(questionId)) === 'resolved')
  say('one more forecast is submitted, too late')
  const late = await client.submit(credentials, questionId, 0.99)
  if ('detail' in late) return late.detail
  throw new ServiceError('corrupt', 'a forecast on a resolved question was accepted')
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

async function release({ components, say }: Stage): Promise<number> {
  say('fvs release')
  const made = await makeRelease(components)
  if (!made.made) throw new ServiceError('conflict', `another job is at work on ${components.store.url}`)
  await completeLog(components, made.release)
  await issueCredentials(components, made.release)
  return made.release
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
