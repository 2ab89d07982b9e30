// Real forecasts by people, imported and released: counts, types, ranges, checksums and every payload.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { runAudit } from '../../../jobs/audit/audit.ts'
import type { Components } from '../../../jobs/components/components.ts'
import { runImport } from '../../../jobs/import/import.ts'
import { Database } from '../../../pipeline/duckdb.ts'
import { readManifest } from '../../../pipeline/release/read.ts'
import { manifestPath } from '../../../pipeline/store/paths.ts'
import type { ReleaseResult } from '../../../pipeline/release/make.ts'
import { IMPORTS, type ImportKind } from '../../../pipeline/import/columns.ts'
import { parseOptions } from '../../../pipeline/import/options.ts'
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'
import type { ReleaseManifest } from '../../../schemas/manifests.ts'
import type { ReleaseShard } from '../../../schemas/payloads.ts'
import { besideRepository } from '../../support/beside.ts'
import { suiteFolder } from '../../support/folder.ts'
import { expectValid, faultsOf } from '../../support/json-schema.ts'
import { release, testComponents } from '../../support/http/service.ts'

const DATASETS = ['metaculus-pros-2025q1', 'acx-2023']

/**
 * 49 questions and ten professionals, with all but five of the possible pairs; 50 questions and 3,292 people.
 */
const PRO_PAIRS = 485
const CONTEST_PAIRS = 150_720
const PAIRS = PRO_PAIRS + CONTEST_PAIRS
const PEOPLE = 10 + 3292

const folder = await suiteFolder()
const found = besideRepository(...DATASETS.map((name) => `data/${name}`))

const fileOf = (dataset: string, kind: string): string | undefined =>
  ['csv', 'parquet']
    .map((format) => join(fileURLToPath(found![DATASETS.indexOf(dataset)]!), `${kind}.${format}`))
    .find(existsSync)

