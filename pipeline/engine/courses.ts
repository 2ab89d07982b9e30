// The courses of the voices' averages on their way through DuckDB: as numbers from the sweep, and as text in
// the files that a release hands on to the next one.
import type { ColumnKind, RowSink } from '../../schemas/columns.ts'
import type { Database } from '../duckdb.ts'
import { COURSE_POINTS, type Course } from '../scoring/course.ts'

const POINTS = Array.from({ length: COURSE_POINTS }, (_, point) => `at_${String(point).padStart(2, '0')}`)

/** Grain: one row per question that was swept and whose average moved. */
export const COURSE_COLUMNS: Readonly<Record<string, ColumnKind>> = {
  question: 'int32',
  ...Object.fromEntries(POINTS.map((point) => [point, 'int32'])),
}

/** Returns a function that takes the course of each question of a sweep. */
export function coursesInto(rows: RowSink<typeof COURSE_COLUMNS>) {
  return (question: number, course: Course): void => {
    if (!course.isMoving) return
    const { columns, row } = rows
    columns['question']![row] = question
    for (const [point, name] of POINTS.entries()) columns[name]![row] = course.ppm[point]!
    rows.next()
  }
}

/** Returns the numbers of a course with commas between them; null for one that never moved. */
export function textOfCourse(course: Course): string | null {
  return course.isMoving ? course.ppm.join(',') : null
}

/** The numbers of a course in that form. */
export function courseOf(text: string): number[] {
  return text.split(',').map(Number)
}

/**
 * Makes the table `course`, the text of each question's course, from `swept_course`, which the sweep has
 * filled, and from the files of earlier releases, if questions are held. Grain: one row per question whose
 * average moved.
 */
export async function createCourses(database: Database, isBuilt: boolean): Promise<void> {
  const held = `UNION ALL SELECT held.question, course FROM held JOIN named
    ON kind = 'question' AND held.release = named.release AND held.number = named.number WHERE course IS NOT NULL`
  await database.run(
    `CREATE OR REPLACE TABLE course AS
     SELECT question, concat_ws(',', ${POINTS.join(', ')}) AS course FROM swept_course ${isBuilt ? held : ''}`,
  )
  await database.run('DROP TABLE swept_course')
}
