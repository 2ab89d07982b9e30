// Gives up a version of a table whose intake or objects are unreadable. A commit that takes in nothing
// settles the version, so that no run can make it any more, and the next version takes in the readable
// objects.
import type { QuarantinedObject } from '../../schemas/manifests.ts'
import type { TableName } from '../../schemas/tables.ts'
import { dataPrefix, deltaLogPath, isDataPathOf } from '../store/paths.ts'
import { present } from '../store/store.ts'
import type { CompactionContext } from './data-files.ts'
import { giveUpCommit, isGivenUp } from './delta.ts'
import { recordAside } from './quarantine.ts'

/** Returns false if a run has made the version by now. Repeating it is harmless. */
export async function giveUp(
  { store, now }: CompactionContext,
  table: TableName,
  version: number,
): Promise<boolean> {
  const path = deltaLogPath(table, version)
  if (await store.putIfAbsent(path, giveUpCommit(table, version, now().getTime()))) return true
  return isGivenUp(await present(store, path), table, version)
}

/**
 * Moves aside the data files of a given-up version, because readers that ignore the log would count their
 * rows twice. Returns their paths. Repeating it is harmless.
 */
export async function setAsideFiles(
  { store }: CompactionContext,
  table: TableName,
  { key, at, reason, version }: QuarantinedObject & { version: number },
): Promise<string[]> {
  const paths: string[] = []
  for await (const { path } of store.list(dataPrefix(table))) {
    if (isDataPathOf(table, version, path)) paths.push(path)
  }
  for (const path of paths) {
    await recordAside(store, { key: path, at, reason: `made with ${key}: ${reason}`, version }, true)
    await store.delete(path)
  }
  return paths
}
