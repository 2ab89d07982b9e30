// The bits of status lists, as zlib and the software of Digital Bazaar read them.
import { gunzipSync, gzipSync } from 'node:zlib'
import { decodeList } from '@digitalbazaar/vc-bitstring-status-list'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { statusListOf } from '../../pipeline/credentials/documents.ts'
import { isSetIn } from '../../pipeline/credentials/check.ts'
import { ENTRIES_PER_LIST, encodedList } from '../../pipeline/credentials/status-list.ts'
import { ISSUE } from '../support/credentials/samples.ts'
import { runs } from '../support/runs.ts'

const LAST = ENTRIES_PER_LIST - 1
const indices = fc.uniqueArray(fc.nat({ max: LAST }), { maxLength: 50 })

const bitsOf = (encoded: string) => gunzipSync(Buffer.from(encoded.slice(1), 'base64url'))

/** The indices of the bits that are set, by zlib and the definition of the standard. */
function setIn(encoded: string): number[] {
  return [...bitsOf(encoded)].flatMap((byte, at) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte & (0x80 >> bit)).map((bit) => at * 8 + bit),
  )
}

test('a list has 16 KiB, in the letters of base64url behind a u', () => {
  const list = encodedList([0, LAST])
  expect(list).toMatch(/^u[A-Za-z0-9_-]+$/)
  expect(bitsOf(list)).toHaveLength(16_384)
})

test('the first bit is the highest of the first byte, and the last the lowest of the last', () => {
  const bits = bitsOf(encodedList([0, LAST]))
  expect([bits[0], bits.at(-1)]).toEqual([0x80, 0x01])
})

test('a list is as small as what it says: these sizes are of every version of zlib', () => {
  const every = (step: number) => Array.from({ length: ENTRIES_PER_LIST / step }, (_, at) => at * step)
  const sizes = [[], every(10_000), every(1_000), every(100), every(3), every(1)].map(
    (set) => encodedList(set).length,
  )
  expect(sizes).toEqual([168, 216, 748, 6_251, 22_783, 168])
})

test('runs of every length and of every byte are read as they were', { tags: ['slow'] }, () => {
  // Bytes that are equal and bytes that differ, in runs of 1 to 300.
  for (let run = 1; run <= 300; run++) {
    for (const byte of [0x00, 0x80, 0xff, 0x91]) {
      const places = Array.from({ length: run * 8 }, (_, at) => at)
      const set = places.filter((at) => byte & (0x80 >> (at & 7))).map((at) => at + 8)
      expect(setIn(encodedList(set))).toEqual(set)
    }
  }
})

test('exactly the given bits are set, by two readers', async () => {
  await fc.assert(
    fc.asyncProperty(indices, async (set) => {
      const encoded = encodedList(set)
      expect(setIn(encoded)).toEqual(set.toSorted((a, b) => a - b))
      const list = await decodeList({ encodedList: encoded })
      expect(list.length).toBe(ENTRIES_PER_LIST)
      for (const index of set) {
        expect([list.getStatus(index), await isSetIn(encoded, index)]).toEqual([true, true])
        for (const beside of [index - 1, index + 1].filter((near) => near >= 0 && near <= LAST)) {
          const isSet = set.includes(beside)
          expect([list.getStatus(beside), await isSetIn(encoded, beside)]).toEqual([isSet, isSet])
        }
      }
    }),
    { numRuns: runs(20) },
  )
})

test('what is no list, or has no such bit, says nothing of an index', async () => {
  const huge = `u${gzipSync(Buffer.alloc(1_000_000)).toString('base64url')}`
  for (const list of ['', 'u', 'uAAAA', huge]) expect(await isSetIn(list, 0)).toBeUndefined()
  expect(await isSetIn(encodedList([]), ENTRIES_PER_LIST)).toBeUndefined()
})

test('each list says only what is revoked of its own credentials', () => {
  const revoked = [0, 5, LAST, LAST + 1, LAST + 6, 2 * ENTRIES_PER_LIST - 1, 2 * ENTRIES_PER_LIST]
  const lists = [0, 1, 2, 3].map((number) => {
    const subject = statusListOf(ISSUE, number, revoked)['credentialSubject'] as { encodedList: string }
    return setIn(subject.encodedList)
  })
  expect(lists).toEqual([[0, 5, LAST], [0, 5, LAST], [0], []])
})

test('a list is read in a browser that cannot iterate over a stream', async () => {
  const { prototype } = ReadableStream
  const iterator = Object.getOwnPropertyDescriptor(prototype, Symbol.asyncIterator)!
  onTestFinished(() => {
    Object.defineProperty(prototype, Symbol.asyncIterator, iterator)
  })
  Object.defineProperty(prototype, Symbol.asyncIterator, { value: undefined, configurable: true })
  expect([await isSetIn(encodedList([7]), 7), await isSetIn(encodedList([7]), 8)]).toEqual([true, false])
})
