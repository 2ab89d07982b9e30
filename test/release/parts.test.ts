// Parts of whole shards: where they end, and that many small ones say what one large one says.
import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { EntityType } from '../../schemas/tables.ts'
import { parquet, withDatabase } from '../../pipeline/duckdb.ts'
import { deriveRelease } from '../../pipeline/release/derive.ts'
import { type PartFolder, partsOf, shardsOf } from '../../pipeline/release/parts.ts'
import type { RankedEntity } from '../../pipeline/release/payloads.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()

const entitiesOf = (entityType: EntityType, count: number, pairs: number): RankedEntity[] =>
  Array.from({ length: count }, (_, index) => ({
    entityType,
    entityId: `${entityType} ${index}`,
    pairs,
  })) as RankedEntity[]

const shown = (within: PartFolder, kinds: RankedEntity[][], sizes: { pairs: number; entities: number }) =>
  partsOf(within, kinds.flatMap(shardsOf), sizes).map(({ path, entityType, entities, firstPair, pairs }) => [
    path,
    entityType,
    entities,
    firstPair,
    pairs,
  ])

describe('partsOf', () => {
  const kinds = [entitiesOf('agent', 600, 2), entitiesOf('forecaster', 300, 1)]

  test('ends a part of scores with the shard that fills it, or with the kind of entity', () => {
    expect(shown('scores/', kinds, { pairs: 512, entities: 1 })).toEqual([
      ['scores/000.parquet', 'agent', 256, 0, 512],
      ['scores/001.parquet', 'agent', 256, 512, 512],
      ['scores/002.parquet', 'agent', 88, 1024, 176],
      ['scores/003.parquet', 'forecaster', 300, 1200, 300],
    ])
    expect(shown('scores/', kinds, { pairs: 513, entities: 1 })).toEqual([
      ['scores/000.parquet', 'agent', 512, 0, 1024],
      ['scores/001.parquet', 'agent', 88, 1024, 176],
      ['scores/002.parquet', 'forecaster', 300, 1200, 300],
    ])
  })

  test('ends a part of entities with the shard that fills it, or with the kind of entity', () => {
    expect(shown('entities/', kinds, { pairs: 1, entities: 257 })).toEqual([
      ['entities/000.parquet', 'agent', 512, 0, 1024],
      ['entities/001.parquet', 'agent', 88, 1024, 176],
      ['entities/002.parquet', 'forecaster', 300, 1200, 300],
    ])
  })

  test('has none of a kind without entities', () => {
    expect(shown('scores/', [[], entitiesOf('forecaster', 1, 0)], { pairs: 1, entities: 1 })).toEqual([
      ['scores/000.parquet', 'forecaster', 1, 0, 0],
    ])
    expect(partsOf('entities/', [], { pairs: 1, entities: 1 })).toEqual([])
  })
})

test(
  'parts read together are the one file that a small world has, and each row says which release it is of',
  { tags: ['slow'] },
  async () => {
    const components = await testComponents({
      store: new MemoryStore(),
      folder,
      clock: new Clock('2026-03-01T12:00:00.000Z'),
    })
    const openedAt = '2026-01-01T00:00:00.000Z'
    const closesAt = '2026-02-01T00:00:00.000Z'
    const questions = [0, 1, 2].map((index) => uuidOf(1, index))
    await importRows(
      components,
      'questions',
      [
        'question_id,title,opened_at,closes_at',
        ...questions.map((id) => `${id},Q,${openedAt},${closesAt}`),
        '',
      ].join('\n'),
    )
    // More than two shards of entities, each on two of the three questions.
    const lines = Array.from({ length: 600 }, (_, who) =>
      questions
        .filter((_id, index) => index !== who % 3)
        .map((id) => `forecaster,${uuidOf(2, who)},${id},${(who % 100) / 100},2026-01-10T00:00:00.000Z`),
    ).flat()
    await importRows(
      components,
      'forecasts',
      ['entity_type,entity_id,question_id,probability,forecast_at', ...lines, ''].join('\n'),
    )
    await importRows(
      components,
      'resolutions',
      ['question_id,outcome,resolved_at', ...questions.map((id) => `${id},yes,${closesAt}`), ''].join('\n'),
    )
    const derive = (sizes?: { pairs: number; entities: number }) =>
      withDatabase(components.openDatabase, async (database) => {
        const inputs = {
          release: 1,
          asOf: components.now(),
          environment: 'production' as const,
          versions: await currentVersions(components.store),
          previous: undefined,
          bringsSnapshot: false,
        }
        await using derived = await deriveRelease({ ...components, database }, inputs, sizes)
        const files = await Array.fromAsync(derived.files(() => null))
        const tables: Record<string, unknown[]> = {}
        for (const output of files) {
          if ('file' in output || !output.path.endsWith('.parquet')) continue
          const { path, bytes, rows } = output
          const name = path.split('/')[0]!
          const file = `${components.directory}/${name}.parquet`
          await writeFile(file, bytes)
          const found = await database.rows(`FROM ${parquet([file])}`)
          expect(found).toHaveLength(rows)
          ;(tables[name] ??= []).push(...found)
        }
        return { paths: files.map(({ path }) => path).filter((path) => path.endsWith('.parquet')), tables }
      })
    const whole = await derive()
    expect(whole.paths).toEqual([
      'categories/boards.parquet',
      'references/rows.parquet',
      'entities/000.parquet',
      'scores/000.parquet',
    ])
    const parts = await derive({ pairs: 500, entities: 250 })
    expect(parts.paths).toEqual([
      'categories/boards.parquet',
      'references/rows.parquet',
      ...[0, 1, 2].map((n) => `entities/00${n}.parquet`),
      ...[0, 1, 2].map((n) => `scores/00${n}.parquet`),
    ])
    expect(parts.tables).toEqual(whole.tables)
    for (const name of ['scores', 'entities']) {
      const rows = whole.tables[name] as { release: number; as_of: Date }[]
      const said = new Set(rows.map(({ release, as_of }) => `${release} ${as_of.toISOString()}`))
      expect(said, name).toEqual(new Set(['1 2026-03-01T12:00:00.000Z']))
    }
  },
)
