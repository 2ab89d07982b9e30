// A tree of more records than a piece has, as it is stored and as it is derived.
import { beforeAll, expect, test } from 'vitest'
import { RECORD_BYTES } from '../../pipeline/release/files/forecasts-tree.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { readStoredTree } from '../../pipeline/audit/stored-tree.ts'
import { localFile } from '../support/local-file.ts'

const PIECE_RECORDS = 2 ** 17
const SIZE = PIECE_RECORDS + 300
const PATH = 'forecasts.tree'

let derived: Buffer
/** Records whose ids count up, and then the hash of a tile. */
beforeAll(() => {
  derived = Buffer.alloc(SIZE * RECORD_BYTES + 32, 7)
  for (let record = 0; record < SIZE; record++) derived.writeUInt32BE(record, record * RECORD_BYTES)
})

const idOf = (record: number) => `${record.toString(16).padStart(8, '0')}-0707-0707-0707-070707070707`

async function read(stored: Uint8Array | undefined) {
  const store = new MemoryStore()
  if (stored) await store.put(PATH, stored)
  return readStoredTree(store, PATH, await localFile(derived), { derived: SIZE, stored: SIZE })
}

test('the derived one is found to be that', async () => {
  expect(await read(derived)).toEqual({ isDerived: true, difference: '', repeatedIds: [] })
})

test.for([0, 5, PIECE_RECORDS - 1, PIECE_RECORDS, SIZE - 1])(
  'names record %d where it differs',
  { tags: ['slow'] },
  async (record) => {
    const stored = Buffer.from(derived)
    stored[(record + 1) * RECORD_BYTES - 1]! ^= 1
    const { isDerived, difference } = await read(stored)
    expect(isDerived).toBe(false)
    expect(difference).toMatch(`: record ${record} is ${idOf(record)} with the hash `)
    expect(difference).toMatch(`, expected ${idOf(record)} with the hash `)
  },
)

test(
  'names the first record that is missing, also of one that is not there',
  { tags: ['slow'] },
  async () => {
    const cut = await read(derived.subarray(0, (SIZE - 2) * RECORD_BYTES + 3))
    expect(cut.difference).toMatch(`: record ${SIZE - 2} is nothing, expected ${idOf(SIZE - 2)} with`)
    expect((await read(undefined)).difference).toMatch(`: record 0 is nothing, expected ${idOf(0)} with`)
  },
)

test('is not the derived one without the hashes behind its records', async () => {
  expect(await read(derived.subarray(0, SIZE * RECORD_BYTES))).toEqual({
    isDerived: false,
    difference: '',
    repeatedIds: [],
  })
})

test.for([1, PIECE_RECORDS, SIZE - 1])(
  'names an id that stands in records %d and the one before',
  async (record) => {
    const stored = Buffer.from(derived)
    stored.copyWithin(record * RECORD_BYTES, (record - 1) * RECORD_BYTES, record * RECORD_BYTES)
    expect((await read(stored)).repeatedIds).toEqual([idOf(record - 1)])
  },
)
