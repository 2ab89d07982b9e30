// Each object that can be moved aside × each damage to it: the table stops at it and names it, the quarantine
// moves it aside and records why, and from then on the table has every other row, each once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../pipeline/duckdb.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { quarantine } from '../../pipeline/release/quarantine.ts'
import { inboxPrefix, intakePath, offerPath, quarantinePath } from '../../pipeline/store/paths.ts'
import { recordBytes } from '../../pipeline/store/records.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { encodeRows } from '../../pipeline/tables/inbox.ts'
import { putIntake } from '../../pipeline/tables/intake.ts'
import { listQuarantined } from '../../pipeline/tables/quarantine.ts'
import type { TableName } from '../../schemas/tables.ts'
import { openSharedDatabase } from '../support/databases.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { sample } from '../support/runs.ts'
import { contentOf, copyOf, flip } from '../support/store-content.ts'
import { send, sendBroken } from '../support/tables.ts'
import {
  type TroubledTable,
  cutOff,
  expectRowsOnce,
  rowsOf,
  threeObjects,
  workerOver,
} from '../support/worlds/troubled-table.ts'

const TABLES = ['forecasts', 'resolutions', 'usage'] as const
const REASON = 'a disk of the store is failing'
let database: Database
beforeAll(async () => {
  database = await openSharedDatabase({ threads: 1, memoryLimit: '512MB' })
})
afterAll(() => database[Symbol.dispose]())

interface Role {
  make?: (filled: TroubledTable, table: TableName) => Promise<unknown>
  find: (filled: TroubledTable, table: TableName) => string
  /** The numbers of the objects whose rows the table has without it. */
  left: number[]
  /** The version that its record names. */
  version: number | null
  /** Data files that were made with it. */
  dataFiles?: number
  /** Whether the table needs it so much that it stops if it is gone. */
  isNeeded: boolean
}

const cutAt = (at: number) => (filled: TroubledTable, table: TableName) => cutOff(database, filled, table, at)
const second = ({ objects }: TroubledTable) => objects[1]!
const firstIntake = (_: TroubledTable, table: TableName) => intakePath(table, 1)
const offered = (_: TroubledTable, table: TableName) =>
  offerPath(table, 1, 'offer', encodeRows(table, rowsOf(table, 8)))

const OBJECTS: Record<string, Role> = {
  'an inbox object': { find: second, left: [0, 2], version: null, isNeeded: false },
  'an inbox object of an intake': {
    make: cutAt(3),
    find: second,
    left: [0, 2],
    version: 1,
    isNeeded: true,
  },
  'an inbox object of an intake, with some data files': {
    make: cutAt(5),
    find: second,
    left: [0, 2],
    version: 1,
    dataFiles: 2,
    isNeeded: true,
  },
  'an inbox object of an intake, with all data files': {
    make: cutAt(6),
    find: second,
    left: [0, 2],
    version: 1,
    dataFiles: 3,
    isNeeded: true,
  },
  'an offer of an intake': {
    make: async (filled, table) => {
      await cutOff(database, filled, table, 2)
      const path = offered(filled, table)
      await filled.store.put(path, encodeRows(table, rowsOf(table, 8)))
      await putIntake(filled.store, table, 1, [path])
    },
    find: offered,
    left: [0, 1, 2],
    version: 1,
    isNeeded: true,
  },
  'an intake': { make: cutAt(3), find: firstIntake, left: [0, 1, 2], version: 1, isNeeded: false },
  'an intake, with data files': {
    make: cutAt(6),
    find: firstIntake,
    left: [0, 1, 2],
    version: 1,
    dataFiles: 3,
    isNeeded: false,
  },
  'the intake of a committed version, with objects left': {
    make: cutAt(8),
    find: firstIntake,
    left: [0, 1, 2],
    version: null,
    isNeeded: true,
  },
}

/** What becomes of the bytes; undefined if the object is gone. */
type Damage = (bytes: Uint8Array, filled: TroubledTable, table: TableName) => Uint8Array | undefined

const DAMAGES: Record<string, Damage> = {
  'with a flipped bit': (bytes) => bytes.with(bytes.length >> 1, bytes[bytes.length >> 1]! ^ 1),
  'that ends early': (bytes) => bytes.subarray(0, -1),
  'that is empty': () => new Uint8Array(),
  'with the bytes of another': (bytes, { store, objects }, table) =>
    bytes[0] === '{'.charCodeAt(0)
      ? recordBytes(intakePath(table, 9), { inbox: objects })
      : store.objects.get(objects[0]!)!,
  'that is gone': () => undefined,
}

interface Trouble extends Pick<Role, 'left' | 'version' | 'dataFiles' | 'isNeeded'> {
  store: TroubledTable['store']
  key: string
}

async function troubled(object: string, damage: string, table: TableName): Promise<Trouble> {
  const role = OBJECTS[object]!
  const filled = await threeObjects(table)
  await role.make?.(filled, table)
  await send(filled.store, table, 'later', rowsOf(table, 3))
  const key = role.find(filled, table)
  const bytes = DAMAGES[damage]!(filled.store.objects.get(key)!, filled, table)
  if (bytes === undefined) filled.store.objects.delete(key)
  else filled.store.objects.set(key, bytes)
  return { ...role, store: filled.store, key, left: [...role.left, 3] }
}

async function expectStopped({ store, key }: Trouble, table: TableName): Promise<void> {
  const before = await contentOf(store, inboxPrefix(table))
  await expect(compact(await workerOver(database, store), table)).rejects.toMatchObject({
    kind: 'corrupt',
    message: expect.stringMatching(
      new RegExp(`^${key} .*; restore it .*: fvs quarantine ${key} --reason TEXT$`, 's'),
    ) as string,
  })
  expect(await contentOf(store, inboxPrefix(table))).toEqual(before)
}

