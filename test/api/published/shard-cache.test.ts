// What the cache of shards keeps, and what it forgets.
import { expect, test } from 'vitest'
import { ShardCache } from '../../../api/published/shard-cache.ts'

const sized = (name: string) => ({ value: { name }, sizeBytes: 1 })

test('a value is read once until it is forgotten', async () => {
  const cache = new ShardCache<{ name: string }>(10)
  let reads = 0
  const get = () => cache.get('a', () => Promise.resolve(sized(`read ${++reads}`)))
  expect([await get(), await get()]).toEqual([{ name: 'read 1' }, { name: 'read 1' }])
  cache.keepOnly(() => false)
  expect(await get()).toEqual({ name: 'read 2' })
})

test('a reading that is under way when all is forgotten reaches its callers', async () => {
  const cache = new ShardCache<{ name: string }>(10)
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof sized>>()
  const asked = cache.get('a', () => promise)
  cache.keepOnly(() => false)
  resolve(sized('late'))
  expect(await asked).toEqual({ name: 'late' })
})
