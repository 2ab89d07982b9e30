// What a backup copies again, deletes, keeps and refuses.
import { beforeEach, expect, test } from 'vitest'
import { type CopyReport, copyStore } from '../../pipeline/backup/copy.ts'
import { noteThinned } from '../../pipeline/release/read.ts'
import type { ServiceError } from '../../schemas/errors.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { testFolder } from '../support/folder.ts'
import { contentOf } from '../support/store-content.ts'
import { send } from '../support/tables.ts'
import { copyReleasedWorld } from '../support/worlds/world.ts'

let folder: string
let store: MemoryStore
let backup: MemoryStore
beforeEach(async () => {
  folder = await testFolder()
  store = new MemoryStore()
  await copyReleasedWorld(store)
  backup = new MemoryStore()
})

const copy = (
  comparesAll = false,
  progress = (_done: number, _all: number): void => undefined,
): Promise<CopyReport> =>
  copyStore({
    from: store,
    to: backup,
    directory: folder,
    deletes: true,
    comparesAll,
    progress,
  })

const pathLike = ({ objects }: MemoryStore, pattern: RegExp) =>
  [...objects.keys()].find((path) => pattern.test(path))!

function damage({ objects }: MemoryStore, path: string): void {
  const bytes = objects.get(path)!.slice()
  bytes[bytes.length >> 1]! ^= 1
  objects.set(path, bytes)
}

const DATA_FILE = /^tables\/forecasts\/recorded_date=/
const SHARD = /^releases\/00000001\/agent\//

test('copies what is new or has changed, and nothing twice', async () => {
  await copy()
  const first = await contentOf(backup)
  expect(await copy()).toMatchObject({ copied: 0, deleted: 0, faults: [] })
  const key = pathLike(store, /^registry\/keys\//)
  await store.put(key, Buffer.from('{"changed":1}'))
  await store.put('people/unknown.json', Buffer.from('{}'))
  expect(await copy()).toMatchObject({ copied: 2, faults: [] })
  const { [key]: _old, ...others } = first
  const { [key]: _new, 'people/unknown.json': _added, ...now } = await contentOf(backup)
  expect(now).toEqual(others)
})

test('copies a record that has changed, though the clocks of the stores may differ by an hour', async () => {
  store = new MemoryStore(() => new Date('2026-03-01T12:00:00Z'))
  backup = new MemoryStore(() => new Date('2026-03-01T13:00:00Z'))
  for (const content of ['1', '2']) {
    await store.put('registry/keys/a.json', Buffer.from(content))
    expect(await copy()).toMatchObject({ copied: 1 })
  }
})

test('says how much is done of what there is, also while much waits in the inbox', async () => {
  for (const name of ['a', 'b', 'c']) await send(store, 'forecasters', name, [])
  const said: [done: number, all: number][] = []
  await copy(false, (done, all) => said.push([done, all]))
  const all = said.length
  expect(said).toEqual(said.map((_, nth) => [nth + 1, all]))
})

test('deletes what the store deletes, last, and keeps what the store has lost', async () => {
  await store.put('people/erased.json', Buffer.from('{}'))
  await copy()
  const [shard, dataFile] = [pathLike(store, SHARD), pathLike(store, DATA_FILE)]
  await store.delete('people/erased.json')
  await noteThinned(store, 1, new Date(0))
  await store.delete(shard)
  store.objects.delete(dataFile)
  const report = await copy()
  expect(report).toMatchObject({ deleted: 2, faults: [expect.stringMatching(`^${dataFile} is lost: `)] })
  expect(backup.objects.has(shard) || backup.objects.has('people/erased.json')).toBe(false)
  expect(backup.objects.has(dataFile)).toBe(true)
})

test.for([
  DATA_FILE,
  SHARD,
  /^intake\//,
  /^snapshots\/.*\/manifest/,
  /^releases\/0+1\/manifest/,
  /_delta_log\/0{19}1\.json$/,
])('never copies damage: %s', async (pattern) => {
  await copy()
  const whole = await contentOf(backup)
  const path = pathLike(store, pattern)
  damage(store, path)
  // By some objects it is decided what is copied at all.
  const faults = await copy(true).then(
    (report) => report.faults,
    (error: ServiceError) => [error.message],
  )
  expect(faults).toEqual([expect.stringContaining(path)])
  expect(await contentOf(backup)).toEqual(whole)
})

test('replaces what is damaged in the backup, if it compares all', async () => {
  await copy()
  const whole = await contentOf(backup)
  for (const pattern of [DATA_FILE, SHARD, /^intake\//]) damage(backup, pathLike(backup, pattern))
  expect(await copy()).toMatchObject({ copied: 0 })
  expect(await copy(true)).toMatchObject({ copied: 3, faults: [] })
  expect(await contentOf(backup)).toEqual(whole)
})

test('refuses a place that another store was copied to, or this one before it was set back', async () => {
  await copy()
  const whole = await contentOf(backup)
  store = new MemoryStore()
  await expect(copy()).rejects.toMatchObject({ kind: 'conflict' })
  expect(await contentOf(backup)).toEqual(whole)
})
