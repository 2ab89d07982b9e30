// Reads the acknowledged rows in the inbox, with a Parquet reader that is independent of the writer.
import { parquetReadObjects } from 'hyparquet'
import { inboxPrefix } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { TableName } from '../../schemas/tables.ts'

export type InboxRow = Record<string, string | number | Date | null>

/** The rows of each object, in the order of the objects. */
export async function inboxObjects(store: Store, table: TableName): Promise<InboxRow[][]> {
  const objects: InboxRow[][] = []
  for await (const { path } of store.list(inboxPrefix(table))) {
    const bytes = await store.get(path)
    if (!bytes) throw new Error(`${path} was listed but is gone`)
    objects.push((await parquetReadObjects({ file: bytes.slice().buffer })) as InboxRow[])
  }
  return objects
}

export async function inboxRows(store: Store, table: TableName): Promise<InboxRow[]> {
  return (await inboxObjects(store, table)).flat()
}
