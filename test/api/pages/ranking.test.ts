// Boards and bands of the leaderboard: who is ranked together, and who cannot be told apart (METHODOLOGY §3).
import { expect, test } from 'vitest'
import { type Entry, bandsOf, boardsOf } from '../../../api/pages/ranking.ts'

const bar = (lower: number, upper: number) => ({ lower, upper })
const entry = (rank: number, board_interval: ReturnType<typeof bar> | null, pool = 'a') =>
  ({ rank, pool, board_interval, skill_interval: null }) as Entry
const ranksIn = (groups: Entry[][]) => groups.map((group) => group.map(({ rank }) => rank))

test('a band begins with the first row that is told apart from the first row of the band before', () => {
  const rows = [
    entry(1, bar(0.3, 0.5)),
    entry(2, bar(0.2, 0.4)),
    entry(3, bar(0.1, 0.3)),
    entry(4, bar(0.05, 0.25)),
    entry(5, bar(-0.1, 0.1)),
    entry(6, bar(-0.5, 0)),
  ]
  expect(ranksIn(bandsOf(rows))).toEqual([[1, 2, 3], [4, 5], [6]])
})

test('whoever has no interval is told apart from nobody', () => {
  expect(ranksIn(bandsOf([entry(1, bar(0.1, 0.2)), entry(2, null), entry(3, bar(-0.2, -0.1))]))).toEqual([
    [1, 2],
    [3],
  ])
})

test('a release of version 2 of the method has the intervals of the entities alone', () => {
  const older = [bar(0.3, 0.5), bar(0.1, 0.2)].map((skill_interval) => ({ skill_interval }) as Entry)
  expect(bandsOf(older)).toHaveLength(2)
  expect(boardsOf(older)).toHaveLength(1)
})

test('a board has the ranked of one pool', () => {
  const rows = [entry(1, null), entry(2, null), entry(1, null, 'b')]
  expect(ranksIn(boardsOf(rows))).toEqual([[1, 2], [1]])
})

test('there is no band of nobody', () => {
  expect(bandsOf([])).toEqual([])
})
