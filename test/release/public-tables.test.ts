// The public tables over random histories: all of a settled question, and no forecast on any other in anything
// that leaves the store.
// @module-tag slow
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PublicData } from '../../api/published/public-data.ts'
import { History } from '../../api/published/history.ts'
import { ReleaseFiles } from '../../api/published/release-files.ts'
import { ReleasePayloads } from '../../api/published/release-payloads.ts'
import { RenderedAnswers } from '../../api/published/rendered.ts'
import { PublicLog } from '../../api/published/public-log.ts'
import type { Components } from '../../jobs/components/components.ts'
import { type Database, literal } from '../../pipeline/duckdb.ts'
import { versionsOf } from '../../pipeline/release/plan.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { thinReleases } from '../../pipeline/release/retention.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import { PUBLIC_TABLES } from '../../schemas/public-tables.ts'
import { suiteFolder } from '../support/folder.ts'
import { HISTORY_START_MS, historyOf, takeIn } from '../support/worlds/history.ts'
import { Clock, release, testComponents } from '../support/http/service.ts'

const RELEASES = 7
const folder = await suiteFolder()

/** The bytes of everything that the index of `/data` lists of the current release, by path. */
async function letOut(store: MemoryStore, number: number): Promise<Map<string, Buffer>> {
  const files = new ReleaseFiles({ store, monotonicMs: () => performance.now() }, 2 ** 24)
  const history = new History(store, 2 ** 20)
  await history.refresh()
  const publicLog = new PublicLog(store, [], [])
  const rendered = new RenderedAnswers({ version: 0 })
  const data = new PublicData({ store, files, publicLog, history, rendered, what: 'tables' })
  const current = (await readManifest(store, number))!
  const bytesOf = async (path: string) => {
    const found = (await data.find(path, current))!
    return Buffer.concat(await Array.fromAsync(data.read(found, 0, found.sizeBytes)))
  }
  const bytes = await data.index(new ReleasePayloads(current, files, () => undefined))
  const index = JSON.parse(Buffer.from(bytes!).toString()) as { files: { path: string }[] }
  return new Map(await Promise.all(index.files.map(async ({ path }) => [path, await bytesOf(path)] as const)))
}

/**
 * The forecasts of the tables of a release: those on settled questions, each with its question, and the ids
 * that are on no settled question.
 */
async function forecastsAt(
  { local, store }: Components,
  database: Database,
  number: number,
): Promise<{ settled: Set<string>; others: Set<string> }> {
  const manifest = (await readManifest(store, number))!
  await attachAll(database, local, await versionsOf(store, manifest))
  const now = `${literal(manifest.as_of)}::TIMESTAMPTZ`
  const rows = await database.rows<{ id: string; question: string; settled: boolean; counts: boolean }>(
    `SELECT forecast_id AS id, question_id AS question, entity_type <> 'agent' OR forecasts.source <> 'import' AS counts,
       coalesce(outcome IN ('yes', 'no') AND resolved_at <= ${now} AND closes_at <= ${now}, false) AS settled
     FROM forecasts LEFT JOIN current_questions USING (question_id) LEFT JOIN current_resolutions USING (question_id)`,
  )
  const settled = rows.filter((row) => row.settled && row.counts)
  const ids = new Set(settled.map(({ id }) => id))
  return {
    settled: new Set(settled.map(({ id, question }) => `${question} ${id}`)),
    others: new Set(rows.map(({ id }) => id).filter((id) => !ids.has(id))),
  }
}

/** Every text in each row of a Parquet file. */
async function textsIn(database: Database, path: string, bytes: Buffer): Promise<string[][]> {
  const file = join(folder, 'out', path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, bytes)
  const rows = await database.rows(`FROM read_parquet(${literal(file)})`)
  return rows.map((row) => Object.values(row).filter((value) => typeof value === 'string'))
}

describe('what a release publishes of the tables', () => {
  test.for([1, 2, 3])('has every forecast on a settled question, and no other: history %d', async (seed) => {
    const store = new MemoryStore()
    const clock = new Clock(new Date(HISTORY_START_MS).toISOString())
    const components = await testComponents({ store, folder, clock })
    let seen = 0
    for (const [index, step] of historyOf(seed, RELEASES).entries()) {
      const number = index + 1
      clock.set(new Date(clock.now().getTime() + step.laterMs).toISOString())
      await takeIn(step, store, `s${number}`)
      await release(components)
      using database = await components.openDatabase()
      const { settled, others } = await forecastsAt(components, database, number)
      const found: string[] = []
      for (const [path, bytes] of await letOut(store, number)) {
        const texts = path.endsWith('.parquet') ? await textsIn(database, path, bytes) : []
        const readable = path.endsWith('.parquet') ? texts.flat().join('\n') : bytes.toString('latin1')
        for (const id of others) expect(readable.includes(id), `${id} in ${path}`).toBe(false)
        if (path.includes('/public/forecasts/')) {
          found.push(...texts.map(([id, , , question]) => `${question} ${id}`))
        }
      }
      expect(found.toSorted(), `release ${number}`).toEqual([...settled].toSorted())
      seen += found.length
    }
    expect(seen).toBeGreaterThan(0)
  })

  test('keeps a file that nothing has touched, until no release that is kept names it', async () => {
    const store = new MemoryStore()
    const clock = new Clock(new Date(HISTORY_START_MS).toISOString())
    const components = await testComponents({ store, folder, clock })
    for (const [index, step] of historyOf(4, RELEASES).entries()) {
      clock.set(new Date(clock.now().getTime() + step.laterMs).toISOString())
      await takeIn(step, store, `s${index + 1}`)
      await release(components)
    }
    const last = (await readManifest(store, RELEASES))!.public
    expect(last.map(({ path }) => path)).toEqual(last.map(({ path }) => path).toSorted())
    expect(last.some((file) => file.release < RELEASES)).toBe(true)
    await thinReleases(components, RELEASES, 1)
    const kept = [...store.objects.keys()].filter((path) => path.includes('/public/'))
    expect(kept.toSorted()).toEqual(last.map((file) => releasePrefix(file.release) + file.path).toSorted())
  })

  test('has the files that are not cut in a store without a row', async () => {
    const store = new MemoryStore()
    const components = await testComponents({ store, folder })
    await release(components)
    const named = (await readManifest(store, 1))!.public
    expect(named.map(({ path, rows }) => [path, rows])).toEqual([
      ['public/agents.parquet', 0],
      ['public/events.parquet', 0],
      ['public/forecasters.parquet', 0],
    ])
  })

  test('names no person, and nothing that an operator said', () => {
    const columns = Object.values(PUBLIC_TABLES).flatMap((table) => table.columns.map(({ name }) => name))
    expect(columns).not.toContain('display_name')
    expect(columns).not.toContain('reason')
  })
})
