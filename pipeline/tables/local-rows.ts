// Returns the rows of a table as few local files, however many commits it has. Data files are gathered in
// blocks of 32, these in blocks of 1,024 and so on, so that a machine rewrites a row only a few times and
// reads only what is new. Data files in the store are never rewritten, as `OPTIMIZE` of Delta Lake would: a
// glob must see each row once, and an audit reads what a release has read.
import { type TableName, tableSpec } from '../../schemas/tables.ts'
import { type Database, literal, parquet } from '../duckdb.ts'
import { sha256Hex } from '../proof/canonical.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { columnsOf } from './columns.ts'
import type { DataFile, TableVersion } from './delta.ts'
import { localPaths } from './delta-log.ts'

/** The number of blocks in one block of the next size. */
const FAN = 32
/** Larger blocks are not gathered, because their files are few already. */
const MOST_GATHERED_BYTES = 64 * 1024 * 1024

/**
 * Returns local files that hold every row of a version once, or every row of its data files from the number
 * `from` on. The files and the order of their rows depend on what this machine has read before.
 *
 * @throws ServiceError `corrupt` for a data file that is damaged or missing.
 */
export async function localRows(
  database: Database,
  local: LocalFiles,
  { table, files }: TableVersion,
  from = 0,
): Promise<string[]> {
  const paths: string[] = []
  for (let start = from; start < files.length;) {
    const size = blockSize(start, files.length - start)
    paths.push(...(await block(database, local, table, files.slice(start, start + size))))
    start += size
  }
  return paths
}

/** The largest block that may begin at `start` and has at most `count` files. */
function blockSize(start: number, count: number): number {
  let size = 1
  while (start % (size * FAN) === 0 && size * FAN <= count) size *= FAN
  return size
}

async function block(
  database: Database,
  local: LocalFiles,
  table: TableName,
  files: readonly DataFile[],
): Promise<string[]> {
  if (files.length === 1) return localPaths(local, { table, files })
  const parts = async () => {
    const size = files.length / FAN
    const paths: string[] = []
    for (let start = 0; start < files.length; start += size) {
      paths.push(...(await block(database, local, table, files.slice(start, start + size))))
    }
    return paths
  }
  if (files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > MOST_GATHERED_BYTES) return parts()
  const spec = tableSpec(table)
  const columns = columnsOf(spec)
  const digest = sha256Hex([columns, ...files.map(({ sha256 }) => sha256)].join('\n'))
  const gathered = await local.derived(`${table}/${digest}`, async (path) => {
    const select = `SELECT ${columns} FROM ${parquet(await parts())}`
    await database.run(
      `COPY (${select}) TO ${literal(path)} (FORMAT parquet, ROW_GROUP_SIZE ${spec.rowsPerGroup})`,
    )
  })
  return gathered === undefined ? parts() : [gathered]
}
