// Stores that earlier versions of the service made, by their own commands (make.sh): this version serves them
// as they are, makes their next release, and audits all of it.
import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runAudit } from '../../jobs/audit.ts'
import { runAuditLog } from '../../jobs/audit-log.ts'
import { runBackup, runRestore } from '../../jobs/backup.ts'
import { runRelease } from '../../jobs/release.ts'
import { literal } from '../../pipeline/duckdb.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { testFolder } from '../support/folder.ts'
import { Clock, bearer, testComponents, testService } from '../support/http/service.ts'
import { contentOf } from '../support/store-content.ts'
import { LOG_SECRET, LOG_VKEY } from '../support/worlds/written-log.ts'

const ARCHIVES = fileURLToPath(new URL('.', import.meta.url))
/** The key of the agent in each store, which make.sh prints. */
const KEYS = {
  '1.0.0': 'fv_live_3jCqOr5h_BIDarNNzY7P1RFiItIiGdeWabG0dTcEY1PAyaI',
  '2.0.0': 'fv_live_3GFa7M0v_nSWGkU2YtA3G4lAA3YZeTb09hN1aLZNG2QUB0O',
}
const VERSIONS = Object.keys(KEYS) as (keyof typeof KEYS)[]
const NEXT_DAY = '2026-11-29T12:00:00.000Z'
const OPEN_QUESTION = '00000000-0000-4000-8001-000000000031'
const PERSON = '00000000-0000-4000-8002-000000000001'
/** Six people on thirty questions, and the agent three times, the last time after the last release. */
const FORECASTS = 6 * 30 + 3

const PARTS_OF_2 = [
  (agentId: string) => `/view/agents/${agentId}`,
  () => `/view/forecasters/${PERSON}`,
  () => `/forecaster/${PERSON}`,
  () => `/forecaster/${PERSON}/scores`,
  () => `/forecaster/${PERSON}/card.svg`,
]
/** Pages and calls about what a release says. */
const PARTS = [
  ...PARTS_OF_2,
  () => '/',
  () => '/view/questions',
  () => '/leaderboard/agent',
  () => `/forecaster/${PERSON}/badge.svg`,
  (agentId: string) => `/view/compare?a=forecaster:${PERSON}&b=agent:${agentId}`,
]

async function unpacked(version: string) {
  const folder = await testFolder()
  const store = join(folder, 'store')
  await mkdir(store)
  execFileSync('tar', ['-xzf', join(ARCHIVES, `${version}.tar.gz`), '-C', store])
  const clock = new Clock(NEXT_DAY)
  const settings = { LOG_SIGNING_KEY: LOG_SECRET, LOG_LEVEL: 'silent' }
  return { folder, components: await testComponents({ folder, clock, settings }) }
}

/** The only agent of a store. */
async function agentOf(store: Store): Promise<string> {
  const [found] = await Array.fromAsync(store.list('registry/agents/'))
  return /([^/]+)\.json$/.exec(found!.path)![1]!
}

test.for(VERSIONS)('a store of %s is served as it is, and goes on', async (version) => {
  const { folder, components } = await unpacked(version)
  const { store } = components
  const agentId = await agentOf(store)
  const before = await contentOf(store, 'releases/')
  const { client } = await testService(components)
  const methodOf = async (path: string) => {
    const answer = await client.get(path)
    expect(answer.status, `${path} ${answer.text}`).toBe(200)
    return answer.json<{ methodology_version: string }>().methodology_version
  }
  const record = `/forecaster/${PERSON}/verification`
  expect(await methodOf(record)).toBe(version)
  // The method of 1.0.0 published no profiles, and its scores had no hashes by row group.
  const lacking = version === '1.0.0' ? PARTS_OF_2 : []
  for (const part of PARTS) {
    const { status, text } = await client.get(part(agentId))
    expect(status, `${part(agentId)} ${text}`).toBe(lacking.includes(part) ? 404 : 200)
  }
  const forecast = { question_id: OPEN_QUESTION, probability: 0.875 }
  const sent = await client.post(`/agents/${agentId}/forecast`, forecast, bearer(KEYS[version]))
  expect(sent.status, sent.text).toBe(200)

  expect(await runRelease(components, {})).toMatchObject({ ok: true, json: { made: true, release: 3 } })
  await expect.poll(() => methodOf(record)).toBe(METHODOLOGY.version)
  for (const part of PARTS) expect((await client.get(part(agentId))).status, part(agentId)).toBe(200)
  expect((await readManifest(store, 3))!.counts).toMatchObject({
    forecasts: FORECASTS + 1,
    agents: 1,
    forecasters: 6,
  })
  expect(await contentOf(store, 'releases/')).toMatchObject(before)

  // Rows of earlier versions do not say of which release they are.
  using database = await components.openDatabase()
  const files = literal(join(folder, 'store/releases/*/entities/*.parquet'))
  const ofReleases = await database.rows(
    `SELECT release, as_of, count(*)::INTEGER AS entities FROM read_parquet(${files}, union_by_name = true)
     GROUP BY ALL ORDER BY ALL`,
  )
  expect(ofReleases).toEqual([
    { release: 3, as_of: new Date(NEXT_DAY), entities: 7 },
    { release: null, as_of: null, entities: expect.any(Number) as number },
  ])

  const audits = await Promise.all([1, 2, 3].map((release) => runAudit(components, release)))
  expect(audits.map(({ json }) => json)).toEqual([
    expect.objectContaining({ ok: true, derived: false, faults: [] }),
    expect.objectContaining({ ok: true, derived: false, faults: [] }),
    expect.objectContaining({ ok: true, derived: true, faults: [] }),
  ])
  expect((await runAuditLog(components, [LOG_VKEY])).json).toMatchObject({ ok: true, entries: 3, faults: [] })
})

test.for(VERSIONS)('a store of %s goes into a backup and comes back', async (version) => {
  const { folder, components } = await unpacked(version)
  const backup = join(folder, 'backup')
  const back = { ...components.settings, STORE_URL: join(folder, 'back') }
  const copied = await runBackup(components.settings, backup, { comparesAll: false }, new Date(NEXT_DAY))
  expect(copied).toMatchObject({ ok: true })
  expect(await runRestore(back, backup, {})).toMatchObject({ ok: true })
  const restored = await testComponents({ folder, settings: { STORE_URL: back.STORE_URL } })
  expect(await contentOf(restored.store)).toEqual(await contentOf(components.store))
})
