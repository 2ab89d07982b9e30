// Boards: their rows, the words above them, and the reference forecasts among the entrants.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type NamedEntry, finding, boardsOf, placesOf, amongReferences } from '../../../api/pages/ranking.ts'
import { type ReferenceRow, REFERENCES } from '../../../schemas/references.ts'
import { textOf } from '../../support/http/page-text.ts'

const SITE = { environment: 'production', publicUrl: undefined } as const
type Bar = { lower: number; upper: number } | null

const isAbove = (a: Bar, b: Bar) => a !== null && b !== null && a.lower > b.upper

/** A board in order, with places as the method has them. */
function boardOf(rows: readonly { skill: number; bar: Bar }[]): NamedEntry[] {
  const ordered = rows.toSorted((a, b) => b.skill - a.skill)
  return ordered.map(({ skill, bar }, index) => ({
    agent_id: `agent-${String(index).padStart(6, '0')}`,
    name: `n${index}`,
    rank: 1 + ordered.filter((other) => other.skill > skill).length,
    rank_interval: {
      lower: 1 + ordered.filter((other) => isAbove(other.bar, bar)).length,
      upper: ordered.length - ordered.filter((other) => isAbove(bar, other.bar)).length,
    },
    skill,
    board_interval: bar,
    skill_interval: bar,
    pool: 'a',
  })) as unknown as NamedEntry[]
}

const said = (entries: readonly NamedEntry[]) =>
  textOf(finding(SITE, 'agent', { pool: 'a', size: entries.length, first: entries.slice(0, 2) }))

const at = (skill: number, half: number) => ({
  skill,
  bar: { lower: skill - half, upper: skill + half },
})

test.for([
  ['n0 is the only agent with a place.', [at(0.5, 0.1)]],
  ['n0 leads, and is ahead of the other for sure.', [at(0.5, 0.1), at(0.2, 0.1)]],
  ['n0 leads, and is ahead of both others for sure.', [at(0.5, 0.1), at(0.2, 0.1), at(0, 0.1)]],
  [
    'n0 leads, and is ahead of 2 of the 3 others for sure.',
    [at(0.5, 0.1), at(0.4, 0.1), at(0.2, 0), at(0, 0)],
  ],
  [
    'Nobody leads for sure: n0 is in front, but it is too close to call with the other.',
    [at(0.5, 1), at(0, 0)],
  ],
  [
    'Nobody leads for sure: n0 is in front, but it is too close to call with 2 of the 3 others.',
    [at(0.5, 0.1), at(0.4, 0.1), at(0.3, 0.1), at(0, 0)],
  ],
  ['Nobody leads: n0 and n1 have the same skill.', [at(0.5, 0.1), at(0.5, 0), at(0, 0)]],
] as const)('%s', ([words, rows]) => {
  expect(said(boardOf(rows))).toBe(words)
})

test('nobody with a place is said so', () => {
  expect(textOf(finding(SITE, 'forecaster', undefined))).toBe('None of these forecasters has a place yet.')
})

test('a hostile name stays text', () => {
  const [entry] = boardOf([at(0.5, 0.1)])
  const name = '"><script>x</script>'
  expect(finding(SITE, 'agent', { pool: 'a', size: 1, first: [{ ...entry!, name }] }).text).not.toContain(
    '<script',
  )
})

const rows = fc.array(
  fc.record({
    skill: fc.integer({ min: -1e6, max: 1e6 }),
    half: fc.option(fc.integer({ min: 0, max: 1e6 }), { freq: 6 }),
  }),
  { minLength: 2, maxLength: 12 },
)

