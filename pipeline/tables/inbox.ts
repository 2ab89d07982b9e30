// The inbox: acknowledged rows that no table has taken in yet, one Parquet object per write.
import { parquetReadObjects } from 'hyparquet'
import { ServiceError } from '../../schemas/errors.ts'
import { type Row, type TableName, tableSpec } from '../../schemas/tables.ts'
import { inboxHash } from '../store/paths.ts'
import { sha256Hex } from '../proof/canonical.ts'
import type { LocalFiles, LocalOptions } from '../store/local-files.ts'
import { type Store, readChecked } from '../store/store.ts'
import { COMPRESSORS } from './compressors.ts'
import { plainParquet } from './plain-parquet.ts'
import { orUnreadable, unreadable } from './quarantine.ts'

/** Encodes rows of a table as one plain Parquet object, since it lasts only until its rows are taken in. */
export function encodeRows(table: TableName, rows: readonly Row[]): Uint8Array {
  return plainParquet(tableSpec(table).columns, rows)
}

/**
 * Returns the local file of an inbox object, checked against the hash in its path.
 *
 * @throws ServiceError `notFound` if there is no such object, `corrupt` if its path has no hash, or the hash
 *   of another content.
 */
export async function localInbox(
  local: LocalFiles,
  path: string,
  options: LocalOptions = {},
): Promise<string> {
  const sha256 = inboxHash(path)
  if (sha256 === undefined) {
    throw unreadable(path, `${path} is not an inbox object of this service: its name has no hash`)
  }
  return orUnreadable(path, local.path(path, { sha256 }, options))
}

/**
 * Returns the rows of an inbox object, for a reader that needs no query; undefined if it has been taken in
 * since it was listed.
 *
 * @throws ServiceError `corrupt` if its path has no hash, or the hash of another content, or if it is not
 *   Parquet.
 */
export async function readInbox(store: Store, path: string): Promise<Row[] | undefined> {
  const hash = inboxHash(path)
  const bytes = await readChecked(store, path, (read) => {
    const found = sha256Hex(read)
    if (hash !== undefined && found.startsWith(hash)) return read
    throw new ServiceError('corrupt', `${path} is damaged: its SHA-256 is ${found}`)
  })
  if (!bytes) return undefined
  try {
    return (await parquetReadObjects({
      file: new Uint8Array(bytes).buffer,
      compressors: COMPRESSORS,
    })) as Row[]
  } catch (cause) {
    throw new ServiceError('corrupt', `${path} is not Parquet that this service wrote`, { cause })
  }
}
