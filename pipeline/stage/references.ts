// `fvs stage publish references`: reads all settled questions in order, and puts the files of the reference
// forecasts.
import { ServiceError } from '../../schemas/errors.ts'
import { Rows } from '../engine/rows.ts'
import { referenceFiles, referenceRows } from '../release/references.ts'
import type { ReleaseContext } from '../release/state.ts'
import { CROWD_COLUMNS } from '../scoring/crowd.ts'
import { REFERENCE_COLUMNS } from '../scoring/references.ts'
import { plannedCategories } from './categories.ts'
import { type Fields, type Format, type Input, NULL, inOrderOf, linesIn, strictly, wholeOf } from './lines.ts'
import { planned } from './planned.ts'

const COLUMNS = [
  'place',
  'outcome',
  'opened_ms',
  'settled_ms',
  'cluster_number',
  'category_number',
  'pool',
  'weight',
  'weighted',
  'scale',
  'crowd',
] as const
const QUESTIONS: Format = {
  of: 'a settled question',
  columns: COLUMNS,
  compare: strictly(inOrderOf(COLUMNS, { place: 'number' })),
}
const CROWD = Object.keys(CROWD_COLUMNS) as (keyof typeof CROWD_COLUMNS)[]

/** Puts both files. Yields a line for each. */
export async function* referenceLines(
  context: ReleaseContext,
  release: number,
  input: Input,
): AsyncIterable<string> {
  const { plan, provenance, put } = await planned(context, release)
  const categories = await plannedCategories(context, plan)
  const questions = new Questions()
  for await (const lines of linesIn(input, QUESTIONS)) for (const fields of lines) questions.take(fields)
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

/** The lines as numbers, with the names of the pools by theirs. */
class Questions {
  readonly rows = new Rows(REFERENCE_COLUMNS)
  readonly pools: string[] = []
  readonly #numbers = new Map<string, number>()

  take(fields: Fields): void {
    const [, outcome, openedMs, settledMs, cluster, category, pool, weight, weighted, scale, crowd] = fields
    const { columns, row } = this.rows
    columns.outcome[row] = wholeOf(outcome!)
    columns.opened_ms[row] = wholeOf(openedMs!)
    columns.settled_ms[row] = wholeOf(settledMs!)
    columns.cluster[row] = wholeOf(cluster!)
    columns.category[row] = wholeOf(category!)
    columns.pool[row] = this.#numberOf(pool!)
    columns.weight[row] = wholeOrZero(weight!)
    columns.weighted[row] = wholeOrZero(weighted!)
    columns.scale[row] = wholeOrZero(scale!)
    const numbers = crowd === NULL ? CROWD.map(() => 0) : crowd!.split(',').map(wholeOf)
    if (numbers.length !== CROWD.length) {
      throw new ServiceError(
        'invalid',
        `${JSON.stringify(crowd)} is not what fvs stage sweep prints of a crowd`,
      )
    }
    CROWD.forEach((name, at) => (columns[name][row] = numbers[at]!))
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

function wholeOrZero(field: string): number {
  return field === NULL ? 0 : wholeOf(field)
}
