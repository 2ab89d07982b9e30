// The checksum of a record: nothing but the record that was written to a path is read from it.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { readRecord, recordBytes } from '../../pipeline/store/records.ts'
import { FaultStore } from '../support/faults/fault-store.ts'

const PATH = 'registry/retired/a.json'
const RECORD = { agent_id: 'a', registered_at: '2026-03-01T12:00:00.000Z' }
const schema = z.strictObject({ agent_id: z.string(), registered_at: z.string() })

const read = (store: MemoryStore | FaultStore) => readRecord(store, PATH, schema)

function storeWith(bytes: Uint8Array): MemoryStore {
  const store = new MemoryStore()
  store.objects.set(PATH, bytes)
  return store
}

test('a record is read as it was written, and undefined where there is none', async () => {
  expect(await read(storeWith(recordBytes(PATH, RECORD)))).toEqual(RECORD)
  expect(await read(new MemoryStore())).toBeUndefined()
})

test('a record in which any one bit is flipped, or that ends early anywhere, is corrupt', async () => {
  const bytes = recordBytes(PATH, RECORD)
  for (let at = 0; at < bytes.length; at++) {
    const flipped = bytes.map((byte, index) => (index === at ? byte ^ (1 << (at % 8)) : byte))
    await expect(read(storeWith(flipped)), `flipped at ${at}`).rejects.toMatchObject({ kind: 'corrupt' })
    await expect(read(storeWith(bytes.subarray(0, at))), `cut at ${at}`).rejects.toMatchObject({
      kind: 'corrupt',
    })
  }
})

test('the record of another path, and one without a checksum, are corrupt', async () => {
  const other = recordBytes('registry/retired/b.json', RECORD)
  await expect(read(storeWith(other))).rejects.toMatchObject({
    kind: 'corrupt',
    message: expect.stringMatching(
      `^${PATH} is not a whole record of this service: its checksum is `,
    ) as string,
  })
  const bare = new TextEncoder().encode(JSON.stringify(RECORD))
  await expect(read(storeWith(bare))).rejects.toMatchObject({ kind: 'corrupt' })
})

test('a record of another shape is corrupt', async () => {
  const bytes = recordBytes(PATH, { ...RECORD, more: 1 })
  await expect(read(storeWith(bytes))).rejects.toMatchObject({ kind: 'corrupt' })
})

test('a record that arrives damaged is fetched once more', async () => {
  const bytes = recordBytes(PATH, RECORD)
  const memory = storeWith(bytes.subarray(1))
  const store: FaultStore = new FaultStore(memory, {
    before: () => {
      if (store.calls.length === 2) memory.objects.set(PATH, bytes)
    },
  })
  expect(await read(store)).toEqual(RECORD)
  expect(store.calls).toHaveLength(2)
})
