// Makes the files of a release that say what was forecast on settled questions. Nothing about any other
// question is in them.
import type { QuestionSummary } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { Database } from '../duckdb.ts'
import { type AskedQuestion, askedBetween, createAsked, lastForecastsOf } from '../engine/asked.ts'
import { courseOf } from '../engine/swept-questions.ts'
import { runsOf } from '../engine/rows.ts'
import { canonical, inOrder } from '../proof/canonical.ts'
import {
  LAST_COLUMNS,
  type Crowd,
  type LastForecasts,
  crowdOf,
  endsOf,
  errorOf,
} from '../scoring/last-forecasts.ts'
import { NOBODY } from '../scoring/course.ts'
import { PPM } from '../scoring/logarithm.ts'
import { rounded } from '../scoring/round.ts'
import { questionsPath } from '../store/paths.ts'
import type { Provenance } from './payloads.ts'
import type { OutputFile } from './shards.ts'

export const QUESTIONS_PER_FILE = 256

/** Names the entity of a number. */
export type EntityNamed = (entity: number) => { entityType: EntityType; entityId: string }

/** Yields all files, in order of question id. The database must hold the ordered pairs. */
export async function* questionFiles(
  database: Database,
  named: EntityNamed,
  provenance: Provenance,
): AsyncIterable<OutputFile> {
  const count = await createAsked(database)
  for (let from = 0; from < count; from += QUESTIONS_PER_FILE) {
    const asked = await database.rows<AskedQuestion>(askedBetween(from, from + QUESTIONS_PER_FILE))
    const forecasts = database.columns(
      lastForecastsOf(asked[0]!.question, asked.at(-1)!.question),
      LAST_COLUMNS,
    )
    const summaries: QuestionSummary[] = []
    for await (const { rows } of runsOf(forecasts, LAST_COLUMNS, 'question')) {
      summaries.push(questionSummary(asked[summaries.length]!, rows, named))
    }
    yield questionFile(from / QUESTIONS_PER_FILE, summaries, provenance)
  }
}

/** Makes a file of questions in order of id, given its number from 0. */
export function questionFile(
  number: number,
  questions: readonly QuestionSummary[],
  provenance: Provenance,
): OutputFile {
  return {
    path: questionsPath(number),
    rows: questions.length,
    bytes: canonical(inOrder({ ...provenance, questions })),
    first_question_id: questions[0]!.question_id,
  }
}

/** Says of one question what was forecast. Names are in canonical order, which makes the text fastest. */
export function questionSummary(
  { questionId, outcome, course, crowds, surprising }: Omit<AskedQuestion, 'question'>,
  forecasts: LastForecasts,
  named: EntityNamed,
): QuestionSummary {
  const { entity, ppm } = forecasts.columns
  const entities = Array.from(entity.subarray(0, forecasts.rowCount), named)
  const agents = entities.filter(({ entityType }) => entityType === 'agent').length
  const crowd = crowdOf(forecasts, outcome)
  const { closest, farthest } = endsOf(forecasts, outcome)
  const end = (row: number) => {
    const { entityType, entityId } = entities[row]!
    const probability = probabilityOf(ppm[row]!)
    return entityType === 'agent' ? { agent_id: entityId, probability } : { probability, user_id: entityId }
  }
  return {
    agents,
    closest: closest.map(end),
    course: course === null ? null : courseOf(course).map((at) => (at === NOBODY ? null : probabilityOf(at))),
    crowd: crowd ? crowdIn(crowd, outcome, { more: surprising!, of: crowds }) : null,
    farthest: farthest.map(end),
    forecasters: forecasts.rowCount - agents,
    outcome: outcome === 1 ? 'yes' : 'no',
    question_id: questionId,
    withdrawn: ppm.subarray(0, forecasts.rowCount).filter((said) => said < 0).length,
  }
}

function crowdIn(
  { voices, averagePpm, middlePpm, counts }: Crowd,
  outcome: 0 | 1,
  surprise: { more: number; of: number },
): QuestionSummary['crowd'] {
  return {
    average: probabilityOf(averagePpm),
    average_brier: brierOf(averagePpm, outcome),
    counts,
    middle: probabilityOf(middlePpm),
    middle_brier: brierOf(middlePpm, outcome),
    surprise,
    voices,
  }
}

function probabilityOf(ppm: number): number {
  return ppm / PPM
}

function brierOf(ppm: number, outcome: 0 | 1): number {
  const error = errorOf(ppm, outcome)
  return rounded((error * error) / PPM / PPM)
}
