// A small released world: a question in every state, and people and an agent with enough resolved questions for a rank.
import type { Components } from '../../jobs/components.ts'
import type { ReleaseRequest } from '../../pipeline/release/make.ts'
import { importRows, registerAgent, release, startTestService } from './service.ts'

/** The time of the tests that use this world. */
export const NOW = '2026-03-01T12:00:00.000Z'

export const uuidOf = (kind: number, number: number): string =>
  `00000000-0000-4000-8${String(kind).padStart(3, '0')}-${number.toString(16).padStart(12, '0')}`

const RESOLVED = 52
export const FORECASTERS = 6

/** The questions that are not simply resolved. */
export const QUESTION = {
  resolved: uuidOf(1, 0),
  annulled: uuidOf(1, 1000),
  open: uuidOf(1, 1001),
  closed: uuidOf(1, 1002),
  upcoming: uuidOf(1, 1003),
}
export const forecasterId = (index: number): string => uuidOf(2, index)

const DAY_MS = 86_400_000
const at = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * DAY_MS).toISOString()

export const QUESTIONS_CSV = [
  'question_id,title,category,url,opened_at,closes_at',
  ...Array.from(
    { length: RESOLVED },
    (_, index) => `${uuidOf(1, index)},"Question ""${index}""",simulated,,${at(0)},${at(30)}`,
  ),
  `${QUESTION.annulled},Annulled?,simulated,,${at(0)},${at(30)}`,
  `${QUESTION.open},Open?,,https://example.org/open,${at(0)},${at(400)}`,
  `${QUESTION.closed},Closed?,,,${at(0)},${at(40)}`,
  `${QUESTION.upcoming},Upcoming?,,,${at(300)},${at(400)}`,
  '',
].join('\n')

const outcomeOf = (index: number) => (index % 3 === 0 ? 'yes' : 'no')

export const RESOLUTIONS_CSV = [
  'question_id,outcome,resolved_at',
  ...Array.from(
    { length: RESOLVED },
    (_, index) => `${uuidOf(1, index)},${outcomeOf(index)},${at(20 + (index % 15))}`,
  ),
  `${QUESTION.annulled},annulled,${at(25)}`,
  '',
].join('\n')

const FORECAST_COLUMNS = 'entity_type,entity_id,question_id,probability,forecast_at'

/** Two forecasts by each forecaster on every resolved question. Those with lower numbers are nearer to the outcome. */
function forecastLines(type: string, id: string, rank: number): string[] {
  return Array.from({ length: RESOLVED }, (_, index) => {
    const wrong = ((rank + 1) * (1 + (index % 4))) / (5 * FORECASTERS)
    const probability = (share: number) => (outcomeOf(index) === 'yes' ? 1 - share : share).toFixed(6)
    return [
      `${type},${id},${uuidOf(1, index)},${probability(Math.min(1, wrong + 0.05))},${at(1 + rank)}`,
      `${type},${id},${uuidOf(1, index)},${probability(wrong)},${at(10 + rank)}`,
    ]
  }).flat()
}

export const FORECAST_LINES = Array.from({ length: FORECASTERS }, (_, index) =>
  forecastLines('forecaster', forecasterId(index), index),
).flat()

export const csvOf = (lines: readonly string[]): string => [FORECAST_COLUMNS, ...lines, ''].join('\n')

/** Imports the questions, the outcomes and the forecasts of people. */
export async function importWorld(components: Components): Promise<void> {
  await importRows(components, 'questions', QUESTIONS_CSV)
  await importRows(components, 'resolutions', RESOLUTIONS_CSV)
  await importRows(components, 'forecasts', csvOf(FORECAST_LINES))
}

/** Registers an agent over HTTP, imports the world and releases it. */
export async function releaseWorld(
  components: Components,
  request: ReleaseRequest = {},
): Promise<{ agentId: string; key: string }> {
  const service = await startTestService(components)
  const agent = await registerAgent(service.client)
  await service.stop()
  await importWorld(components)
  await importRows(components, 'forecasts', csvOf(forecastLines('agent', agent.agentId, 2)))
  await release(components, request)
  return agent
}
