// The steps of `fvs demo` in order: a history, agents that register and submit over HTTP, their owners, outcomes, a release.
import { setTimeout as pause } from 'node:timers/promises'
import pMap from 'p-map'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { assignOwner } from '../../pipeline/import/agents.ts'
import { makeRelease } from '../../pipeline/release/make.ts'
import { completeLog } from '../../pipeline/transparency/publish.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { Components } from '../components.ts'
import type { Credentials, DemoClient } from './demo-client.ts'
import { OWNERS, ROUNDS, type SimulatedAgent, simulateAgents } from './demo-agents.ts'
import { DEMO_FORECASTERS, simulateLive, simulateOpen, simulatePast } from './demo-world.ts'
import { type SimulatedRows, addRows } from './rows.ts'
import { SEED_DEFAULTS } from './seed-options.ts'
import { seedSandbox } from './seed.ts'

/** How long the live questions are open, and how long before that they are imported. */
const WINDOW_MS = 6_000
const LEAD_MS = 1_500
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

/** An entity with its name and how it was simulated. */
interface Entrant {
  id: string
  name: string
  traits: string
  /** Null for people, and for agents without a recorded owner. */
  owner: string | null
}

export type Played = Awaited<ReturnType<typeof playDemo>>
export type Placed = Played['agents'][number]

export async function playDemo(stage: Stage) {
  const { components, client, say, signal } = stage
  say('fvs sandbox seed')
  await seedSandbox(components, SEED_DEFAULTS)
  const past = simulatePast(new Date())
  say(
    `fvs import: ${past.questions.length} questions that are over, ${past.forecasts.length} forecasts of ${DEMO_FORECASTERS.length} people`,
  )
  await add(stage, { forecasters: DEMO_FORECASTERS, ...past, resolved: past.questions })
  for (const days of EARLIER_RELEASES_DAYS) await release(stage, new Date(Date.now() - days * DAY_MS))

  const opensAt = new Date(Date.now() + LEAD_MS)
  const live = simulateLive(opensAt, WINDOW_MS)
  const open = simulateOpen(opensAt)
  say(
    `fvs import: ${live.questions.length} questions that are open for ${WINDOW_MS / 1000} seconds, ${open.length} for a week`,
  )
  await add(stage, { questions: [...live.questions, ...open] })
  const simulated = simulateAgents(live)
  say(`POST /agents/register for each of ${simulated.length} agents`)
  const register = async (agent: SimulatedAgent) => ({
    ...agent,
    credentials: await client.register(agent.name, agent.traits),
  })
  // One after another, because the first agent of an owner is a voice, and later ones are judged at stricter levels.
  const agents = await pMap(simulated, register, { concurrency: 1, signal })
  await assignOwners(stage, agents)
  const submitted = await submitRounds(stage, opensAt, agents)
  await until(opensAt.getTime() + WINDOW_MS, signal)
  say('the live questions have closed; one more forecast is submitted, too late')
  const late = await client.submit(agents[0]!.credentials, live.questions[0]!.questionId, 0.99)
  if (!('detail' in late)) throw new ServiceError('corrupt', 'a forecast on a closed question was accepted')
  say(`fvs import: ${live.forecasts.length} forecasts of people, and the outcomes of the live questions`)
  await add(stage, { forecasts: live.forecasts, resolved: live.questions })
  const made = await release(stage)

  say('GET /log/checkpoint, until it covers the release')
  while ((await client.loggedReleases()) < made) await pause(100, undefined, { signal })
  say('fvs keys create --tier pro')
  const pro = { tier: 'pro', monthly_calls: null } as const
  const key = await components.registry.createClientKey('the demo', components.now(), pro)
  say('POST /verification/bulk, once the release is served')
  const entrants = agents.map(({ credentials, name, traits, owner }) => ({
    id: credentials.agent_id,
    name,
    traits,
    owner,
  }))
  const people = DEMO_FORECASTERS.map(({ userId, name, noise }) => ({
    id: userId,
    name,
    traits: `simulated: noise ${noise.toFixed(2)}`,
    owner: null,
  }))
  return {
    questions: {
      past: past.questions.length,
      live: live.questions.length,
      open: open.length,
      live_for_seconds: WINDOW_MS / 1000,
    },
    forecasts: { submitted, imported: past.forecasts.length + live.forecasts.length },
    /** What the service tells an agent that submits after the close. */
    refusal: late.detail,
    /** A question that is still open. */
    open_question_id: open[0]!.questionId,
    release: made,
    agents: await placesOf(stage, key, made, 'agent', entrants),
    forecasters: await placesOf(stage, key, made, 'forecaster', people),
    owners: await pMap(Object.values(OWNERS), (id) => client.owner(id)),
  }
}

async function add({ components }: Stage, rows: Partial<SimulatedRows>): Promise<void> {
  await withDatabase(components.openDatabase, (database) => addRows(components, database, rows))
}

async function assignOwners(
  { components, say }: Stage,
  agents: readonly { credentials: Credentials; owner: string | null }[],
): Promise<void> {
  await withDatabase(components.openDatabase, async (database) => {
    for (const owner of Object.values(OWNERS)) {
      const own = agents.filter((agent) => agent.owner === owner)
      say(`fvs agents assign, ${own.length} of the agents to --owner ${owner}`)
      const ids = own.map(({ credentials }) => credentials.agent_id)
      await assignOwner({ ...components, database }, ids, owner)
    }
  })
}

async function release({ components, say }: Stage, asOf?: Date): Promise<number> {
  say(asOf ? `fvs release --as-of ${asOf.toISOString()}` : 'fvs release')
  const made = await makeRelease(components, { asOf })
  if (!made.made) throw new ServiceError('conflict', `another job is at work on ${components.store.url}`)
  await completeLog(components, made.release)
  return made.release
}

/** In each round each agent submits what it thinks by then. Returns how many forecasts were accepted. */
async function submitRounds(
  { say, client, signal }: Stage,
  opensAt: Date,
  agents: readonly (SimulatedAgent & { credentials: Credentials })[],
): Promise<number> {
  let accepted = 0
  for (let round = 0; round < ROUNDS; round++) {
    await until(opensAt.getTime() + (round * WINDOW_MS) / ROUNDS, signal)
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
    accepted += answers.filter((answer) => 'forecast_id' in answer).length
  }
  return accepted
}

/** Asks until the service serves the release. Returns the most skilled first, and those that are not eligible last. */
async function placesOf(
  { client, signal }: Stage,
  apiKey: string,
  released: number,
  entityType: EntityType,
  entrants: readonly Entrant[],
) {
  const ids = entrants.map(({ id }) => id)
  for (;;) {
    const results = await client.verifications(apiKey, entityType, ids)
    const current = results.filter(({ verification }) => verification.release === released)
    if (current.length === entrants.length) {
      const places = await pMap(
        entrants,
        async (entrant, place) => {
          const { verification, signature } = current[place]!
          const { rank, rank_interval } = await client.rankings(entityType, entrant.id)
          return { ...entrant, verification, signature, rank, rank_interval }
        },
        { concurrency: REQUESTS_AT_ONCE },
      )
      return places.sort((a, b) => (b.verification.skill ?? -Infinity) - (a.verification.skill ?? -Infinity))
    }
    await pause(100, undefined, { signal })
  }
}

async function until(ms: number, signal: AbortSignal): Promise<void> {
  await pause(Math.max(0, ms - Date.now()), undefined, { signal })
}
