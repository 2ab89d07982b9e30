// The only file that uses DuckDB's client. Runs queries, and reads and writes columns of plain numbers.
import { createRequire } from 'node:module'
import type * as Api from '@duckdb/node-api'
import type Bindings from '@duckdb/node-bindings'
import { COMMENTS_KEY, type ColumnComments } from '../schemas/column-comments.ts'
import { type Block, type ColumnKinds, type Columns, type RowSink, newColumns } from '../schemas/columns.ts'
import { ServiceError } from '../schemas/errors.ts'

export interface DatabaseSettings {
  threads: number
  /** In DuckDB's notation, such as `1GB`. Queries that need more spill to `directory`. */
  memoryLimit: string
  directory: string
}

const require = createRequire(import.meta.url)
// Load both on first use: a service can answer without them, and starts a sixth faster.
const client = () => require('@duckdb/node-api') as typeof Api
const bindings = () => require('@duckdb/node-bindings') as typeof Bindings

export class Database implements Disposable {
  readonly #instance: Api.DuckDBInstance
  readonly #connection: Api.DuckDBConnection
  readonly #threads: number

  private constructor(instance: Api.DuckDBInstance, connection: Api.DuckDBConnection, threads: number) {
    this.#instance = instance
    this.#connection = connection
    this.#threads = threads
  }

  /** Opens a fresh database in memory. It loads no extension and reaches no network. */
  static async open({ threads, memoryLimit, directory }: DatabaseSettings): Promise<Database> {
    const instance = await client().DuckDBInstance.create(':memory:', {
      threads: String(threads),
      memory_limit: memoryLimit,
      temp_directory: directory,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      preserve_insertion_order: 'true',
      // Keep no cache of file content: most files are read once, and a replaced file must be read anew.
      enable_external_file_cache: 'false',
    })
    const connection = await instance.connect()
    await connection.run(`SET TimeZone = 'UTC'`)
    return new Database(instance, connection, threads)
  }

  static get version(): string {
    return bindings().library_version()
  }

  /**
   * The progress of the query under way in percent; undefined if DuckDB does not know it, or without `watch`.
   */
  get percent(): number | undefined {
    const { percentage } = this.#connection.progress
    return percentage < 0 ? undefined : percentage
  }

  /** Makes DuckDB track the progress of each query, without printing it. */
  async watch(): Promise<void> {
    await this.run('SET enable_progress_bar = true')
    await this.run('SET enable_progress_bar_print = false')
  }