describe.skipIf(!found)('real forecasts', () => {
  let components: Components
  let imported: Record<string, object>
  let released: ReleaseResult
  let manifest: ReleaseManifest

  beforeAll(async () => {
    components = await testComponents({ folder })
    imported = {}
    for (const dataset of DATASETS) {
      for (const kind of IMPORTS) {
        const path = await inputOf(dataset, kind)
        if (path !== undefined)
          imported[`${dataset} ${kind}`] = (await runImport(components, kind, path, optionsOf(kind))).json
      }
    }
    released = await release(components)
    manifest = (await readManifest(components.store, 1))!
  })

  /** The times of one dataset are Parquet times without a zone. */
  const optionsOf = (kind: ImportKind) => parseOptions(kind, kind === 'forecasts' ? { timezone: 'UTC' } : {})

  /** The file of a kind of rows. Questions get an event each: they are about different things. */
  async function inputOf(dataset: string, kind: string): Promise<string | undefined> {
    const given = fileOf(dataset, kind)
    if (kind !== 'questions' || given === undefined) return given
    const path = join(folder, `${dataset}-questions.csv`)
    await query(
      `COPY (SELECT *, question_id AS event_id FROM read_csv('${given}', all_varchar = true)) TO '${path}' (HEADER)`,
    )
    return path
  }

  async function query<R extends Record<string, unknown>>(sql: string): Promise<R[]> {
    using database = await Database.open({ threads: 2, memoryLimit: '1GB', directory: folder })
    return await database.rows<R>(sql)
  }
  const file = (name: string) => `read_parquet('${join(folder, 'store/releases/00000001', name)}')`

  test('are imported whole', () => {
    const whole = (rows: number, created = 0) => ({
      rows,
      added: rows,
      unchanged: 0,
      forecasters_created: created,
    })
    expect(imported).toMatchObject({
      'metaculus-pros-2025q1 questions': whole(51),
      'metaculus-pros-2025q1 resolutions': whole(51),
      'metaculus-pros-2025q1 forecasters': whole(10),
      'metaculus-pros-2025q1 forecasts': whole(1257),
      'acx-2023 questions': whole(50),
      'acx-2023 resolutions': whole(50),
      'acx-2023 forecasts': whole(CONTEST_PAIRS, 3292),
    })
    expect(released).toMatchObject({ made: true, release: 1, entities: PEOPLE, pairs: PAIRS })
  })

  test('give one row per person and question that took part', async () => {
    const [counts] = await query(
      `SELECT count(*)::INTEGER AS rows, count(DISTINCT (entity_id, question_id))::INTEGER AS pairs,
         count(DISTINCT entity_id)::INTEGER AS people, count(DISTINCT question_id)::INTEGER AS questions
       FROM ${file('scores/000.parquet')}`,
    )
    expect(counts).toEqual({ rows: PAIRS, pairs: PAIRS, people: PEOPLE, questions: 49 + 50 })
    const split = await query(
      `SELECT count(*)::INTEGER AS rows FROM ${file('scores/000.parquet')} JOIN (
         SELECT question_id, max(category) AS category FROM read_parquet('${join(folder, 'store/tables/questions/recorded_date=*/*.parquet')}') GROUP BY ALL
       ) USING (question_id) GROUP BY category IS NOT DISTINCT FROM 'acx-2023' ORDER BY rows`,
    )
    expect(split).toEqual([{ rows: PRO_PAIRS }, { rows: CONTEST_PAIRS }])
  })

  test('have the promised columns and types', async () => {
    const described = await query<{ column_name: string; column_type: string }>(
      `DESCRIBE FROM ${file('scores/000.parquet')}`,
    )
    expect(
      Object.fromEntries(described.map(({ column_name, column_type }) => [column_name, column_type])),
    ).toEqual({
      release: 'INTEGER',
      as_of: 'TIMESTAMP WITH TIME ZONE',
      entity_type: 'VARCHAR',
      entity_id: 'VARCHAR',
      question_id: 'VARCHAR',
      resolved_at: 'TIMESTAMP WITH TIME ZONE',
      settled: 'BOOLEAN',
      settled_at: 'TIMESTAMP WITH TIME ZONE',
      unit: 'VARCHAR',
      cluster: 'VARCHAR',
      week: 'VARCHAR',
      divisor: 'INTEGER',
      joint: 'VARCHAR',
      unit_questions: 'INTEGER',
      outcome: 'VARCHAR',
      coverage: 'DOUBLE',
      brier: 'DOUBLE',
      log_score: 'DOUBLE',
      baseline_score: 'DOUBLE',
      peer_score: 'DOUBLE',
      forecasts: 'INTEGER',
      closing_probability: 'DOUBLE',
      voices: 'INTEGER',
      witnessed: 'BOOLEAN',
      judged_coverage: 'DOUBLE',
      judged_brier: 'BIGINT',
      average_brier: 'BIGINT',
      median_brier: 'BIGINT',
      market_brier: 'BIGINT',
      judged_brier_if_other: 'BIGINT',
      average_brier_if_other: 'BIGINT',
      median_brier_if_other: 'BIGINT',
      market_brier_if_other: 'BIGINT',
      contested: 'BOOLEAN',
      priced: 'BOOLEAN',
      gain: 'BIGINT',
      spread: 'BIGINT',
      median_gain: 'BIGINT',
      median_spread: 'BIGINT',
      market_gain: 'BIGINT',
      market_spread: 'BIGINT',
    })
  })

  test('are in the ranges of the method', async () => {
    const [outside] = await query(
      `SELECT
         count(*) FILTER (NOT (coverage > 0 AND coverage <= 1))::INTEGER AS coverage,
         count(*) FILTER (NOT (brier BETWEEN 0 AND 1))::INTEGER AS brier,
         count(*) FILTER (NOT (judged_coverage BETWEEN 0 AND 0.750001))::INTEGER AS judged_coverage,
         count(*) FILTER (NOT (judged_brier BETWEEN 0 AND 1e9 AND average_brier BETWEEN 0 AND 1e9))::INTEGER AS judged_brier,
         count(*) FILTER (contested AND voices < 5 OR contested <> (gain IS NOT NULL))::INTEGER AS contested,
         count(*) FILTER (NOT (log_score BETWEEN 0 AND 6.907756))::INTEGER AS log_score,
         count(*) FILTER (NOT (baseline_score BETWEEN -896.6 AND 99.9))::INTEGER AS baseline_score,
         count(*) FILTER (NOT isfinite(peer_score))::INTEGER AS peer_score,
         count(*) FILTER (NOT (closing_probability BETWEEN 0 AND 1))::INTEGER AS closing_probability,
         count(*) FILTER (forecasts < 1 OR outcome NOT IN ('yes', 'no') OR entity_type <> 'forecaster')::INTEGER AS rest
       FROM ${file('scores/000.parquet')}`,
    )
    expect(
      Object.values(outside!).every((count) => count === 0),
      JSON.stringify(outside),
    ).toBe(true)
    // Everyone in the contest forecast once, on its first day, and that forecast stands to the end.
    const [contest] = await query(
      `SELECT min(coverage) AS lowest, max(coverage) AS highest FROM ${file('scores/000.parquet')} WHERE forecasts = 1 AND coverage = 1`,
    )
    expect(contest).toEqual({ lowest: 1, highest: 1 })
    // Peer scores add up to 0 if all forecasts stand from beginning to end.
    const sums = await query<{ peers: number }>(
      `SELECT sum(peer_score) AS peers FROM ${file('scores/000.parquet')} GROUP BY question_id HAVING min(coverage) = 1`,
    )
    expect(sums.length).toBeGreaterThanOrEqual(50)
    for (const { peers } of sums) expect(Math.abs(peers)).toBeLessThan(1e-5)
  })

  test('are in a manifest with the rows and checksum of every file', async () => {
    const stored = (await components.store.get(manifestPath(1)))!
    expectValid('release-manifest', JSON.parse(new TextDecoder().decode(stored)))
    for (const { path, rows, size_bytes, sha256 } of manifest.files) {
      const bytes = (await components.store.get(`releases/00000001/${path}`))!
      expect([bytes.byteLength, sha256Hex(bytes)], path).toEqual([size_bytes, sha256])
      if (!path.endsWith('.parquet')) continue
      const [counted] = await query(`SELECT count(*)::INTEGER AS rows FROM ${file(path)}`)
      expect(counted, path).toEqual({ rows })
    }
    const rowsOf = (pattern: RegExp) =>
      manifest.files.filter(({ path }) => pattern.test(path)).reduce((sum, { rows }) => sum + rows, 0)
    expect(rowsOf(/^forecaster\//)).toBe(PEOPLE)
    expect(rowsOf(/^agent\//)).toBe(0)
    expect(rowsOf(/^entities\//)).toBe(PEOPLE)
    expect(rowsOf(/^scores\//)).toBe(PAIRS)
  })

  test('are published in payloads that all match their schemas', async () => {
    const wrong: string[] = []
    const badges: Record<string, number> = {}
    for (const { path } of manifest.files.filter(({ path: name }) => name.startsWith('forecaster/'))) {
      const text = new TextDecoder().decode(await components.store.get(`releases/00000001/${path}`))
      const shard = JSON.parse(text) as ReleaseShard
      const { entities } = shard
      wrong.push(...faultsOf('release-shard', shard))
      const copy = await components.store.get(`snapshots/${manifest.as_of.slice(0, 10)}/${path}`)
      wrong.push(...faultsOf('snapshot-shard', JSON.parse(new TextDecoder().decode(copy))))
      for (const { verification, metrics, rankings, advanced_metrics, profile } of Object.values(entities)) {
        wrong.push(
          ...faultsOf('forecaster-verification', verification.payload),
          ...faultsOf('forecaster-metrics', metrics.payload),
          ...faultsOf('forecaster-rankings', rankings.payload),
          ...faultsOf('forecaster-advanced-metrics', advanced_metrics.payload),
          ...faultsOf('forecaster-profile', profile.payload),
        )
        if ('badge' in verification.payload) {
          badges[verification.payload.badge] = (badges[verification.payload.badge] ?? 0) + 1
        }
      }
    }
    expect(wrong).toEqual([])
    expect(Object.values(badges).reduce((sum, count) => sum + count)).toBe(PEOPLE)
    // A contest of fifty questions, and one season of professionals, prove nothing.
    expect(badges['certified']).toBeUndefined()
  })

  test('give everyone a skill, and ten professionals nearly the order of their peer scores', async () => {
    const people = await query<{ skill: number; peer_score: number; questions: number; pro: boolean }>(
      `SELECT skill, peer_score, resolved_questions AS questions, entity_id IN (
         SELECT user_id FROM read_csv('${fileOf(DATASETS[0]!, 'forecasters')}')) AS pro
       FROM ${file('entities/000.parquet')}`,
    )
    expect(people.filter(({ skill }) => skill === null)).toEqual([])
    const pros = people.filter(({ pro }) => pro)
    expect(pros).toHaveLength(10)
    const ranks = (values: number[]) => values.map((own) => values.filter((other) => other < own).length)
    const [bySkill, byPeers] = [
      ranks(pros.map(({ skill }) => skill)),
      ranks(pros.map((pro) => pro.peer_score)),
    ]
    const squares = bySkill.reduce((sum, rank, i) => sum + (rank - byPeers[i]!) ** 2, 0)
    // Spearman's correlation: a skill looks at squared errors in three quarters of a life, a peer score at
    // logarithms to the end.
    expect(1 - (6 * squares) / (10 * 99)).toBeGreaterThan(0.7)
  })

  test.for(['1', '2'])(
    'are derived again, byte for byte, with %s threads and little memory',
    async (DUCKDB_THREADS) => {
      const settings = { DUCKDB_THREADS, DUCKDB_MEMORY_LIMIT: '400MB' }
      const { ok, json } = await runAudit(await testComponents({ folder, settings }), 1)
      expect(json).toMatchObject({
        ok: true,
        faults: [],
        // Four payloads each, and a row of the snapshot.
        signatures: { valid: 6 * PEOPLE, invalid: 0, unsigned: 0 },
      })
      expect(ok).toBe(true)
    },
  )

  test('imported again change nothing', async () => {
    for (const kind of ['questions', 'forecasts'] as const) {
      const path = (await inputOf('acx-2023', kind))!
      const { json } = await runImport(components, kind, path, optionsOf(kind))
      expect(json).toMatchObject({ added: 0, changed: 0, forecasters_created: 0 })
    }
  })
})
