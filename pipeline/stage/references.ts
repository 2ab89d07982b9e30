// `fvs stage publish references`: reads all settled questions in order, and puts the files of the reference
// forecasts.
import { ServiceError } from '../../schemas/errors.ts'
import { Rows } from '../engine/rows.ts'
import { referenceFiles, referenceRows } from '../release/references.ts'
import type { ReleaseContext } from '../release/state.ts'
import { QUESTION_COLUMNS } from '../scoring/pairs.ts'
import { REFERENCE_COLUMNS } from '../scoring/references.ts'
import { SPOKEN_NAMES } from '../scoring/spoken.ts'
import { plannedCategories } from './categories.ts'
import { type Fields, type Input, NULL, formatOf, linesIn, wholeOf } from './lines.ts'
import { planned } from './planned.ts'

const FACTS = Object.keys(QUESTION_COLUMNS) as (keyof typeof QUESTION_COLUMNS)[]
const COLUMNS = ['place', 'opened_ms', 'agent_pool', 'forecaster_pool', 'spoken', ...FACTS] as const
const QUESTIONS = formatOf('a settled question', COLUMNS, { place: 'number' })
const AT = QUESTIONS.at

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
    const { columns, row } = this.rows
    columns.opened_ms[row] = wholeOf(fields[AT.opened_ms]!)
    columns.agent_pool[row] = this.#numberOf(fields[AT.agent_pool]!)
    columns.forecaster_pool[row] = this.#numberOf(fields[AT.forecaster_pool]!)
    for (const name of FACTS) columns[name][row] = wholeOf(fields[AT[name]]!)
    const spoken = fields[AT.spoken]!
    const numbers = spoken === NULL ? SPOKEN_NAMES.map(() => 0) : spoken.split(',').map(wholeOf)
    if (numbers.length !== SPOKEN_NAMES.length) {
      throw new ServiceError(
        'invalid',
        `${JSON.stringify(spoken)} is not what fvs stage sweep prints of a question`,
      )
    }
    SPOKEN_NAMES.forEach((name, at) => (columns[name][row] = numbers[at]!))
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
