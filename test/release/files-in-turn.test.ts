// Files that are written while other work goes on: one after another, whatever fails, and gone with what made
// them.
import { readdir, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { deriveRelease } from '../../pipeline/release/derive.ts'
import { FilesInTurn } from '../../pipeline/release/files-in-turn.ts'
import { makeRelease } from '../../pipeline/release/make.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { testFolder } from '../support/folder.ts'
import { HISTORY_START_MS, historyOf, takeIn } from '../support/worlds/history.ts'
import { Clock, testComponents } from '../support/http/service.ts'

const textOf = async (bytes: Promise<Uint8Array>) => Buffer.from(await bytes).toString()

test('each file is begun when the one before is written, and gone when it has been read', async () => {
  const folder = await testFolder()
  await using files = new FilesInTurn(folder)
  const first = Promise.withResolvers<void>()
  const begun: string[] = []
  files.add('scores/000.parquet', async (location) => {
    begun.push('first')
    await first.promise
    await writeFile(location, 'one')
  })
  files.add('pairs/001.parquet', async (location) => {
    begun.push('second')
    await writeFile(location, 'two')
  })
  const second = textOf(files.read('pairs/001.parquet'))
  expect(await Promise.race([second, Promise.resolve('waits')])).toBe('waits')
  expect(begun).toEqual(['first'])
  first.resolve()
  expect(await second).toBe('two')
  expect(await readdir(folder)).toEqual(['scores-000.parquet'])
  expect(await textOf(files.read('scores/000.parquet'))).toBe('one')
  expect(await readdir(folder)).toEqual([])
})

test('a failure is met where a file is read, and no file is begun after it', async () => {
  await using files = new FilesInTurn(await testFolder())
  const begun: string[] = []
  files.add('a', () => Promise.reject(new Error('the disk is full')))
  files.add('b', (location) => {
    begun.push('b')
    return writeFile(location, '')
  })
  await expect(files.read('b')).rejects.toThrow('the disk is full')
  await expect(files.read('a')).rejects.toThrow('the disk is full')
  expect(begun).toEqual([])
})

test('what is disposed of waits for the file that is being written, begins no other, and leaves none', async () => {
  const folder = await testFolder()
  const files = new FilesInTurn(folder)
  const writing = Promise.withResolvers<void>()
  const may = Promise.withResolvers<void>()
  let isSecondBegun = false
  files.add('a', async (location) => {
    writing.resolve()
    await may.promise
    await writeFile(location, 'a')
  })
  files.add('b', (location) => {
    isSecondBegun = true
    return writeFile(location, 'b')
  })
  await writing.promise
  const disposed = files[Symbol.asyncDispose]()
  may.resolve()
  await disposed
  expect(isSecondBegun).toBe(false)
  expect(await readdir(folder)).toEqual([])
})

/** A world with scores, of which nothing has been released. */
async function world() {
  const store = new MemoryStore()
  const clock = new Clock(new Date(HISTORY_START_MS).toISOString())
  const [step] = historyOf(1, 1)
  await takeIn(step!, store, 'a')
  clock.set(new Date(clock.now().getTime() + step!.laterMs).toISOString())
  return { store, clock }
}

/** The folder of local copies of objects stays. */
async function filesIn(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.endsWith('.parquet'))
}

test.each([/\/forecaster\//, /\/scores\/000/, /manifest/])(
  'a release that cannot put %s leaves no file on this machine',
  { tags: ['slow'] },
  async (refused) => {
    const { store, clock } = await world()
    const failing = new FaultStore(store, {
      before({ operation, path }) {
        if (operation === 'putIfAbsent' && refused.test(path)) throw new Error(`refuses ${path}`)
      },
    })
    const components = await testComponents({ store: failing, clock })
    await expect(makeRelease(components)).rejects.toThrow('refuses')
    expect(await filesIn(components.directory)).toEqual([])
  },
)

test(
  'a release that was derived leaves no file behind, also where its files were not asked for',
  { tags: ['slow'] },
  async () => {
    const { store, clock } = await world()
    const components = await testComponents({ store, clock })
    await makeRelease(components)
    await withDatabase(components.openDatabase, async (database) => {
      await using derived = await deriveRelease(
        { ...components, database },
        {
          release: 2,
          asOf: components.now(),
          environment: 'production',
          versions: await currentVersions(store),
          previous: undefined,
          bringsSnapshot: false,
        },
      )
      expect(derived.pairs).toBeGreaterThan(0)
    })
    expect(await filesIn(components.directory)).toEqual([])
  },
)