test('places and the finding are those of a plain comparison of the bars', () => {
  fc.assert(
    fc.property(rows, (drawn) => {
      const board = boardOf(
        drawn.map(({ skill, half }) => ({
          skill: skill / 1e6,
          bar: half === null ? null : { lower: (skill - half) / 1e6, upper: (skill + half) / 1e6 },
        })),
      )
      for (const entry of board) {
        const [first, last] = placesOf(entry).split('–').map(Number)
        const others = board.filter((other) => other !== entry)
        expect(first! - 1).toBe(
          others.filter((other) => isAbove(other.board_interval, entry.board_interval)).length,
        )
        expect(board.length - (last ?? first!)).toBe(
          others.filter((other) => isAbove(entry.board_interval, other.board_interval)).length,
        )
      }
      const [leader, ...others] = board
      const behind = others.filter((other) => isAbove(leader!.board_interval, other.board_interval)).length
      const words = said(board)
      if (others[0]!.rank === 1) {
        expect(words).toContain('Nobody leads: ')
        return
      }
      expect(words.startsWith('n0 leads, ')).toBe(behind > 0 && behind * 2 >= others.length)
      const numbers = { 'the other': [1, 1], 'both others': [2, 2] } as Record<string, number[]>
      const [, of] = /(?:ahead of|call with) (.*?)(?: for sure)?\.$/.exec(words)!
      const [count, all] =
        numbers[of!] ??
        (of!.startsWith('all ') ? [others.length, others.length] : of!.match(/\d+/g)!.map(Number))
      expect(all).toBe(others.length)
      expect(count).toBe(words.startsWith('n0 leads') ? behind : others.length - behind)
    }),
  )
})

test('a board has the ranked of one pool', () => {
  const entries = [1, 2, 1].map((rank, index) => ({ rank, pool: index < 2 ? 'a' : 'b' }) as NamedEntry)
  expect(boardsOf(entries).map((members) => members.map(({ rank }) => rank))).toEqual([[1, 2], [1]])
})

const skill = fc.integer({ min: -3, max: 3 }).map((value) => value / 10)
/** Two pools on one board, each in the order of skills, and the references of both. */
const board = fc.record({
  skills: fc.tuple(
    fc.array(skill, { minLength: 1, maxLength: 8 }),
    fc.array(skill, { minLength: 1, maxLength: 8 }),
  ),
  references: fc.array(skill, { minLength: 2 * REFERENCES.length, maxLength: 2 * REFERENCES.length }),
  pageSize: fc.integer({ min: 1, max: 5 }),
})

const row = (reference: ReferenceRow['reference'], pool: string, of: number): ReferenceRow => ({
  reference,
  entity_type: 'agent',
  pool,
  category: null,
  skill: of,
  board_interval: null,
  median_skill: 0,
  market_skill: null,
  evidence: 1,
  contested_questions: 25,
  clusters: 25,
  priced_questions: 0,
})

test('over all pages of a board each reference comes once, above everybody with a lower skill', () => {
  fc.assert(
    fc.property(board, ({ skills, references: drawn, pageSize }) => {
      const entries = skills.flatMap((own, pool) =>
        own.toSorted((a, b) => b - a).map((of) => ({ rank: 1, pool: `${pool}`, skill: of })),
      )
      const references = drawn.map((of, nth) =>
        row(REFERENCES[nth % REFERENCES.length]!, `${Math.floor(nth / REFERENCES.length)}`, of),
      )
      const shown = Array.from({ length: Math.ceil(entries.length / pageSize) }, (_, page) => {
        const from = page * pageSize
        const neighbours = { before: entries[from - 1], after: entries[from + pageSize] }
        const onPage = entries.slice(from, from + pageSize)
        const pools = [...Map.groupBy(onPage, ({ pool }) => pool).values()]
        return pools.flatMap((members) => amongReferences(members, references, neighbours))
      }).flat()
      expect(shown).toHaveLength(entries.length + references.length)
      expect(new Set(shown).size).toBe(shown.length)
      expect(shown.map(({ pool }) => pool)).toEqual(shown.map(({ pool }) => pool).toSorted())
      for (const pool of ['0', '1']) {
        const inPool = shown.filter((one) => one.pool === pool).map((one) => one.skill)
        expect(inPool).toEqual(inPool.toSorted((a, b) => b - a))
      }
    }),
  )
})
