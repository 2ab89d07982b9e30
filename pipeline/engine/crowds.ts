// The crowd of each question on its way through DuckDB: as numbers from the sweep, and as texts in the files
// that a release hands on to the next one.
import type { ColumnKind, RowSink } from '../../schemas/columns.ts'
import type { Database } from '../duckdb.ts'
import { COURSE_POINTS } from '../scoring/course.ts'
import { CROWD_COLUMNS, type CrowdPair, type SweptCrowd } from '../scoring/crowd.ts'

const POINTS = Array.from({ length: COURSE_POINTS }, (_, point) => `at_${String(point).padStart(2, '0')}`)
const PAIR = Object.keys(CROWD_COLUMNS) as (keyof CrowdPair)[]

/**
 * Grain: one row per question that was swept and that a voice took part in. `moves` is 1 if its average
 * moved.
 */
export const SWEPT_CROWD: Readonly<Record<string, ColumnKind>> = {
  question: 'int32',
  ...CROWD_COLUMNS,
  moves: 'int32',
  ...Object.fromEntries(POINTS.map((point) => [point, 'int32'])),
}

/** Returns a function that takes the crowd of each question of a sweep. */
export function crowdsInto(rows: RowSink<typeof SWEPT_CROWD>) {
  return (question: number, { crowd, course }: SweptCrowd): void => {
    if (crowd.voices === 0) return
    const { columns, row } = rows
    columns['question']![row] = question
    for (const name of PAIR) columns[name]![row] = crowd[name]
    columns['moves']![row] = course.isMoving ? 1 : 0
    for (const [point, name] of POINTS.entries()) columns[name]![row] = course.ppm[point]!
    rows.next()
  }
}

/** The texts of a crowd: numbers with commas between them. */
export interface CrowdTexts {
  /** Null for an average that never moved. */
  course: string | null
  /** Null without voices. */
  crowd: string | null
}

export function crowdTexts({ crowd, course }: SweptCrowd): CrowdTexts {
  return {
    course: course.isMoving ? course.ppm.join(',') : null,
    crowd: crowd.voices === 0 ? null : PAIR.map((name) => crowd[name]).join(','),
  }
}

/** The numbers of a course in that form. */
export function courseOf(text: string): number[] {
  return text.split(',').map(Number)
}

/**
 * Makes the table `crowds`, the texts of each question, from `swept_crowd`, which the sweep has filled, and
 * from the files of earlier releases, if questions are held. Grain: one row per question that a voice took
 * part in.
 */
export async function createCrowds(database: Database, isBuilt: boolean): Promise<void> {
  const held = `UNION ALL SELECT held.question, course, crowd FROM held JOIN named
    ON kind = 'question' AND held.release = named.release AND held.number = named.number WHERE crowd IS NOT NULL`
  const whole = PAIR.map((name) => `${name}::BIGINT`).join(', ')
  await database.run(
    `CREATE OR REPLACE TABLE crowds AS
     SELECT question, CASE WHEN moves = 1 THEN concat_ws(',', ${POINTS.join(', ')}) END AS course,
       concat_ws(',', ${whole}) AS crowd FROM swept_crowd ${isBuilt ? held : ''}`,
  )
  await database.run('DROP TABLE swept_crowd')
}
