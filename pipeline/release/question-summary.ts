// Sums up the forecasts on a settled question. A release says nothing about any other question.
import type { QuestionSummary } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { AnsweredQuestion } from '../engine/answered-questions.ts'
import { courseOf } from '../engine/swept-questions.ts'
import { NOBODY } from '../scoring/course.ts'
import { type Crowd, type LastForecasts, crowdOf, endsOf, errorOf } from '../scoring/last-forecasts.ts'
import { PPM } from '../scoring/logarithm.ts'
import { rounded } from '../scoring/round.ts'

/** Returns the entity with a number. */
export type EntityNamed = (entity: number) => { entityType: EntityType; entityId: string }

/** Sums up the forecasts on one question. Members are in canonical order, because that encodes fastest. */
export function questionSummary(
  { questionId, outcome, course, crowds, surprising }: Omit<AnsweredQuestion, 'question'>,
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
    withdrawn: ppm.subarray(0, forecasts.rowCount).filter((probability) => probability < 0).length,
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
