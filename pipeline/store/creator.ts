// A thread that creates the files of objects, one after another, with blocking calls.
import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { codeOf, hasCode } from './disk.ts'
import { lookOf } from './mark.ts'

export interface Creation {
  /** The file that marks the store, and the `lookOf` that it must still have. */
  mark: string
  look: string
  staging: string
  /** The folder of this file exists and is synced. */
  location: string
  bytes: Uint8Array
}

export type Outcome =
  /** `isNew`: the object was not there before. `isMarked`: the mark still looks the same. */
  | { isNew: boolean; isMarked: boolean }
  /** Nothing was written, because the mark looks different or a folder is missing. */
  | 'undone'
  /** A system call failed; the object may be there or not. */
  | { code: string; message: string }

parentPort!.on('message', (creation: Creation) => {
  parentPort!.postMessage(outcomeOf(creation))
})

function outcomeOf(creation: Creation): Outcome {
  try {
    return create(creation)
  } catch (error) {
    return { code: codeOf(error), message: String(error) }
  }
}

/**
 * Keeps the order of `FileStore`: syncs an object before it can be seen, and its name before it is reported.
 */
function create({ mark, look, staging, location, bytes }: Creation): Outcome {
  if (!isMarked(mark, look)) return 'undone'
  const staged = join(staging, randomUUID())
  try {
    const isNew = orMissing(() => {
      writeSynced(staged, bytes)
      return linkIfAbsent(staged, location)
    })
    if (isNew === undefined) return 'undone'
    syncDirectory(dirname(location))
    return { isNew, isMarked: isMarked(mark, look) }
  } finally {
    rmSync(staged, { force: true })
  }
}

function isMarked(mark: string, look: string): boolean {
  const stats = statSync(mark, { bigint: true, throwIfNoEntry: false })
  return stats !== undefined && lookOf(stats) === look
}

function writeSynced(location: string, bytes: Uint8Array): void {
  const file = openSync(location, 'wx')
  try {
    writeFileSync(file, bytes)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function linkIfAbsent(staged: string, location: string): boolean {
  try {
    linkSync(staged, location)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

function syncDirectory(location: string): void {
  // Windows cannot open directories. Its file system journals names by itself.
  if (process.platform === 'win32') return
  const directory = openSync(location, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}

/** Returns undefined if a folder is missing. */
function orMissing<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}
