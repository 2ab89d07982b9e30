// `fvs stage publish scores`: reads pairs in order, and puts Parquet files that DuckDB writes.
import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Database, literal, withDatabase } from '../duckdb.ts'
import { writeScores } from '../engine/scores-file.ts'
import { partPath } from '../release/parts.ts'
import { rowGroupsOutput } from '../release/row-groups.ts'
import type { ReleaseContext } from '../release/state.ts'
import { PAIR_COLUMNS } from '../scoring/pairs.ts'
import { type Fields, type Input, NULL, formatOf, lineOf, wholeOf } from './lines.ts'
import { planned, unitsIn } from './planned.ts'
import { METRICS } from './sweep.ts'
import { entityTypeOf } from './tally.ts'

/** The columns of a line that DuckDB reads, with their types. */
const PAIR = {
  entity: 'INTEGER',
  entity_type: 'VARCHAR',
  entity_id: 'VARCHAR',
  question: 'INTEGER',
  question_id: 'VARCHAR',
  outcome: 'VARCHAR',
  resolved_ms: 'BIGINT',
  settled: 'INTEGER',
  settled_ms: 'BIGINT',
  unit: 'VARCHAR',
  cluster: 'VARCHAR',
  week: 'VARCHAR',
  divisor: 'INTEGER',
  place: 'INTEGER',
  ...Object.fromEntries(METRICS.map((name) => [name, PAIR_COLUMNS[name] === 'int32' ? 'INTEGER' : 'DOUBLE'])),
}
const COLUMNS = ['scores_part', ...(Object.keys(PAIR) as (keyof typeof PAIR)[])] as const
const PAIRS = formatOf('an entity and a question', COLUMNS, { entity: 'number', place: 'number' })

/** Puts parts of the scores, each with the hashes of its row groups. Yields the lines of both. */
export async function* scorePartLines(
  context: ReleaseContext,
  release: number,
  input: Input,
): AsyncIterable<string> {
  const { put, provenance } = await planned(context, release)
  const path = join(context.directory, 'staged.tsv')
  const made = join(context.directory, 'staged.parquet')
  let spool: Spool | undefined
  try {
    const { at } = PAIRS
    yield* unitsIn(input, PAIRS, async (first) => {
      const number = wholeOf(first[at.scores_part]!)
      const lines = (spool = await Spool.open(path))
      return {
        take: (fields) => (fields[at.question] === NULL ? undefined : lines.add(fields.slice(1))),
        async end() {
          await lines.close()
          // The lines are in order already. DuckDB ends row groups at the ends of vectors, and sorting makes
          // each vector whole.
          const pairs = `(SELECT *, make_timestamptz(resolved_ms * 1000) AS resolved_at,
              make_timestamptz(settled_ms * 1000) AS settled_at, settled = 1 AND judged = 1 AS contested
              FROM ${spooled(path, PAIR)})
            ORDER BY entity, place`
          const rows = lines.count
          const bytes = await written(context, made, (database) =>
            writeScores(database, made, pairs, provenance),
          )
          const part = {
            path: partPath('scores', number),
            entity_type: entityTypeOf(first[at.entity_type]!),
            first_entity_id: first[at.entity_id],
          }
          const printed = await put({ ...part, rows, bytes })
          return printed + (await put(rowGroupsOutput(part.path, bytes)))
        },
      }
    })
  } finally {
    await spool?.[Symbol.asyncDispose]()
    for (const file of [path, made]) await rm(file, { force: true })
  }
}

/** Returns the bytes of a file that DuckDB makes. */
async function written(
  { openDatabase }: Pick<ReleaseContext, 'openDatabase'>,
  path: string,
  write: (database: Database) => Promise<void>,
): Promise<Uint8Array> {
  await withDatabase(openDatabase, write)
  return readFile(path)
}

/** Returns SQL for the lines of a file, in their order. */
function spooled(path: string, columns: Readonly<Record<string, string>>): string {
  const types = Object.entries(columns).map(([name, type]) => `${literal(name)}: ${literal(type)}`)
  return `read_csv(${literal(path)}, columns = {${types.join(', ')}}, auto_detect = false, header = false, delim = '\t',
    quote = '', escape = '', nullstr = ${literal(NULL)}, new_line = '\\n')`
}

/**
 * Lines on their way to DuckDB. They are in a file because a part of the scores would not fit in memory as
 * text.
 */
class Spool {
  static readonly #mostLength = 1 << 20
  readonly #file: FileHandle
  #text = ''
  count = 0

  private constructor(file: FileHandle) {
    this.#file = file
  }

  static async open(path: string): Promise<Spool> {
    return new Spool(await open(path, 'w'))
  }

  add(fields: Fields): void | Promise<void> {
    this.#text += lineOf(fields)
    this.count += 1
    if (this.#text.length > Spool.#mostLength) return this.#flush()
  }

  async close(): Promise<void> {
    await this.#flush()
    await this.#file.close()
  }

  /** Closes the file, even if it is closed already. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
  }

  async #flush(): Promise<void> {
    const text = this.#text
    this.#text = ''
    await this.#file.writeFile(text)
  }
}
