// Pools by Spark's SQL: those of the scorer.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { Database, literal } from '../../pipeline/duckdb.ts'
import { poolsOf } from '../../pipeline/scoring/pools.ts'
import { testFolder } from '../support/folder.ts'
import { spark, submit } from '../support/spark.ts'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

interface Met {
  question: number
  entity: number
  contested: boolean
}

/** The pools that Spark finds. Entities from `agents` on are people. */
async function poolsBySpark(
  met: readonly Met[],
  agents: number,
): Promise<{ rounds: number; labels: [entity: number, label: number][] }> {
  const folder = await testFolder()
  const [pairs, found] = [join(folder, 'pairs.parquet'), join(folder, 'found.json')]
  const values = met.map(
    ({ question, entity, contested }) =>
      `(${question}, ${entity}, '${entity < agents ? 'agent' : 'forecaster'}', ${contested})`,
  )
  using database = await Database.open({ threads: 2, memoryLimit: '1GB', directory: folder })
  await database.run(
    `COPY (FROM (VALUES ${values.join(', ')}) AS met(question, entity, entity_type, contested))
     TO ${literal(pairs)} (FORMAT parquet)`,
  )
  const options = [pathOf('../../jobs/spark/release.py'), pairs, join(folder, 'written'), found]
  const { code, stdout, stderr } = await submit(pathOf('pools.py'), options, { folder }).ended
  expect(code, stdout + stderr).toBe(0)
  return JSON.parse(await readFile(found, 'utf8')) as Awaited<ReturnType<typeof poolsBySpark>>
}

/** The pools of the scorer, in the order of entities. */
function poolsOfScorer(met: readonly Met[], agents: number, entities: number, questions: number) {
  const kinds = Array.from({ length: entities }, (_, entity) => (entity < agents ? 0 : 1))
  const column = (of: (pair: Met) => number) => Int32Array.from(met, of)
  const columns = {
    question: column(({ question }) => question),
    entity: column(({ entity }) => entity),
    contested: column(({ contested }) => (contested ? 1 : 0)),
  }
  return [...poolsOf(questions, kinds, { rowCount: met.length, columns }).entries()].filter(
    ([, pool]) => pool >= 0,
  )
}

const inOrder = (labels: readonly [number, number][]) => labels.toSorted(([a], [b]) => a - b)

describe.skipIf(!spark)('Spark', () => {
  test('finds the pools of each kind that the scorer finds', async () => {
    const [agents, entities, questions] = [40, 80, 90]
    const met = Array.from({ length: questions }, (_, question) => question).flatMap((question) =>
      Array.from({ length: 4 }, (_, nth) => ({
        question,
        entity: (question % 5) * 16 + ((question * 7 + nth * nth * 3) % 16),
        contested: (question + nth) % 3 > 0,
      })),
    )
    const { labels } = await poolsBySpark(met, agents)
    const expected = poolsOfScorer(met, agents, entities, questions)
    expect(new Set(expected.map(([, pool]) => pool)).size).toBeGreaterThan(2)
    expect(inOrder(labels)).toEqual(expected)
  })

  test('finds that a chain of entities is one pool, in far fewer rounds than it has links', async () => {
    const [length, entities] = [120, 131]
    // The numbers along the chain lie in disorder, as those of ids do.
    const chain = Array.from({ length }, (_, place) => place ** 3 % entities)
    const met = chain
      .slice(1)
      .flatMap((entity, question) =>
        [chain[question]!, entity].map((member) => ({ question, entity: member, contested: true })),
      )
    const { rounds, labels } = await poolsBySpark(met, entities)
    expect(inOrder(labels)).toEqual(poolsOfScorer(met, entities, entities, length))
    expect(rounds).toBeLessThan(12)
  })
})
