// Reference forecasts beside the boards: one file of JSON, for boards, and one of Parquet.
import { ServiceError } from '../../../schemas/errors.ts'
import {
  REFERENCES as REFERENCE_NAMES,
  REFERENCES_COMMENTS,
  REFERENCE_FILE_COLUMNS,
  type ReferenceRow,
} from '../../../schemas/references.ts'
import { referenceQuestions } from '../../engine/references.ts'
import { Rows } from '../../engine/rows.ts'
import type { Methodology } from '../../scoring/methodology.ts'
import { QUESTION_COLUMNS } from '../../scoring/pairs.ts'
import { REFERENCE_COLUMNS, type ReferenceQuestions, scoreReferences } from '../../scoring/references.ts'
import { REFERENCE_SCORE_NAMES } from '../../scoring/swept-references.ts'
import { listFile } from '../list-file.ts'
import type { OutputFile } from '../output.ts'
import { type Provenance, publishedForm } from '../payloads.ts'
import { ParquetRows } from '../rows-parquet.ts'
import { type Fields, type Input, NULL, formatOf, linesIn, wholeOf } from '../stage/lines.ts'
import { plannedCategories } from '../stage/planned-categories.ts'
import type { Publishing } from '../stage/publishing.ts'
import type { ScoredKind } from './kind.ts'

const REFERENCES_FOLDER = 'references/'

/** The references of all boards, inside a release. */
export const REFERENCES_PATH = `${REFERENCES_FOLDER}rows.json`

export const REFERENCES_PARQUET_PATH = `${REFERENCES_FOLDER}rows.parquet`

/** Name the pools and categories by their numbers. */
export interface ReferenceNames {
  pool: (number: number) => string
  category: (number: number) => string
}

/** Scores the references. */
export function referenceRows(
  methodology: Methodology,
  questions: ReferenceQuestions,
  names: ReferenceNames,
): ReferenceRow[] {
  return Array.from(scoreReferences(methodology, questions), ({ pool, category, ...scores }) => ({
    ...publishedForm(scores),
    pool: names.pool(pool),
    category: category === null ? null : names.category(category),
  })).sort(inOrderOfReferences)
}

/** Yields the two files of the references. */
export function* referenceFiles(rows: readonly ReferenceRow[], provenance: Provenance): Iterable<OutputFile> {
  const parquet = new ParquetRows(REFERENCE_FILE_COLUMNS, REFERENCES_COMMENTS)
  const stamp = { release: provenance.release, as_of: new Date(provenance.as_of) }
  for (const row of rows) parquet.add(valuesOf({ ...stamp, ...row }))
  yield listFile(REFERENCES_PATH, 'references', rows, { ...provenance })
  yield { path: REFERENCES_PARQUET_PATH, rows: rows.length, bytes: parquet.finish() }
}

/** Orders by kind, pool, category (all questions first), and then as in `REFERENCES`. */
function inOrderOfReferences(a: ReferenceRow, b: ReferenceRow): number {
  if (a.entity_type !== b.entity_type) return a.entity_type < b.entity_type ? -1 : 1
  if (a.pool !== b.pool) return a.pool < b.pool ? -1 : 1
  if (a.category !== b.category) {
    if (a.category === null || b.category === null) return a.category === null ? -1 : 1
    return a.category < b.category ? -1 : 1
  }
  return REFERENCE_NAMES.indexOf(a.reference) - REFERENCE_NAMES.indexOf(b.reference)
}

function valuesOf({ board_interval, ...row }: ReferenceRow & { release: number; as_of: Date }): unknown[] {
  const values = {
    ...row,
    board_lower: board_interval?.lower ?? null,
    board_upper: board_interval?.upper ?? null,
  }
  return REFERENCE_FILE_COLUMNS.map(({ name }) => values[name])
}

const FACTS = Object.keys(QUESTION_COLUMNS) as (keyof typeof QUESTION_COLUMNS)[]
const REFERENCE_LINE_COLUMNS = [
  'place',
  'opened_ms',
  'agent_pool',
  'forecaster_pool',
  'reference_scores',
  ...FACTS,
] as const
const REFERENCE_LINES = formatOf('a settled question', REFERENCE_LINE_COLUMNS, { place: 'number' })
const REFERENCE_AT = REFERENCE_LINES.at

/** Reads all settled questions, and puts both files. */
async function* publish({ context, plan, provenance, put }: Publishing, input: Input): AsyncIterable<string> {
  const categories = await plannedCategories(context, plan)
  const questions = new Questions()
  for await (const lines of linesIn(input, REFERENCE_LINES))
    for (const fields of lines) questions.take(fields)
  const rows = referenceRows(context.methodology, questions.rows, {
    pool: (number) => questions.pools[number]!,
    category(number) {
      const named = categories[number]
      if (!named) throw new ServiceError('invalid', `there is no category ${number}`)
      return named.category
    },
  })
  for (const file of referenceFiles(rows, provenance)) yield await put(file)
}

/** The lines as numbers, and the names of the pools by their numbers. */
class Questions {
  readonly rows = new Rows(REFERENCE_COLUMNS)
  readonly pools: string[] = []
  readonly #numbers = new Map<string, number>()

  take(fields: Fields): void {
    const { columns, row } = this.rows
    columns.opened_ms[row] = wholeOf(fields[REFERENCE_AT.opened_ms]!)
    columns.agent_pool[row] = this.#numberOf(fields[REFERENCE_AT.agent_pool]!)
    columns.forecaster_pool[row] = this.#numberOf(fields[REFERENCE_AT.forecaster_pool]!)
    for (const name of FACTS) columns[name][row] = wholeOf(fields[REFERENCE_AT[name]]!)
    const scores = fields[REFERENCE_AT.reference_scores]!
    const numbers = scores === NULL ? REFERENCE_SCORE_NAMES.map(() => 0) : scores.split(',').map(wholeOf)
    if (numbers.length !== REFERENCE_SCORE_NAMES.length) {
      throw new ServiceError(
        'invalid',
        `${JSON.stringify(scores)} is not what fvs stage sweep prints of a question`,
      )
    }
    REFERENCE_SCORE_NAMES.forEach((name, at) => (columns[name][row] = numbers[at]!))
    this.rows.next()
  }

  #numberOf(pool: string): number {
    if (pool === NULL) return -1
    const known = this.#numbers.get(pool)
    if (known !== undefined) return known
    this.#numbers.set(pool, this.pools.length)
    return this.pools.push(pool) - 1
  }
}

export const REFERENCES: ScoredKind = {
  name: 'references',
  places: [REFERENCES_FOLDER],
  async *make({ context, ranked, categories, provenance }) {
    const questions = await referenceQuestions(context.database)
    const rows = referenceRows(context.methodology, questions, {
      pool: (number) => ranked[number]!.entityId,
      category: (number) => categories[number]!.category,
    })
    yield* referenceFiles(rows, provenance)
  },
  publish,
  arrange(staged) {
    const json = staged.take(REFERENCES_PATH)
    return [json, staged.take(REFERENCES_PARQUET_PATH, { rows: json.rows })]
  },
}
