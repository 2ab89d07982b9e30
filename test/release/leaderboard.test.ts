// The order of a leaderboard: by pool and rank, and then those without a rank.
import { expect, test } from 'vitest'
import { ENTRIES_PER_PAGE } from '../../pipeline/release/board-order.ts'
import { leaderboardFiles } from '../../pipeline/release/files/leaderboards.ts'
import type { ListedEntity } from '../../pipeline/release/payloads.ts'
import type { BoardPage } from '../../api/pages/ranking.ts'
import { UNTOLD_FACTS } from '../support/worlds/scored-world.ts'

const PROVENANCE = {
  methodology_version: '4.0.0',
  release: 1,
  as_of: '2026-01-01T00:00:00.000Z',
  environment: 'production',
} as const

const UNRANKED = { rank: null, pool: null, pool_size: null, skill: null, contested_questions: 0 }
const entity = (entityId: string, metrics: Partial<ListedEntity['metrics']>): ListedEntity => ({
  entityType: 'agent',
  entityId,
  facts: { ...UNTOLD_FACTS, name: entityId, model_type: 'a model' },
  pairs: 0,
  award: { certification: 'none' },
  listing: { trend: [0.1, 0.2] },
  metrics: {
    eligible: false,
    rank_interval: null,
    skill_interval: null,
    board_interval: null,
    peer_score: null,
    brier: null,
    median_skill: null,
    answered_share: null,
    ...UNRANKED,
    ...metrics,
  },
})
const ranked = (entityId: string, pool: string, pool_size: number, rank: number, skill: number) =>
  entity(entityId, { eligible: true, pool, pool_size, rank, skill, contested_questions: 30 })

function ordered(entities: readonly ListedEntity[]): string[][] {
  return [...leaderboardFiles('agent', entities, PROVENANCE)].map(({ bytes }) =>
    (JSON.parse(Buffer.from(bytes).toString()) as BoardPage).entries.map(({ name }) => name!),
  )
}

test('pools come by size, then by name, each by rank and id; the others follow by contested questions and id', () => {
  const entities = [
    ranked('first of the largest', 'p', 30, 1, 0.5),
    ranked('last of the largest', 'p', 30, 2, -0.5),
    ranked('first of the next', 'a', 20, 1, 0.9),
    ranked('tied a', 'a', 20, 2, 0.1),
    ranked('tied b', 'a', 20, 2, 0.1),
    ranked('of one size', 'b', 20, 1, 0.95),
    // In the largest pool, and not eligible.
    entity('many', { contested_questions: 24, pool: 'p', pool_size: 30, skill: 0.8 }),
    entity('few a', { contested_questions: 1, pool: 'a', pool_size: 20, skill: 0.9 }),
    entity('few b', { contested_questions: 1, pool: 'p', pool_size: 30, skill: 0.1 }),
    entity('none', {}),
  ]
  const expected = [entities.map(({ entityId }) => entityId)]
  expect(ordered(entities.toReversed())).toEqual(expected)
  expect(ordered([...entities.slice(4), ...entities.slice(0, 4)])).toEqual(expected)
})

test('an entry has the pool and the board interval of its entity', () => {
  const board_interval = { lower: -0.1, upper: 0.3 }
  const [file] = leaderboardFiles(
    'agent',
    [entity('a', { pool: 'p', pool_size: 6, board_interval })],
    PROVENANCE,
  )
  const { entries } = JSON.parse(Buffer.from(file!.bytes).toString()) as BoardPage
  expect(entries[0]).toMatchObject({ pool: 'p', pool_size: 6, board_interval })
})

test('an entry has its model, its skill against the median, its answered share, and of an eligible entity how the skill came about', () => {
  const first = ranked('a', 'p', 6, 1, 0.2)
  const entities = [
    { ...first, facts: { ...first.facts, organization_name: 'Lab' } },
    entity('b', { median_skill: -0.1, answered_share: 0.5 }),
  ]
  const [file] = leaderboardFiles('agent', entities, PROVENANCE)
  const { entries } = JSON.parse(Buffer.from(file!.bytes).toString()) as BoardPage
  expect(entries).toMatchObject([
    { model_type: 'a model', organization_name: 'Lab', median_skill: null, trend: [0.1, 0.2] },
    { model_type: 'a model', organization_name: null, median_skill: -0.1, answered_share: 0.5, trend: [] },
  ])
})

test('a page has a hundred entries', () => {
  const many = Array.from({ length: ENTRIES_PER_PAGE + 1 }, (_, number) => entity(String(1000 + number), {}))
  expect(ordered(many).map(({ length }) => length)).toEqual([ENTRIES_PER_PAGE, 1])
})
