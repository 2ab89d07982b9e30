// Two people who are certified, and eight who answer the same questions and know nothing: four questions a
// week for fifteen weeks, all settled before the sandbox of tests begins.
import type { Components } from '../../../jobs/components/components.ts'
import { importRows } from '../http/service.ts'
import { csvOf, uuidOf } from './world.ts'

/** The two who are certified. */
export const HOLDERS = [uuidOf(21, 0), uuidOf(21, 1)] as const
const PEERS = Array.from({ length: 8 }, (_, number) => uuidOf(22, number))

const QUESTIONS = 60
const A_WEEK = 4
const FIRST_WEEK = Date.UTC(2025, 9, 27)
const DAY_MS = 86_400_000

const questionId = (number: number) => uuidOf(23, number)
const outcomeOf = (number: number) => (number % 2 === 0 ? 'yes' : 'no')

/** An instant in the week of a question. */
const at = (number: number, day: number): string =>
  new Date(FIRST_WEEK + (7 * Math.floor(number / A_WEEK) + day) * DAY_MS).toISOString()

const numbers = Array.from({ length: QUESTIONS }, (_, number) => number)

const QUESTIONS_CSV = [
  'question_id,title,category,url,event_id,opened_at,closes_at',
  ...numbers.map(
    (number) => `${questionId(number)},Certified ${number}?,,,,${at(number, 0)},${at(number, 6)}`,
  ),
  '',
].join('\n')

const RESOLUTIONS_CSV = [
  'question_id,outcome,resolved_at',
  ...numbers.map((number) => `${questionId(number)},${outcomeOf(number)},${at(number, 6)}`),
  '',
].join('\n')

const FORECAST_LINES = numbers.flatMap((number) => [
  ...HOLDERS.map((id) => line(id, number, outcomeOf(number) === 'yes' ? 0.95 : 0.05)),
  ...PEERS.map((id, peer) => line(id, number, 0.3 + 0.05 * ((peer + number) % 9))),
])

function line(id: string, number: number, probability: number): string {
  return `forecaster,${id},${questionId(number)},${probability.toFixed(6)},${at(number, 0.1)}`
}

/** Imports their questions, forecasts and outcomes. */
export async function importCertified(components: Components): Promise<void> {
  await importRows(components, 'questions', QUESTIONS_CSV)
  await importRows(components, 'resolutions', RESOLUTIONS_CSV)
  await importRows(components, 'forecasts', csvOf(FORECAST_LINES))
}
