// The records of the service: what is written to a path is read from it, and nothing else is.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { recordAt, recordBytes, records } from '../../pipeline/store/records.ts'
import { FaultStore } from '../support/faults/fault-store.ts'

const PATH = 'registry/retired/a.json'
const RECORD = { agent_id: 'a', registered_at: '2026-03-01T12:00:00.000Z' }
const schema = z.strictObject({ agent_id: z.string(), registered_at: z.string() })

const read = (store: MemoryStore | FaultStore) => recordAt(store, PATH, schema).get()

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

describe('records of a kind', () => {
  const pathOf = (id: string) => `registry/retired/${id}.json`
  const agent = (id: string) => ({ ...RECORD, agent_id: id })
  const agentsIn = (store: MemoryStore | FaultStore) => records(store, pathOf, schema)

  test('are created once, replaced and deleted, each with the bytes of its path', async () => {
    const store = new MemoryStore()
    const agents = agentsIn(store)
    expect(await agents.create('a', agent('a'))).toBe(true)
    expect(await agents.create('a', agent('b'))).toBe(false)
    expect(store.objects.get(PATH)).toEqual(recordBytes(PATH, agent('a')))
    await agents.replace('a', agent('b'))
    expect(await agents.get('a')).toEqual(agent('b'))
    await agents.delete('a')
    await agents.delete('a')
    expect(await agents.get('a')).toBeUndefined()
  })

  test('are listed in the order of their paths, whenever they were written', async () => {
    const agents = agentsIn(new MemoryStore())
    for (const id of ['c', 'a', 'b']) await agents.create(id, agent(id))
    expect(await agents.list('registry/retired/')).toEqual(['a', 'b', 'c'].map(agent))
    expect(await agents.list('registry/retired/b')).toEqual([agent('b')])
    expect(await agents.list('registry/keys/')).toEqual([])
  })

  test('that are deleted during the listing are left out, and a damaged one ends it', async () => {
    const memory = new MemoryStore()
    for (const id of ['a', 'b']) await agentsIn(memory).create(id, agent(id))
    const store = new FaultStore(memory, {
      before: ({ operation }) => {
        if (operation === 'get') memory.objects.delete(pathOf('b'))
      },
    })
    expect(await agentsIn(store).list('registry/retired/')).toEqual([agent('a')])
    memory.objects.set(pathOf('c'), recordBytes(pathOf('d'), agent('c')))
    await expect(agentsIn(memory).list('registry/retired/')).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringMatching(`^${pathOf('c')} is not a whole record`) as string,
    })
  })
})
