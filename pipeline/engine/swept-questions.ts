// The numbers of a question beside its pairs. They go from the sweep through DuckDB as texts.
import type { ColumnKind, RowSink } from '../../schemas/columns.ts'
import type { Database } from '../duckdb.ts'
import { COURSE_POINTS, type Course } from '../scoring/course.ts'
import { REFERENCE_SCORE_COLUMNS, REFERENCE_SCORE_NAMES } from '../scoring/swept-references.ts'

const POINTS = Array.from({ length: COURSE_POINTS }, (_, point) => `at_${String(point).padStart(2, '0')}`)

/** The course of a question and the scores of the references, from a sweep. */
export interface SweptQuestion {
  readonly course: Course
  readonly referenceScores: Float64Array
}

/** Grain: one row per question that was swept. `moves` is 1 if the average of the voices moved. */
export const SWEPT_QUESTION: Readonly<Record<string, ColumnKind>> = {
  question: 'int32',
  ...REFERENCE_SCORE_COLUMNS,
  moves: 'int32',
  ...Object.fromEntries(POINTS.map((point) => [point, 'int32'])),
}

/** Returns a function that takes each question of a sweep. */
export function questionsInto(rows: RowSink<typeof SWEPT_QUESTION>) {
  return (question: number, { referenceScores, course }: SweptQuestion): void => {
    const { columns, row } = rows
    columns['question']![row] = question
    for (const [at, name] of REFERENCE_SCORE_NAMES.entries()) columns[name]![row] = referenceScores[at]!
    columns['moves']![row] = course.isMoving ? 1 : 0
    for (const [point, name] of POINTS.entries()) columns[name]![row] = course.ppm[point]!
    rows.next()
  }
}

/** The texts of a question: numbers with commas between them. */
export interface QuestionTexts {
  /** Null for an average that never moved. */
  course: string | null
  referenceScores: string
}

export function textsOf({ referenceScores, course }: SweptQuestion): QuestionTexts {
  return { course: course.isMoving ? course.ppm.join(',') : null, referenceScores: referenceScores.join(',') }
}

/** Returns the numbers in the text of a course. */
export function courseOf(text: string): number[] {
  return text.split(',').map(Number)
}

/**
 * Makes the table `told`, the texts of each question, from the full table `swept_question`. Grain: one row
 * per question with a forecast.
 */
export async function createTold(database: Database): Promise<void> {
  const whole = REFERENCE_SCORE_NAMES.map((name) => `${name}::BIGINT`).join(', ')
  await database.run(
    `CREATE OR REPLACE TABLE told AS
     SELECT question, CASE WHEN moves = 1 THEN concat_ws(',', ${POINTS.join(', ')}) END AS course,
       concat_ws(',', ${whole}) AS reference_scores FROM swept_question`,
  )
  await database.run('DROP TABLE swept_question')
}
