// The steps of `fvs demo` in order: a history, agents who register and submit over HTTP, outcomes, a release.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pMap from 'p-map'
import { makeRelease } from '../../pipeline/release/make.ts'
import type { ImportKind } from '../../pipeline/import/checks.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Components } from '../components.ts'
import type { Credentials, DemoClient } from './demo-client.ts'
import {
  FORECASTERS,
  type LiveWorld,
  ROUNDS,
  type SimulatedAgent,
  simulateLive,
  simulatePast,
} from './demo-world.ts'
import { runImport } from '../import.ts'
import { releaseContext } from '../release.ts'
import { forecastRow, forecasterRow, questionRow, resolutionRow } from './simulated.ts'

/** How long the live questions are open, and how long before that their import begins. */
const WINDOW_MS = 6_000
const LEAD_MS = 1_000
const REQUESTS_AT_ONCE = 48
const DAY_MS = 86_400_000
/** How many days back the earlier releases speak of, so that there is a history to look at. */
const EARLIER_RELEASES_DAYS = [4, 2]

export interface Stage {
  components: Components
  client: DemoClient
  /** For the files that are imported. */
  folder: string
  /** Tells what comes next. @throws the reason for which the demo is to end, if it is. */
  say: (text: string) => void
  /** Ends the demo wherever it is. */
  signal: AbortSignal
}

export type RegisteredAgent = SimulatedAgent & { credentials: Credentials }

export interface Played {
  agents: RegisteredAgent[]
  questions: { past: number; live: number; open: number; live_for_seconds: number }
  forecasts: { submitted: number; imported: number }
  /** What an agent is told that submits after the close. */
  refusal: string
  /** A question that is still open. */
  openQuestionId: string
  release: number
}

export async function playDemo(stage: Stage): Promise<Played> {
  const past = simulatePast(new Date())
  await importPast(stage, past)
  for (const days of EARLIER_RELEASES_DAYS) await release(stage, new Date(Date.now() - days * DAY_MS))

  const live = simulateLive(new Date(Date.now() + LEAD_MS), WINDOW_MS)
  const { questions, staysOpen } = live
  await importRows(stage, 'questions', 'live-questions', [...questions, ...staysOpen].map(questionRow))
  const agents = await registerAgents(stage, live)
  const submitted = await submitRounds(stage, live, agents)
  const refusal = await submitLate(stage, live, agents[0]!)

  stage.say(`the outcomes of the ${questions.length} live questions become known`)
  await importRows(stage, 'forecasts', 'live-forecasts', live.forecasts.map(forecastRow))
  await importRows(stage, 'resolutions', 'live-resolutions', questions.map(resolutionRow))
  return {
    agents,
    questions: {
      past: past.questions.length,
      live: questions.length,
      open: staysOpen.length,
      live_for_seconds: WINDOW_MS / 1000,
    },
    forecasts: { submitted, imported: past.forecasts.length + live.forecasts.length },
    refusal,
    openQuestionId: staysOpen[0]!.questionId,
    release: await release(stage),
  }
}

async function importPast(
  stage: Stage,
  { questions, forecasts }: ReturnType<typeof simulatePast>,
): Promise<void> {
  const forecasters = FORECASTERS.map(forecasterRow)
  stage.say(
    `${questions.length} simulated questions that are over, ${forecasters.length} simulated forecasters`,
  )
  await importRows(stage, 'questions', 'past-questions', questions.map(questionRow))
  await importRows(stage, 'forecasters', 'forecasters', forecasters)
  await importRows(stage, 'forecasts', 'past-forecasts', forecasts.map(forecastRow))
  await importRows(stage, 'resolutions', 'past-resolutions', questions.map(resolutionRow))
}

function registerAgents({ say, client }: Stage, { agents }: LiveWorld): Promise<RegisteredAgent[]> {
  say(`POST /agents/register for each of ${agents.length} simulated agents`)
  return pMap(agents, async (agent) => ({ ...agent, credentials: await client.register(agent) }))
}

/** Each agent says in each round what it thinks by then. Returns how many forecasts were accepted. */
async function submitRounds(
  { say, client, signal }: Stage,
  { questions }: LiveWorld,
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
  { questions }: LiveWorld,
  agent: RegisteredAgent,
): Promise<string> {
  say('the live questions have closed; one more forecast is submitted, too late')
  const answer = await client.submit(agent.credentials, questions[0]!.questionId, 0.99)
  if ('refused' in answer) return answer.refused
  throw new ServiceError('corrupt', 'a forecast on a closed question was accepted')
}

async function importRows(
  { components, folder, say }: Stage,
  kind: ImportKind,
  name: string,
  rows: readonly Record<string, string | number>[],
): Promise<void> {
  const file = join(folder, `${name}.csv`)
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
  await writeFile(file, lines.map((cells) => `${cells.join(',')}\n`).join(''))
  say(`fvs import ${kind} ${name}.csv`)
  await runImport(components, kind, file)
}

async function release({ components, say }: Stage, asOf?: Date): Promise<number> {
  say(asOf ? `fvs release --as-of ${asOf.toISOString()}` : 'fvs release')
  const made = await makeRelease(releaseContext(components), { asOf })
  if (made.made) return made.release
  throw new ServiceError('conflict', `another job is at work on ${components.store.url}`)
}

async function until(time: Date, signal: AbortSignal): Promise<void> {
  await pause(Math.max(0, time.getTime() - Date.now()), undefined, { signal })
}
