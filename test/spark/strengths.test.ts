// The strengths by Spark's SQL: the same whole numbers as the scorer's after every pass.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { Database, literal } from '../../pipeline/duckdb.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { UNIT, fitStrengths } from '../../pipeline/scoring/strength.ts'
import { QUESTIONS, columnsOf, randomRows, voices } from '../support/worlds/fitted-rows.ts'
import { testFolder } from '../support/folder.ts'
import { spark, submit } from '../support/spark.ts'

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

describe.skipIf(!spark)('Spark', () => {
  test('fits the strengths of the scorer after every pass', async () => {
    const folder = await testFolder()
    const rows = randomRows()
    const pairs = join(folder, 'pairs.parquet')
    const { parameters } = METHODOLOGY
    const values = rows.map(({ question, entity, weight, brier, reference, voices: others }) => {
      const own = voices[entity] === 1 ? weight : 0
      return `(${question}, ${entity}, ${own}, ${brier}, ${reference}, ${others >= parameters.contest_voices})`
    })
    using database = await Database.open({ threads: 2, memoryLimit: '1GB', directory: folder })
    await database.run(
      `COPY (FROM (VALUES ${values.join(', ')}) AS pair(question, entity, own, brier, reference, contested))
       TO ${literal(pairs)} (FORMAT parquet)`,
    )
    const [job, program] = [pathOf('../../jobs/spark/release.py'), pathOf('strengths.py')]
    const lines = join(folder, 'passes.jsonl')
    const options = [job, pairs, JSON.stringify(parameters), join(folder, 'passes'), lines]
    const { code, stdout, stderr } = await submit(program, options, { folder }).ended
    expect(code, stdout + stderr).toBe(0)
    const passes = (await readFile(lines, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Pass)
    expect(passes.length).toBe(parameters.strength_passes)
    for (const [index, { scale, strengths }] of passes.entries()) {
      const method = { ...METHODOLOGY, parameters: { ...parameters, strength_passes: index + 1 } }
      const fitted = fitStrengths(method, QUESTIONS, voices, columnsOf(rows))
      expect(scale, `scale after pass ${index + 1}`).toBe(fitted.scale)
      const known = new Map(strengths)
      expect(Array.from(fitted.strength.keys(), (entity) => known.get(entity) ?? UNIT)).toEqual([
        ...fitted.strength,
      ])
    }
  })
})

interface Pass {
  scale: number
  strengths: [entity: number, strength: number][]
}
