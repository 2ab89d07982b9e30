// The only file that knows DuckDB's client: queries, columns of plain numbers in and out.
import {
  DOUBLE,
  DuckDBDataChunk,
  DuckDBInstance,
  type DuckDBConnection,
  type DuckDBValue,
  type JS,
} from '@duckdb/node-api'
import bindings from '@duckdb/node-bindings'
import { ServiceError } from '../schemas/errors.ts'

export interface DatabaseSettings {
  threads: number
  /** As DuckDB writes it, such as `1GB`; queries beyond it spill to `directory`. */
  memoryLimit: string
  /** For what does not fit into memory. */
  directory: string
}

/** A column of a result, read as it lies in memory. */
export type NumberColumn = Int32Array | Float64Array
type ColumnKind = 'int32' | 'double'

/** As many rows as one vector of DuckDB holds. */
const VECTOR_ROWS = bindings.vector_size()

export class Database implements Disposable {
  readonly #instance: DuckDBInstance
  readonly #connection: DuckDBConnection

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance
    this.#connection = connection
  }

  /** A fresh database in memory. It loads no extension and reaches no network. */
  static async open({ threads, memoryLimit, directory }: DatabaseSettings): Promise<Database> {
    const instance = await DuckDBInstance.create(':memory:', {
      threads: String(threads),
      memory_limit: memoryLimit,
      temp_directory: directory,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      preserve_insertion_order: 'true',
    })
    const connection = await instance.connect()
    await connection.run(`SET TimeZone = 'UTC'`)
    return new Database(instance, connection)
  }

  static get version(): string {
    return bindings.library_version()
  }

  async run(sql: string, values: DuckDBValue[] = []): Promise<void> {
    await reported(this.#connection.run(sql, values))
  }

  /** Rows as objects: BIGINT and HUGEINT are bigint, TIMESTAMPTZ is Date. The caller states the row's shape. */
  async rows<R extends Record<string, unknown> = Record<string, JS>>(
    sql: string,
    values: DuckDBValue[] = [],
  ): Promise<R[]> {
    const result = await reported(this.#connection.run(sql, values))
    return (await result.getRowObjectsJS()) as R[]
  }

  /**
   * The blocks of a result whose columns are INTEGER or DOUBLE without nulls, as typed arrays that hold only
   * until the next block is asked for.
   */
  async *columns(
    sql: string,
    kinds: readonly ColumnKind[],
  ): AsyncIterable<{ rowCount: number; columns: NumberColumn[] }> {
    const result = await reported(this.#connection.stream(sql))
    for (;;) {
      const chunk = await reported(result.fetchChunk())
      if (!chunk || chunk.rowCount === 0) return
      const rowCount = chunk.rowCount
      yield { rowCount, columns: kinds.map((kind, index) => readColumn(chunk, index, kind, rowCount)) }
    }
  }

  /** Appends rows to a table of DOUBLE columns, also while a result is being read. */
  async appender(table: string, width: number): Promise<RowAppender> {
    const connection = await this.#instance.connect()
    const appender = await connection.createAppender(table)
    const chunk = DuckDBDataChunk.create(Array.from({ length: width }, () => DOUBLE))
    return new RowAppender(
      width,
      (columns, count) => {
        chunk.rowCount = count
        for (let index = 0; index < width; index++) {
          const { buffer, byteOffset } = columns[index]!
          const vector = bindings.data_chunk_get_vector(chunk.chunk, index)
          bindings.copy_data_to_vector(vector, 0, buffer as ArrayBuffer, byteOffset, count * 8)
        }
        appender.appendDataChunk(chunk)
      },
      () => {
        appender.closeSync()
        connection.closeSync()
      },
    )
  }

  [Symbol.dispose](): void {
    this.#connection.closeSync()
    this.#instance.closeSync()
  }
}

/** Gathers rows of numbers and hands them on a vector at a time. */
export class RowAppender {
  readonly #columns: Float64Array[]
  readonly #write: (columns: Float64Array[], count: number) => void
  readonly #close: () => void
  #count = 0

  constructor(width: number, write: (columns: Float64Array[], count: number) => void, close: () => void) {
    this.#columns = Array.from({ length: width }, () => new Float64Array(VECTOR_ROWS))
    this.#write = write
    this.#close = close
  }

  append(row: readonly number[]): void {
    for (let index = 0; index < this.#columns.length; index++)
      this.#columns[index]![this.#count] = row[index]!
    this.#count += 1
    if (this.#count === VECTOR_ROWS) this.#flush()
  }

  close(): void {
    this.#flush()
    this.#close()
  }

  #flush(): void {
    if (this.#count > 0) this.#write(this.#columns, this.#count)
    this.#count = 0
  }
}

function readColumn(chunk: DuckDBDataChunk, index: number, kind: ColumnKind, rowCount: number): NumberColumn {
  const width = kind === 'int32' ? 4 : 8
  const vector = bindings.data_chunk_get_vector(chunk.chunk, index)
  const { buffer, byteOffset } = bindings.vector_get_data(vector, rowCount * width)
  return kind === 'int32'
    ? new Int32Array(buffer, byteOffset, rowCount)
    : new Float64Array(buffer, byteOffset, rowCount)
}

/** A text as an SQL literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Local Parquet files as a table expression. */
export function parquet(paths: readonly string[]): string {
  return `read_parquet([${paths.map(literal).join(', ')}], hive_partitioning = false, union_by_name = false)`
}

async function reported<T>(result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const full = /No space left|Out of Memory/i.test(message)
    throw new ServiceError(full ? 'unavailable' : 'corrupt', `DuckDB: ${message}`, { cause })
  }
}
