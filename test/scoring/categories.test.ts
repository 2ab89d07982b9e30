// The numbers of entities by category, and the boards that are made of them.
import fc from 'fast-check'
import { parquetReadObjects } from 'hyparquet'
import { expect, it } from 'vitest'
import { CategoryFiles, categoryBoards } from '../../pipeline/release/category-boards.ts'
import type { CategoriesFile, CategoryBoardFile } from '../../schemas/payloads.ts'
import { expectedCalibrationErrorPlainly } from '../support/plain/calibration.ts'
import type { Gain } from '../support/plain/judged.ts'
import { published, roundHalfEven, sum } from '../support/plain/rounding.ts'
import { intervalOf, skillOf } from '../support/plain/skill.ts'
import type { World } from '../support/plain/world.ts'
import { randomWorld } from '../support/worlds/random-world.ts'
import { type WorldPair, scoreWorld } from '../support/worlds/scored-world.ts'
import { runs } from '../support/runs.ts'

const shape = fc.record({
  seed: fc.integer(),
  people: fc.integer({ min: 6, max: 9 }),
  noise: fc.constantFrom(0.3, 1),
})

function worldOf({ seed, people, noise }: { seed: number; people: number; noise: number }): World {
  const given = randomWorld({ seed, people, agents: 3, owners: 1, questions: 140, noise })
  const categories = ['law', 'law', 'sport', 'sport', '', null]
  const questions = given.questions.map((question, n) => ({ ...question, category: categories[n % 6]! }))
  return { ...given, questions }
}

const isContested = ({ asked, judged }: WorldPair): boolean => asked.isSettled && judged === 1

/** METHODOLOGY §3 over the pairs of one category. */
function plainly(category: string, pairs: readonly WorldPair[]) {
  const contested = pairs.filter(isContested)
  const skill = skillOf(
    contested.map(({ asked, ...pair }): Gain => {
      const gain = pair.average_brier - pair.judged_brier
      const otherGain = pair.average_brier_if_other - pair.judged_brier_if_other
      const spread = roundHalfEven(Math.sqrt(Math.max(0, -gain * otherGain)))
      const { unit, kind, cluster, week } = asked
      const whole = { gain, otherGain, spread, reference: pair.average_brier }
      const exact = Object.entries(whole).map(([name, value]) => [name, BigInt(value)])
      return { unit, kind, cluster, week, ...Object.fromEntries(exact) } as Gain
    }),
  )
  const interval = intervalOf(skill, 0.05)
  const closes = pairs
    .filter(({ closing_probability: ppm }) => ppm >= 0)
    .map(({ closing_probability: ppm, asked: { outcome } }) => ({ ppm, outcome }))
  return {
    category,
    skill: published(skill.skill!),
    board_interval: interval && { lower: interval.lower, upper: interval.upper },
    contested_questions: contested.length,
    resolved_questions: pairs.length,
    brier: expect.closeTo(
      sum(pairs.map(({ brier, coverage }) => (brier / 1e12) * coverage)) /
        sum(pairs.map(({ coverage }) => coverage)),
      5,
    ) as unknown,
    expected_calibration_error: expect.closeTo(expectedCalibrationErrorPlainly(closes)!, 5) as unknown,
  }
}

it('scores an entity by the pairs of a category alone, from 25 contested questions on', () => {
  let shown = 0
  fc.assert(
    fc.property(shape, (drawn) => {
      const given = worldOf(drawn)
      const { pairs, entities } = scoreWorld(given)
      const questions = new Map(given.questions.map((question) => [question.id, question]))
      for (const { entityId, listing } of entities) {
        const own = pairs.filter(({ entity, asked }) => entity === entityId && asked.isSettled)
        const expected = ['law', 'sport'].flatMap((category) => {
          const there = own.filter(({ question }) => questions.get(question)!.category === category)
          const isShown = there.filter(isContested).length >= 25
          return isShown ? [plainly(category, there)] : []
        })
        shown += expected.length
        const names = ['law', 'sport']
        expect(listing.categories.map((row) => ({ ...row, category: names[row.category] }))).toEqual(expected)
      }
    }),
    { numRuns: runs(24) },
  )
  expect(shown).toBeGreaterThan(0)
})