async function expectMovedAside(trouble: Trouble): Promise<void> {
  const { store, key, version, dataFiles = 0 } = trouble
  const bytes = store.objects.get(key)
  const worker = await workerOver(database, store)
  const done = await quarantine(worker, key, REASON)
  const object = {
    key,
    at: worker.now().toISOString(),
    reason: REASON,
    version,
    size_bytes: bytes?.length ?? null,
    sha256: bytes ? sha256Hex(bytes) : null,
  }
  expect(done).toMatchObject({ was_recorded: false, object })
  expect(done.data_files).toHaveLength(dataFiles)
  expect(store.objects.has(key)).toBe(false)
  expect(await store.get(quarantinePath(key))).toEqual(bytes)
  for (const path of done.data_files) {
    expect(store.objects.has(path)).toBe(false)
    expect(store.objects.has(quarantinePath(path))).toBe(true)
  }
  const reasons = Object.fromEntries((await listQuarantined(store)).map((one) => [one.key, one.reason]))
  const made = done.data_files.map((path) => [path, `made with ${key}: ${REASON}`])
  expect(reasons).toEqual({ [key]: REASON, ...Object.fromEntries(made) })
  const content = await contentOf(store)
  const again = await quarantine(worker, key, 'another reason')
  expect(again).toEqual({ ...done, was_recorded: true, data_files: version === null ? [] : again.data_files })
  expect(await contentOf(store)).toEqual(content)
}

async function expectRight({ store, left }: Trouble, table: TableName): Promise<void> {
  await compact(await workerOver(database, store), table)
  await send(store, table, 'last', rowsOf(table, 9))
  await compact(await workerOver(database, store), table)
  await expectRowsOnce(database, store, table, rowsOf(table, ...left, 9))
}

/** An open intake that is gone leaves no trace, so that a reader without the log meets its data files too. */
const isUnnoticed = (object: string, damage: string) =>
  object === 'an intake, with data files' && damage === 'that is gone'

const CASES = Object.keys(OBJECTS).flatMap((object) =>
  Object.keys(DAMAGES)
    .filter((damage) => !isUnnoticed(object, damage))
    .flatMap((damage) => TABLES.map((table) => ({ object, damage, table }))),
)

test.for(sample(CASES))('$object $damage of $table', async ({ object, damage, table }) => {
  const trouble = await troubled(object, damage, table)
  if (damage === 'that is gone' && !trouble.isNeeded) {
    const before = await contentOf(trouble.store)
    await expect(quarantine(await workerOver(database, trouble.store), trouble.key, REASON)).rejects.toThrow(
      'nothing waits for it',
    )
    expect(await contentOf(trouble.store)).toEqual(before)
  } else {
    await expectStopped(trouble, table)
    await expectMovedAside(trouble)
  }
  await expectRight(trouble, table)
})

describe('an object that nobody sent', () => {
  const STRAYS: Record<string, (filled: TroubledTable) => Promise<string>> = {
    'without a hash in its name': async ({ store }) => {
      const key = `${inboxPrefix('forecasts')}stray.parquet`
      await store.put(key, new Uint8Array([1]))
      return key
    },
    'that arrived whole and is not Parquet': ({ store }) => sendBroken(store, 'forecasts'),
    'that is not Parquet, beside a version whose intake was moved aside': async (filled) => {
      await cutOff(database, filled, 'forecasts', 8)
      flip(filled.store, intakePath('forecasts', 1))
      await quarantine(await workerOver(database, filled.store), intakePath('forecasts', 1), REASON)
      return sendBroken(filled.store, 'forecasts')
    },
  }

  test.for(Object.entries(STRAYS))('%s', async ([, put]) => {
    const filled = await threeObjects('forecasts')
    const key = await put(filled)
    const trouble = { store: filled.store, key, left: [0, 1, 2], version: null, isNeeded: false }
    await expectStopped(trouble, 'forecasts')
    await quarantine(await workerOver(database, filled.store), key, REASON)
    await expectRight(trouble, 'forecasts')
  })
})

const CUTS = Object.keys(OBJECTS).flatMap((object) => FAULTS.map((fault) => ({ object, fault })))

test.for(CUTS)(
  '$object is moved aside by a second run where the first $fault',
  { tags: ['slow'] },
  async ({ object, fault }) => {
    const trouble = await troubled(object, 'with a flipped bit', 'forecasts')
    const aside = async (store: TroubledTable['store']) =>
      quarantine(await workerOver(database, store), trouble.key, REASON)
    const clean = copyOf(trouble.store)
    await aside(clean)
    const expected = await contentOf(clean)
    await expectRight({ ...trouble, store: clean }, 'forecasts')
    let cuts = 0
    for (let at = 1; ; at++) {
      const store = copyOf(trouble.store)
      const broken = new FaultStore(store, { at, fault, crash: true })
      const isCut = await quarantine(await workerOver(database, broken), trouble.key, REASON).then(
        () => false,
        (error: unknown) => {
          expect(error).toMatchObject({ kind: 'unavailable' })
          return true
        },
      )
      if (!isCut) break
      cuts += 1
      // A run in between stops, or goes on if what was left does not matter to it.
      const between = copyOf(store)
      await compact(await workerOver(database, between), 'forecasts').catch((error: unknown) => {
        expect(error).toMatchObject({ kind: 'corrupt' })
      })
      for (const cut of [store, between]) await aside(cut)
      expect(await contentOf(store), `cut at ${at}`).toEqual(expected)
      expect((await listQuarantined(between)).map(({ key }) => key)).toContain(trouble.key)
      await expectRight({ ...trouble, store: between }, 'forecasts')
    }
    expect(cuts).toBeGreaterThan(0)
  },
)