  async run(sql: string): Promise<void> {
    await reported(this.#connection.run(sql))
  }

  /**
   * Returns rows as objects: BIGINT and HUGEINT become bigint, TIMESTAMPTZ becomes Date. The caller states
   * the row's shape.
   */
  async rows<R extends object = Record<string, Api.JS>>(sql: string): Promise<R[]> {
    const result = await reported(this.#connection.run(sql))
    return (await result.getRowObjectsJS()) as R[]
  }

  /** Defines a function of one text in SQL; undefined becomes NULL, and NULL stays NULL. It must be pure. */
  define(name: string, compute: (text: string) => string | undefined): void {
    const { DuckDBScalarFunction, VARCHAR } = client()
    const define = DuckDBScalarFunction.create({
      name,
      parameterTypes: [VARCHAR],
      returnType: VARCHAR,
      mainFunction: (_info, input, output) => {
        const texts = input.getColumnVector(0)
        for (let row = 0; row < input.rowCount; row++) {
          const text = texts.getItem(row) as string | null
          output.setItem(row, text === null ? null : (compute(text) ?? null))
        }
        output.flush()
      },
    })
    this.#connection.registerScalarFunction(define)
  }

  /**
   * Yields rows like those of `rows`, a block at a time, so that other work runs between two blocks, however
   * many rows there are.
   */
  async *rowBlocks<R extends object>(sql: string): AsyncIterable<R[]> {
    const result = await reported(this.#connection.stream(sql))
    const blocks = result.yieldRowObjectJs()
    for (;;) {
      const { done, value } = await reported(blocks.next())
      if (done) return
      yield value as R[]
    }
  }

  /**
   * Runs a statement by one thread on a separate connection, so that other queries may run at the same time.
   * They have one thread each until it ends. Only one such statement may be under way.
   *
   * Use it for a COPY of sorted rows: with several threads DuckDB makes row groups ahead of the one that it
   * writes, uses more memory for them than it counts, and can spill none of them.
   */
  async runByOneThread(sql: string): Promise<void> {
    const connection = await this.#instance.connect()
    try {
      await connection.run('SET threads = 1')
      await reported(connection.run(sql))
    } finally {
      await connection.run(`SET threads = ${this.#threads}`)
      connection.closeSync()
    }
  }

  /**
   * Yields the blocks of a result that has these columns in this order. DuckDB makes the next block while the
   * caller works on this one.
   */
  async *columns<Kinds extends ColumnKinds>(sql: string, kinds: Kinds): AsyncIterable<Block<Kinds>> {
    const { data_chunk_get_vector, vector_get_data } = bindings()
    const result = await reported(this.#connection.stream(sql))
    const fetch = () => {
      const chunk = reported(result.fetchChunk())
      // The caller gets a failure when it awaits the chunk. Until then it must not count as an unhandled
      // rejection.
      chunk.catch(() => undefined)
      return chunk
    }
    let next = fetch()
    try {
      for (;;) {
        const chunk = await next
        if (!chunk || chunk.rowCount === 0) return
        next = fetch()
        const { rowCount } = chunk
        const columns = Object.entries(kinds).map(([name, kind], index) => {
          const vector = data_chunk_get_vector(chunk.chunk, index)
          const Values = kind === 'int32' ? Int32Array : Float64Array
          const { buffer, byteOffset } = vector_get_data(vector, rowCount * Values.BYTES_PER_ELEMENT)
          return [name, new Values(buffer as ArrayBuffer, byteOffset, rowCount)]
        })
        yield { rowCount, columns: Object.fromEntries(columns) as Columns<Kinds> }
      }
    } finally {
      // A caller may stop early, but no read may still be running then.
      await Promise.allSettled([next])
    }
  }

  /**
   * Returns an appender to a table that has these columns in this order. It works even while a result is
   * being read.
   */
  async appender<Kinds extends ColumnKinds>(table: string, kinds: Kinds): Promise<RowAppender<Kinds>> {
    const connection = await this.#instance.connect()
    return new RowAppender(kinds, connection, await connection.createAppender(table))
  }

  [Symbol.dispose](): void {
    this.#connection.closeSync()
    this.#instance.closeSync()
  }
}

/** Opens a database, passes it to `work` and closes it, even if the work fails. */
export async function withDatabase<T>(
  open: () => Promise<Database>,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await open()
  try {
    return await work(database)
  } finally {
    database[Symbol.dispose]()
  }
}

/** Collects rows of numbers and writes them one vector at a time. */
class RowAppender<Kinds extends ColumnKinds> implements RowSink<Kinds> {
  readonly columns: Columns<Kinds>
  row = 0
  readonly #connection: Api.DuckDBConnection
  readonly #appender: Api.DuckDBAppender
  readonly #chunk: Api.DuckDBDataChunk
  /** The number of rows in a full vector. */
  readonly #fullRows = bindings().vector_size()

  constructor(kinds: Kinds, connection: Api.DuckDBConnection, appender: Api.DuckDBAppender) {
    this.columns = newColumns(kinds, this.#fullRows)
    this.#connection = connection
    this.#appender = appender
    const { DOUBLE, DuckDBDataChunk, INTEGER } = client()
    const types = Object.values(kinds).map((kind) => (kind === 'int32' ? INTEGER : DOUBLE))
    this.#chunk = DuckDBDataChunk.create(types)
  }

  next(): void {
    this.row += 1
    if (this.row === this.#fullRows) this.#flush()
  }

  close(): void {
    this.#flush()
    reportedNow(() => this.#appender.closeSync())
    this.#connection.closeSync()
  }

  #flush(): void {
    if (this.row === 0) return
    const chunk = this.#chunk
    const { copy_data_to_vector, data_chunk_get_vector } = bindings()
    chunk.rowCount = this.row
    const columns: (Int32Array | Float64Array)[] = Object.values(this.columns)
    for (const [index, { buffer, byteOffset, BYTES_PER_ELEMENT }] of columns.entries()) {
      const vector = data_chunk_get_vector(chunk.chunk, index)
      const sizeBytes = this.row * BYTES_PER_ELEMENT
      copy_data_to_vector(vector, 0, buffer as ArrayBuffer, byteOffset, sizeBytes)
    }
    reportedNow(() => this.#appender.appendDataChunk(chunk))
    this.row = 0
  }
}

/** Quotes a text as an SQL literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Quotes a name as an SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * Returns the option of a COPY that writes the meanings of the columns into the metadata of a Parquet file.
 */
export function withComments(comments: ColumnComments): string {
  return `KV_METADATA {${COMMENTS_KEY}: ${literal(JSON.stringify(comments))}}`
}

/**
 * Returns SQL for the rows of local Parquet files. They must have the same columns, unless united by name.
 */
export function parquet(paths: readonly string[], unionByName = false): string {
  return `read_parquet([${paths.map(literal).join(', ')}], hive_partitioning = false, union_by_name = ${unionByName})`
}

async function reported<T>(result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (cause) {
    throw failure(cause)
  }
}

function reportedNow(work: () => void): void {
  try {
    work()
  } catch (cause) {
    throw failure(cause)
  }
}

function failure(cause: unknown): ServiceError {
  const message = cause instanceof Error ? cause.message : String(cause)
  // An appender out of memory only reports that it could not allocate a block.
  const full = /No space left|Out of Memory|could not allocate block/i.test(message)
  return new ServiceError(full ? 'unavailable' : 'corrupt', `DuckDB: ${message}`, { cause })
}