it('has a trend whose points are the skill after equal parts of the questions, up to the skill itself', () => {
  fc.assert(
    fc.property(shape, (drawn) => {
      const given = worldOf(drawn)
      const { pairs, entities } = scoreWorld(given)
      for (const { entityId, listing, metrics } of entities) {
        const contested = pairs
          .filter((pair) => pair.entity === entityId && isContested(pair))
          .toSorted((a, b) => a.asked.settledAtMs - b.asked.settledAtMs || (a.question < b.question ? -1 : 1))
        const points = Math.min(16, contested.length)
        const expected = Array.from({ length: points }, (_, point) => {
          const first = contested.slice(0, Math.ceil(((point + 1) * contested.length) / points))
          const reference = sum(first.map(({ average_brier: error }) => error))
          const own = sum(first.map(({ judged_brier: error }) => error))
          return published((reference - own) / (reference + 2.5e9))
        })
        expect(listing.trend).toEqual(expected)
        expect(listing.trend.at(-1) ?? null).toBe(metrics.skill)
      }
    }),
    { numRuns: runs(12) },
  )
})

it('ranks each board by its own bars, and has the same rows in JSON and in Parquet', async () => {
  await fc.assert(
    fc.asyncProperty(shape, async (drawn) => {
      const { entities } = scoreWorld(worldOf(drawn))
      const provenance = {
        methodology_version: '4.0.0',
        release: 1,
        as_of: '2026-03-01T12:00:00.000Z',
        environment: 'sandbox',
      } as const
      const facts = { questions: 1, settled_questions: 1, opened_at: '', closes_at: '' }
      const files = new CategoryFiles(
        ['law', 'sport'].map((category) => ({ category, ...facts })),
        provenance,
      )
      const made = [...categoryBoards(entities)].flatMap(({ category, entityType, entries }) => [
        ...files.pages(category, entityType, entries),
      ])
      const pages = made.map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)) as CategoryBoardFile)
      for (const { entries } of pages) {
        for (const entry of entries) {
          const others = entries.filter(
            (other) => other.pool === entry.pool && !('retired_at' in other && other.retired_at !== null),
          )
          const bar = entry.board_interval
          const { rank } = entry
          if ('retired_at' in entry && entry.retired_at !== null) expect(rank).toBeNull()
          else {
            expect(rank).toBe(1 + others.filter(({ skill }) => skill > entry.skill).length)
            const above = others.filter(
              (other) => bar && other.board_interval && other.board_interval.lower > bar.upper,
            )
            const below = others.filter(
              (other) => bar && other.board_interval && other.board_interval.upper < bar.lower,
            )
            expect(entry.rank_interval).toEqual({
              lower: 1 + above.length,
              upper: others.length - below.length,
            })
          }
        }
        const ranks = entries.flatMap(({ rank }) => rank ?? [])
        expect(entries.slice(0, ranks.length).map(({ rank }) => rank)).toEqual(ranks)
      }
      const [index, parquet] = [files.index(), files.table()]
      const { categories } = JSON.parse(new TextDecoder().decode(index.bytes)) as CategoriesFile
      for (const { category, ranked_agents, ranked_forecasters } of categories) {
        const own = (kind: string) =>
          pages
            .filter((page) => page.category === category && page.entity_type === kind)
            .flatMap((page) => page.entries)
        expect([ranked_agents, ranked_forecasters]).toEqual([own('agent').length, own('forecaster').length])
      }
      const file = parquet.bytes.buffer.slice(parquet.bytes.byteOffset) as ArrayBuffer
      const rows = await parquetReadObjects({ file })
      const flat = pages.flatMap(({ category, entity_type, entries }) =>
        entries.map(({ rank_interval: ranks, board_interval: bar, pool_size: _size, ...entry }) => {
          const { retired_at: _r, name: _n, agent_id, user_id, ...numbers } = entry as Record<string, unknown>
          return {
            release: 1,
            as_of: new Date(provenance.as_of),
            category,
            entity_type,
            entity_id: agent_id ?? user_id,
            ...numbers,
            rank_lower: ranks?.lower ?? null,
            rank_upper: ranks?.upper ?? null,
            board_lower: bar?.lower ?? null,
            board_upper: bar?.upper ?? null,
          }
        }),
      )
      expect(rows).toEqual(flat)
    }),
    { numRuns: runs(10) },
  )
})
