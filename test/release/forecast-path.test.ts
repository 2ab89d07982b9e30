// Paths of forecasts from `forecasts.tree`: every forecast of trees of any size, by few reads, and no byte
// that is not checked.
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GrowingTree } from '../../pipeline/proof/merkle.ts'
import { verifyInclusion } from '../../pipeline/proof/merkle-proof.ts'
import { assertTreeIsWhole, forecastPath } from '../../pipeline/release/forecast-path.ts'
import { noteThinned } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { FORECASTS_TREE_PATH } from '../../pipeline/release/files/forecasts-tree.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { FaultStore } from '../support/faults/fault-store.ts'

const PATH = releasePrefix(1) + FORECASTS_TREE_PATH
const RECORD = 48

const uuidText = (bytes: Buffer) =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
const leafOf = (number: number) => hash('sha256', `leaf ${number}`, 'buffer')

/** A file of a tree of this size, whose ids lie as far apart as random ones do. */
function treeOf(size: number) {
  const ids = Array.from({ length: size }, (_, number) =>
    hash('sha256', `id ${number}`, 'buffer').subarray(0, 16),
  )
  ids.sort((a, b) => Buffer.compare(a, b))
  const tree = new GrowingTree()
  for (let number = 0; number < size; number++) tree.add(leafOf(number))
  const records = ids.flatMap((id, number) => [id, leafOf(number)])
  const bytes = Buffer.concat([...records, ...tree.tileLevels.flat()])
  const store = new MemoryStore()
  store.objects.set(PATH, bytes)
  return { ids: ids.map(uuidText), head: { root: tree.root, size }, bytes, store }
}

/** Reads of ids until one run of 256 records is left. */
const halvings = (size: number) => Math.ceil(Math.log2(Math.ceil(size / 256)))

describe.for([
  // The most reads: those of ids, the run, and the tiles that a path crosses besides.
  [1, 1],
  [2, 1],
  [255, 1],
  [256, 1],
  [257, 1 + 1 + 2],
  [600, 2 + 1 + 2],
  [66_000, 9 + 1 + 4],
] as const)('in a tree of %d', ([size, most]) => {
  const { ids, head, store } = treeOf(size)
  // Of the large tree those at its beginning, at its end and around each border, and some of the rest.
  const places = [...ids.keys()].filter(
    (place) =>
      size <= 600 || place % 509 === 0 || place % 256 === 0 || place % 256 === 255 || place > size - 9,
  )

  test(
    `every forecast is found with a path that holds, by at most ${most} reads`,
    { tags: ['slow'] },
    async () => {
      let mostRead = 0
      for (const place of places) {
        const watched = new FaultStore(store)
        const path = await forecastPath(watched, 1, head, ids[place]!)
        expect(path?.index).toBe(place)
        verifyInclusion(leafOf(place), place, path!.hashes, head)
        const reads = watched.calls.map(({ operation }) => operation)
        expect(new Set(reads)).toEqual(new Set(['range']))
        mostRead = Math.max(mostRead, reads.length)
      }
      expect(mostRead).toBeLessThanOrEqual(most)
      expect(mostRead).toBeGreaterThan(halvings(size))
    },
  )

  test('no other id is found', async () => {
    const others = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
    for (const id of [...others, ...places.slice(0, 50).map((place) => nextTo(ids[place]!))]) {
      const watched = new FaultStore(store)
      expect(await forecastPath(watched, 1, head, id)).toBeUndefined()
      expect(watched.count('range')).toBeLessThanOrEqual(1 + halvings(size))
    }
  })
})

/** The id after this one, which no tree of these has. */
function nextTo(id: string): string {
  return uuidText(
    Buffer.from((BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0'), 'hex'),
  )
}

describe('a damaged file', () => {
  const { ids, head, bytes, store } = treeOf(300)
  const file = {
    path: FORECASTS_TREE_PATH,
    rows: 300,
    size_bytes: bytes.byteLength,
    sha256: sha256Hex(bytes),
  }

  test('with one byte changed gives no path that does not hold, and is found out before an id is denied', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: bytes.byteLength - 1 }),
        fc.integer({ min: 1, max: 255 }),
        fc.nat({ max: 299 }),
        async (at, mask, other) => {
          const changed = Buffer.from(bytes)
          changed[at]! ^= mask
          const damaged = new MemoryStore()
          damaged.objects.set(PATH, changed)
          // The one whose record it is, and any other.
          for (const place of [Math.min(299, Math.floor(at / RECORD)), other]) {
            try {
              const path = await forecastPath(damaged, 1, head, ids[place]!)
              if (path) verifyInclusion(leafOf(place), path.index, path.hashes, head)
              else
                await expect(assertTreeIsWhole(damaged, 1, file)).rejects.toMatchObject({ kind: 'corrupt' })
            } catch (error) {
              expect(error).toMatchObject({ kind: 'corrupt' })
            }
          }
        },
      ),
    )
  })

  test('that ends early is corrupt', async () => {
    const short = new MemoryStore()
    short.objects.set(PATH, bytes.subarray(0, -1))
    await expect(forecastPath(short, 1, head, ids[299]!)).rejects.toMatchObject({ kind: 'corrupt' })
  })

  test('whose first read went wrong is read again', async () => {
    const watched = new FaultStore(store)
    let reads = 0
    const range = watched.range.bind(watched)
    watched.range = async (...asked) => {
      const found = await range(...asked)
      return reads++ === 1 ? Buffer.from(found!).fill(0, 20, 60) : found
    }
    expect((await forecastPath(watched, 1, head, ids[0]!))?.index).toBe(0)
  })

  test('that is whole passes', async () => {
    await expect(assertTreeIsWhole(store, 1, file)).resolves.toBeUndefined()
  })
})

describe('a file that is gone', () => {
  const { ids, head } = treeOf(3)

  test('is corrupt', async () => {
    await expect(forecastPath(new MemoryStore(), 1, head, ids[0]!)).rejects.toMatchObject({ kind: 'corrupt' })
  })

  test('by retention says so', async () => {
    const thinned = new MemoryStore()
    await noteThinned(thinned, 1, new Date(0))
    await expect(forecastPath(thinned, 1, head, ids[0]!)).rejects.toMatchObject({
      kind: 'notFound',
      type: 'release-thinned',
    })
  })
})
