import { expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { storeContract } from '../support/store-contract.ts'

storeContract('a store in memory', () => Promise.resolve(new MemoryStore()))

test('a store in memory dates its objects by its clock, and without one to 1970', async () => {
  let now = new Date('2026-01-31T12:00:00.000Z')
  const store = new MemoryStore(() => now)
  const timeless = new MemoryStore()
  const times = async (of: MemoryStore) =>
    (await Array.fromAsync(of.list(''))).map(({ modifiedAt }) => modifiedAt.toISOString())
  for (const each of [store, timeless]) await each.putIfAbsent('a', new Uint8Array())
  now = new Date('2026-01-31T13:00:00.000Z')
  for (const each of [store, timeless]) await each.put('b', new Uint8Array())
  expect(await times(store)).toEqual(['2026-01-31T12:00:00.000Z', '2026-01-31T13:00:00.000Z'])
  expect(await times(timeless)).toEqual(['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'])
})
