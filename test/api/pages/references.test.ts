// The places of reference forecasts on boards of several pages.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amongReferences } from '../../../api/pages/references.ts'
import { REFERENCES, type ReferenceRow } from '../../../schemas/references.ts'

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
      const references = drawn.map((of, at) =>
        row(REFERENCES[at % REFERENCES.length]!, `${Math.floor(at / REFERENCES.length)}`, of),
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
