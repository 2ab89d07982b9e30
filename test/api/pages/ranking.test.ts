// Bands of the leaderboard: rows that cannot be told apart, by METHODOLOGY §3.
import { expect, test } from 'vitest'
import { type Entry, bandsOf } from '../../../api/pages/ranking.ts'

const entry = (rank: number, lower: number, upper: number) =>
  ({ rank, rank_interval: { lower, upper } }) as Entry
const ranksIn = (bands: Entry[][]) => bands.map((band) => band.map(({ rank }) => rank))

test('a band begins with the first row that is told apart from the first row of the band before', () => {
  const rows = [
    entry(1, 1, 3),
    entry(2, 1, 4),
    entry(3, 1, 5),
    entry(4, 2, 5),
    entry(5, 3, 6),
    entry(6, 5, 6),
  ]
  expect(ranksIn(bandsOf(rows))).toEqual([[1, 2, 3], [4, 5], [6]])
})

test('each must hold the rank of the other: a wide interval alone joins nobody', () => {
  expect(ranksIn(bandsOf([entry(1, 1, 1), entry(2, 1, 9), entry(3, 3, 3)]))).toEqual([[1], [2], [3]])
})

test('there is no band of nobody', () => {
  expect(bandsOf([])).toEqual([])
})
