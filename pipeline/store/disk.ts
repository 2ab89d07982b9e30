// Writes files and directories that survive a power cut, and interprets the errors of a file system.
import { randomUUID } from 'node:crypto'
import { type FileHandle, constants, copyFile, link, mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Body } from './body.ts'

/** Opens a file for `work`, and closes it even if the work fails. */
export async function withFile<T>(
  location: string,
  flags: string,
  work: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(location, flags)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}

/**
 * Writes and syncs a copy in the folder `staging`, lets `place` move it to its location, and syncs the
 * directory there. Both folders must exist.
 */
export async function writeStaged<T>(
  staging: string,
  location: string,
  body: Body,
  place: (staged: string, location: string) => Promise<T>,
): Promise<T> {
  const staged = join(staging, randomUUID())
  try {
    const isBytes = body instanceof Uint8Array
    // If the file system can, the copy shares the blocks of the original.
    if (!isBytes) await copyFile(body.location, staged, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
    await withFile(staged, isBytes ? 'wx' : 'r+', async (file) => {
      if (isBytes) await file.writeFile(body)
      await file.sync()
    })
    const placed = await place(staged, location)
    await syncDirectory(dirname(location))
    return placed
  } finally {
    await rm(staged, { force: true })
  }
}

/** Returns false if the location is taken. Exactly one of several simultaneous calls creates the file. */
export async function linkIfAbsent(staged: string, location: string): Promise<boolean> {
  try {
    await link(staged, location)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Makes a single directory; returns false if it is there. @param mode as the umask allows. */
export async function mkdirIfAbsent(location: string, mode = 0o777): Promise<boolean> {
  try {
    await mkdir(location, { mode })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/**
 * Makes a directory and its parents below `root`, but never `root` itself. Returns the directories made, the
 * outermost first. Fails where Node's `recursive` tries for ever: in a parent that takes no directory, such
 * as /proc.
 *
 * @param mode of the directory itself.
 */
export async function mkdirInside(location: string, root: string, mode?: number): Promise<string[]> {
  if (location === root) return []
  const made: string[] = []
  const parent = dirname(location)
  try {
    if (await mkdirIfAbsent(location, mode)) made.push(location)
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || parent === root) throw error
    made.push(...(await mkdirInside(parent, root)))
    if (await mkdirIfAbsent(location, mode)) made.push(location)
  }
  return made
}

export async function syncDirectory(location: string): Promise<void> {
  // Windows cannot open directories. Its file system journals names by itself.
  if (process.platform === 'win32') return
  await withFile(location, 'r', (directory) => directory.sync())
}

/** Returns the code of an error, such as `ENOSPC`. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
}

const IN_WORDS: Record<string, string> = {
  EACCES: 'this user may not',
  EDQUOT: 'the quota of this user is used up',
  EMFILE: 'this process has too many open files',
  ENOSPC: 'the disk is full',
  EPERM: 'this user may not',
  EROFS: 'the disk is mounted read-only',
}

/** Returns the code of an error, and in words what an operator can change. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  return code in IN_WORDS ? `${code}: ${IN_WORDS[code]}` : code
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(codeOf(error))
}

/**
 * Returns undefined for a location without a file: nothing is there, or a folder is, or it is below a file.
 */
export async function orUndefined<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ERR_FS_EISDIR')) return undefined
    throw error
  }
}
