// How many are ranked among each other, found by a search of the leaderboard's pages.
import { expect, test } from 'vitest'
import { PeopleNames } from '../../../pipeline/people/names.ts'
import { Boards } from '../../../api/published/boards.ts'
import { Leaderboard } from '../../../api/published/leaderboard.ts'
import { ReleaseFiles } from '../../../api/published/release-files.ts'
import { canonical, sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { ENTRIES_PER_PAGE } from '../../../pipeline/release/board-order.ts'
import { References } from '../../../api/published/references.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { releasePrefix } from '../../../pipeline/store/paths.ts'
import { leaderboardPath } from '../../../pipeline/release/files/leaderboards.ts'
import type { ReleaseManifest } from '../../../schemas/manifests.ts'

interface Board {
  pool: string
  pool_size: number
  ranked: number
}

function pagesOf(boards: readonly Board[], unranked: number) {
  const store = new MemoryStore()
  const entries = [
    ...boards.flatMap(({ ranked, ...of }) =>
      Array.from({ length: ranked }, (_, index) => ({ rank: index + 1, ...of })),
    ),
    ...Array.from({ length: unranked }, () => ({ rank: null, pool: null, pool_size: null })),
  ]
  const files = Array.from({ length: Math.ceil(entries.length / ENTRIES_PER_PAGE) }, (_, page) => {
    const shown = entries.slice(page * ENTRIES_PER_PAGE, (page + 1) * ENTRIES_PER_PAGE)
    const [path, bytes] = [leaderboardPath('agent', page), canonical({ entries: shown })]
    store.objects.set(releasePrefix(1) + path, bytes)
    return { path, rows: shown.length, size_bytes: bytes.length, sha256: sha256Hex(bytes) }
  })
  let reads = 0
  const watched = Object.assign(Object.create(store) as MemoryStore, {
    get: (path: string) => {
      reads += 1
      return store.get(path)
    },
  })
  const held = new ReleaseFiles({ store: watched, monotonicMs: () => performance.now() }, 2 ** 24)
  const leaderboard = new Leaderboard(held, new Boards(held, new PeopleNames(watched)), new References(held))
  const manifest = { release: 1, files } as unknown as ReleaseManifest
  const sizeOf = (board: Omit<Board, 'ranked'>) => leaderboard.boardSize(manifest, 'agent', board)
  const firstOf = async (board: Omit<Board, 'ranked'>) =>
    (await leaderboard.board(manifest, 'agent', board)).first
  const groups = () => Array.fromAsync(leaderboard.entries(manifest, 'agent'))
  return { entries, groups, sizeOf, firstOf, reads: () => reads }
}

const BOARDS = [
  { pool: 'c', pool_size: 900, ranked: 750 },
  { pool: 'a', pool_size: 40, ranked: 20 },
  { pool: 'b', pool_size: 40, ranked: 30 },
  { pool: 'd', pool_size: 3, ranked: 1 },
]

test.for([0, 1, 49, 99, 100, 1000])(
  'counts those of each pool, before %d without a rank',
  async (unranked) => {
    const { sizeOf } = pagesOf(BOARDS, unranked)
    for (const { ranked, ...board } of BOARDS) expect(await sizeOf(board)).toBe(ranked)
  },
)

test('finds the first two of each pool, on whatever page they are', async () => {
  const { firstOf } = pagesOf(BOARDS, 5)
  for (const { ranked, ...board } of BOARDS) {
    const first = [1, 2].slice(0, ranked).map((rank) => ({ rank, ...board }))
    expect(await firstOf(board)).toEqual(first)
  }
})

test('yields all entries in their order, page by page', async () => {
  const { entries, groups } = pagesOf(BOARDS, 150)
  const read = await groups()
  expect(read.flat()).toEqual(entries)
  expect(read.map(({ length }) => length)).toEqual([...Array.from({ length: 9 }, () => 100), 51])
})

test('reads few of many pages', async () => {
  const { sizeOf, reads } = pagesOf([{ pool: 'a', pool_size: 9, ranked: 60_000 }, ...BOARDS], 60_000)
  await sizeOf({ pool: 'a', pool_size: 9 })
  expect(reads()).toBeLessThan(25)
})
