// Whole worlds through the tables and DuckDB, against the same steps over plain arrays: no number differs.
import { expect, test } from 'vitest'
import { orderEveryone, scoreEveryone } from '../../pipeline/engine/duckdb-engine.ts'
import { rankEntities } from '../../pipeline/release/payloads.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { ENTITY_TYPES, SCORED_TABLES, type TableName } from '../../schemas/tables.ts'
import { suiteFolder } from '../support/folder.ts'
import { runs } from '../support/runs.ts'
import { type WorldShape, randomWorld } from '../support/worlds/random-world.ts'
import { scoreWorld, valuesOf } from '../support/worlds/scored-world.ts'
import { openWorker, send } from '../support/tables.ts'
import { asPublished, tablesOf } from '../support/worlds/stored-world.ts'

const folder = await suiteFolder()

// The first have each rule, without and with events and prices: `npm test` tries these.
const WORLDS = [
  { seed: 1, people: 7, agents: 6, owners: 2, questions: 90, noise: 0.7, rule: 'recorded' },
  { seed: 4, people: 0, agents: 8, owners: 0, questions: 40, noise: 0.7, rule: 'everyone' },
  { seed: 8, people: 7, agents: 6, owners: 2, questions: 60, noise: 0.7, isRich: true, rule: 'recorded' },
  { seed: 9, people: 0, agents: 8, owners: 0, questions: 60, noise: 0.7, isRich: true, rule: 'everyone' },
  { seed: 6, people: 14, agents: 6, owners: 2, questions: 90, noise: 0.7, circles: 2, rule: 'recorded' },
  { seed: 2, people: 5, agents: 9, owners: 5, questions: 60, noise: 1, rule: 'recorded' },
  { seed: 3, people: 2, agents: 6, owners: 1, questions: 50, noise: 0.3, rule: 'everyone' },
  { seed: 5, people: 0, agents: 0, owners: 0, questions: 3, noise: 0.7, rule: 'everyone' },
]

test.each(WORLDS.slice(0, runs(WORLDS.length)))(
  '$people people, $agents agents of $owners owners: $rule',
  async ({ rule, ...shape }) => {
    expect(await checkedRule(shape)).toBe(rule)
  },
)

const JOINT_NAMES = {
  independent: 'lone',
  ordered: 'ordered',
  exclusive: 'exclusive',
  at_most_one: 'exclusive',
}

const RICH = Array.from({ length: 60 }, (_, n) => ({
  seed: 100 + n,
  people: 4 * (n % 4),
  agents: 3 + (n % 7),
  owners: n % 3,
  questions: 20 + (n % 5) * 8,
  noise: 0.7,
  circles: 1 + (n % 2),
  isRich: true,
}))
test.each(RICH)('a world with events and prices, seed $seed', { tags: ['slow'] }, async (shape) => {
  expect(await checkedRule(shape)).toMatch(/^(recorded|everyone)$/)
})

/** Scores a world both ways, compares every number, and returns the rule of its voices. */
async function checkedRule(shape: WorldShape): Promise<string> {
  const world = asPublished(randomWorld(shape))
  const store = new MemoryStore()
  using worker = await openWorker(store, `${folder}/${shape.seed}`)
  for (const [table, rows] of Object.entries(tablesOf(world))) {
    if (rows.length > 0) await send(store, table as TableName, 'a', rows)
  }
  for (const table of SCORED_TABLES) await compact(worker, table)
  const context = { ...worker, methodology: METHODOLOGY }
  const ordered = await orderEveryone(context, await currentVersions(store), new Date(world.as_of_ms))
  const entities = await scoreEveryone(context, ordered)
  const expected = scoreWorld(world)
  expect(ordered.voiceRule).toBe(expected.voiceRule)
  const ranked = ENTITY_TYPES.flatMap((kind) =>
    rankEntities(
      METHODOLOGY,
      ordered.voiceRule,
      entities.filter(({ entityType }) => entityType === kind),
    ),
  )
  const numbers = new Map(ranked.map(({ entityId, metrics, award }) => [entityId, { ...metrics, ...award }]))
  expect(numbers.size).toBe(world.entities.length)
  for (const { entityId, metrics, award } of expected.entities) {
    expect(numbers.get(entityId), entityId).toEqual({ ...metrics, ...award })
  }

  const path = `${folder}/${shape.seed}.parquet`
  await ordered.writeScores(path, 0, ordered.pairs, { release: 1, as_of: '2026-01-01T00:00:00.000Z' })
  const pairs = await worker.database.rows<Record<string, unknown>>(
    `SELECT entity_id || '|' || question_id AS pair, settled, epoch_ms(settled_at)::DOUBLE AS settled_at_ms, witnessed,
       contested, unit, cluster, week, divisor, joint, unit_questions, priced, voices, judged_brier::DOUBLE AS "B", average_brier::DOUBLE AS "K",
       median_brier_if_other::DOUBLE AS "M'", gain::DOUBLE AS "X_K", median_spread::DOUBLE AS "f_M"
     FROM '${path}'`,
  )
  expect(pairs).toHaveLength(expected.pairs.length)
  const values = new Map(
    expected.pairs.map((pair) => {
      const { kind, unitQuestions } = pair.asked
      const facts = { joint: JOINT_NAMES[kind], unit_questions: unitQuestions }
      return [`${pair.entity}|${pair.question}`, { ...valuesOf(pair), ...facts }]
    }),
  )
  for (const { pair, ...columns } of pairs) expect(values.get(pair as string)).toMatchObject(columns)
  return ordered.voiceRule
}
