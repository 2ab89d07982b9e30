// A pool of random bytes: what is taken from it is taken once.
import { expect, test } from 'vitest'
import { RandomPool } from '../../../jobs/components/random-pool.ts'

test('no two calls return the same bytes, over several fillings of the pool', () => {
  const pool = new RandomPool()
  const taken = Array.from({ length: 1000 }, () => Buffer.from(pool.take(16)).toString('hex'))
  expect(new Set(taken).size).toBe(1000)
  expect(taken.every((hex) => hex.length === 32)).toBe(true)
})

test('bytes that were taken do not change when the pool is filled again', () => {
  const pool = new RandomPool()
  const first = pool.take(16)
  const before = Buffer.from(first).toString('hex')
  for (let nth = 0; nth < 1000; nth++) pool.take(16)
  expect(Buffer.from(first).toString('hex')).toBe(before)
})
