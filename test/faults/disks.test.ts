// Disks that fail under a node: full, read-only, without permission, without handles, and gone.
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Failure, expectKeptOn } from './disks.ts'
import { onDisk } from '../support/worlds/places.ts'
import { choicesOf, faultSeed } from '../support/faults/seeded.ts'

const SEED = faultSeed()
const run = promisify(execFile)

/** Room for the store, not much more. */
const DISK = 'size=24m'

/** A disk of its own, in memory. */
async function mounted(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-disk-'))
  await run('mount', ['-t', 'tmpfs', '-o', DISK, 'tmpfs', folder])
  onTestFinished(async () => {
    await run('umount', ['--lazy', folder])
    await rm(folder, { recursive: true })
  })
  return folder
}

/** Whether this process may mount disks. It says so where it may not. */
async function mayMount(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', DISK, 'tmpfs', folder])
    await run('umount', [folder])
    return true
  } catch (error) {
    const message = `disks of a test need the rights of root: ${String(error).split('\n')[0]}`
    if (process.env['CI'] === 'true') throw new Error(message, { cause: error })
    console.warn(`skipped: ${message}`)
    return false
  } finally {
    await rm(folder, { recursive: true })
  }
}

const hasDisks = await mayMount()

/** Fills a disk to its last byte. */
const fill = (disk: string): Failure => ({
  name: 'a full disk',
  says: /ENOSPC/,
  refuses: ['release', 'import'],
  begin: async () => {
    const ballast = join(disk, 'ballast')
    await run('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k']).catch(() => undefined)
    await run('sh', ['-c', `cat /dev/zero >>'${ballast}'`]).catch(() => undefined)
    return () => rm(ballast)
  },
})

const makeReadOnly = (disk: string): Failure => ({
  name: 'a disk that becomes read-only',
  says: /EROFS/,
  refuses: ['release', 'import'],
  begin: async () => {
    // Not while a file is open for writing.
    const isDone = () =>
      run('mount', ['-o', 'remount,ro', disk]).then(
        () => true,
        () => false,
      )
    await expect.poll(isDone).toBe(true)
    return async () => void (await run('mount', ['-o', 'remount,rw', disk]))
  },
})

const takePermission = (store: string): Failure => ({
  name: 'a store without permission',
  says: /EACCES/,
  refuses: ['release', 'import'],
  begin: async () => {
    await chmod(store, 0o000)
    return () => chmod(store, 0o755)
  },
})

/** The node keeps the handles that it has and gets no more. */
const exhaustHandles: Failure = {
  name: 'no handles left',
  says: /EMFILE/,
  refuses: [],
  begin: async (pid) => {
    const limit = async (count: number) =>
      void (await run('prlimit', ['--pid', String(pid), `--nofile=${count}:`]))
    await limit(8)
    return () => limit(1024)
  },
}

const vanish = (store: string): Failure => ({
  name: 'a store that vanishes and comes back',
  says: /could not be/,
  refuses: ['release'],
  begin: async () => {
    await rename(store, `${store}-away`)
    return () => rename(`${store}-away`, store)
  },
})

/** As when a disk is away: an empty folder is in the place of the store. */
const unmount = (store: string): Failure => ({
  ...vanish(store),
  name: 'a store with an empty folder in its place',
  begin: async () => {
    await rename(store, `${store}-away`)
    await mkdir(store)
    return async () => {
      await rm(store, { recursive: true })
      await rename(`${store}-away`, store)
    }
  },
})

describe.skipIf(!hasDisks)(`a disk that fails, FAULT_SEED=${SEED}`, () => {
  test.for([
    ['fills up', fill],
    ['becomes read-only', makeReadOnly],
  ] as const)('and %s', async ([, failure]) => {
    const disk = await mounted()
    await expectKeptOn(await onDisk(join(disk, 'store')), choicesOf(SEED, 41), failure(disk))
  })
})

describe(`a store that fails, FAULT_SEED=${SEED}`, () => {
  test.for([
    ['vanishes', vanish],
    ['has an empty folder in its place', unmount],
  ] as const)('because it %s', async ([, failure]) => {
    const place = await onDisk()
    await expectKeptOn(place, choicesOf(SEED, 42), failure(place.options.env!['STORE_URL']!))
  })

  test('because the node has no handles left', async () => {
    await expectKeptOn(await onDisk(), choicesOf(SEED, 43), exhaustHandles)
  })

  test('because the node may not read it', async () => {
    const place = await onDisk()
    const root = place.options.env!['STORE_URL']!
    // Modes mean nothing to root.
    const options = { ...place.options, uid: 65_534 }
    await run('chown', ['-R', '65534', place.options.folder])
    await expectKeptOn({ ...place, options }, choicesOf(SEED, 44), takePermission(root))
  })
})
