// Pools and strengths by Spark's SQL: the pools of the scorer, and the same whole numbers after every pass.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { Database, literal } from '../../pipeline/duckdb.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { poolsOf } from '../../pipeline/scoring/pools.ts'
import { type FittedEntities, UNIT, fitStrengths } from '../../pipeline/scoring/strength.ts'
import { type FittedRow, QUESTIONS, columnsOf, entities, randomRows } from '../support/worlds/fitted-rows.ts'
import { testFolder } from '../support/folder.ts'
import { spark, submit } from '../support/spark.ts'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
/** A release makes twenty passes, and the test of releases compares what they come to. */
const parameters = { ...METHODOLOGY.parameters, strength_passes: 6 }

interface Pools {
  rounds: number
  pools: [entity: number, pool: string][]
}
interface Pass {
  scales: [pool: string, scale: number][]
  strengths: [entity: number, strength: number][]
}

/** The pools and the passes that Spark fits to the rows. */
async function fittedBySpark(
  rows: readonly FittedRow[],
  { ids }: Pick<FittedEntities, 'ids'>,
  ownVoice: (entity: number) => number,
  fitted: Pick<typeof parameters, 'strength_passes'> = parameters,
): Promise<{ pools: Pools; passes: Pass[] }> {
  const folder = await testFolder()
  const [pairs, known] = [join(folder, 'pairs.parquet'), join(folder, 'entities.parquet')]
  const pair = ({ question, entity, weight, own_weight, brier, reference, contested }: FittedRow) => {
    const own = ownVoice(entity)
    const voiceWeight = own === entity ? weight : 0
    const isContested = contested === 1
    return `(${question}, ${entity}, ${own < 0 ? 'NULL' : own}, ${voiceWeight}, ${own_weight}, ${brier}, ${reference}, ${isContested})`
  }
  using database = await Database.open({ threads: 2, memoryLimit: '1GB', directory: folder })
  await database.run(
    `COPY (FROM (VALUES ${rows.map(pair).join(', ')}) AS
       pair(question, entity, own_voice, voice_weight, own_weight, brier, reference, contested))
     TO ${literal(pairs)} (FORMAT parquet)`,
  )
  const entity = ids.map((id, number) => `(${number}, ${literal(id)})`)
  await database.run(
    `COPY (FROM (VALUES ${entity.join(', ')}) AS entity(entity, entity_id)) TO ${literal(known)} (FORMAT parquet)`,
  )
  const lines = join(folder, 'lines.jsonl')
  const options = [pairs, known, JSON.stringify({ ...parameters, ...fitted }), join(folder, 'written'), lines]
  const program = submit(pathOf('strengths.py'), [pathOf('../../jobs/spark/release.py'), ...options], {
    folder,
  })
  const { code, stdout, stderr } = await program.ended
  expect(code, stdout + stderr).toBe(0)
  const read = (await readFile(lines, 'utf8')).trimEnd().split('\n')
  const [pools, ...passes] = read.map((line) => JSON.parse(line) as unknown)
  return { pools: pools as Pools, passes: passes as Pass[] }
}

function namesOf(
  ofEntity: Int32Array,
  names: readonly number[],
  ids: readonly string[],
): (string | undefined)[] {
  return Array.from(ofEntity, (pool) => (pool < 0 ? undefined : ids[names[pool]!]!))
}

describe.skipIf(!spark)('Spark', () => {
  test('fits the pools and the strengths of the scorer after every pass', async () => {
    const rows = randomRows()
    const { pools, passes } = await fittedBySpark(rows, entities, (entity) => entities.voices[entity]!)
    const { ofEntity, names } = poolsOf(QUESTIONS, entities.voices, entities.ids, columnsOf(rows))
    expect(names.length).toBe(2)
    const poolOf = new Map(pools.pools)
    const found = entities.ids.map((_, entity) => poolOf.get(entity))
    expect(found).toEqual(namesOf(ofEntity, names, entities.ids))
    expect(passes.length).toBe(parameters.strength_passes)
    for (const [index, { scales, strengths }] of passes.entries()) {
      const method = { ...METHODOLOGY, parameters: { ...parameters, strength_passes: index + 1 } }
      const fitted = fitStrengths(method, QUESTIONS, entities, columnsOf(rows))
      const scaleOf = new Map(scales)
      const named = fitted.pools.names.map((name) => scaleOf.get(entities.ids[name]!))
      expect(named, `scales after pass ${index + 1}`).toEqual([...fitted.scales])
      const known = new Map(strengths)
      expect(Array.from(fitted.strength.keys(), (entity) => known.get(entity) ?? UNIT)).toEqual([
        ...fitted.strength,
      ])
    }
  })

  test('finds that a chain of voices is one pool, in far fewer rounds than it has links', async () => {
    const length = 120
    const chain = Array.from({ length }, (_, number) => number)
    const ids = chain.map((entity) => `entity ${1000 + ((entity * 37) % length)}`)
    const alike = { weight: 1, own_weight: 1, brier: 1, reference: 1, contested: 1 }
    // Each question is answered by two voices, and no other chain of questions ties them together.
    const rows = chain
      .slice(1)
      .flatMap((question) => [question - 1, question].map((entity) => ({ question, entity, ...alike })))
    const { pools } = await fittedBySpark(rows, { ids }, (entity) => entity, { strength_passes: 1 })
    const { ofEntity, names } = poolsOf(length, Int32Array.from(chain), ids, columnsOf(rows))
    expect(names.map((name) => ids[name])).toEqual(['entity 1000'])
    const poolOf = new Map(pools.pools)
    expect(ids.map((_, entity) => poolOf.get(entity))).toEqual(namesOf(ofEntity, names, ids))
    expect(pools.rounds).toBeLessThan(12)
  })
})
