// A run of `fvs release` takes the counted calls into their table. For expired claims and old releases see
// test/access/idempotency.release.test.ts and test/release/retention.test.ts.
import { expect, test } from 'vitest'
import type { Components } from '../../../jobs/components/components.ts'
import { MUCH_USAGE } from '../../../jobs/release/housekeeping.ts'
import { runRelease } from '../../../jobs/release/release.ts'
import { UsageLog, readMonthlyUsage } from '../../../pipeline/access/usage.ts'
import { readManifest } from '../../../pipeline/release/read.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { PROBES_PREFIX, inboxPrefix, probePath } from '../../../pipeline/store/paths.ts'
import { currentVersions } from '../../../pipeline/tables/delta-log.ts'
import { SCORED_TABLES } from '../../../schemas/tables.ts'
import { Clock, testComponents } from '../../support/http/service.ts'
import { currentVersion, pathsOf } from '../../support/tables.ts'
import { sendBroken } from '../../support/tables.ts'

const MARCH = '2026-03'

async function setUp() {
  const clock = new Clock('2026-03-15T12:00:00.000Z')
  const store = new MemoryStore(clock.now)
  const components = await testComponents({ store, clock, environment: 'sandbox' })
  const log = new UsageLog(components)
  const countCall = async () => {
    log.count({ keyId: 'key', accountId: 'ada', tier: 'free', day: '2026-03-15' })
    await log.flush()
  }
  return { store, clock, components, countCall }
}

const runIfChanged = async (components: Components) =>
  (await runRelease(components, { ifChanged: true })).json

async function usedIn(components: Components, month: string): Promise<Record<string, number>> {
  return Object.fromEntries(await readMonthlyUsage(components, month))
}

test(
  'a release takes in the usage, does not mention it in the manifest, and is not made because of it',
  { tags: ['slow'] },
  async () => {
    const { store, components, countCall } = await setUp()
    await countCall()
    expect(await runIfChanged(components)).toMatchObject({ made: true, release: 1 })
    expect(await pathsOf(store, inboxPrefix('usage'))).toEqual([])
    const manifest = (await readManifest(store, 1))!
    expect(Object.keys(manifest.tables).sort()).toEqual([...SCORED_TABLES].sort())
    expect(Object.keys(await currentVersions(store)).sort()).toEqual([...SCORED_TABLES].sort())

    // Without other news it takes in the usage only when enough objects wait to be worth a commit.
    for (let flush = 1; flush <= MUCH_USAGE; flush++) {
      await countCall()
      if (flush < MUCH_USAGE - 1) continue
      const few = flush < MUCH_USAGE
      expect(await runIfChanged(components)).toEqual({ made: false, release: 1, reason: 'unchanged' })
      expect(await pathsOf(store, inboxPrefix('usage'))).toHaveLength(few ? flush : 0)
      expect(await currentVersion(store, 'usage')).toMatchObject({ version: few ? 1 : 2 })
      expect(await usedIn(components, MARCH)).toEqual({ ada: 1 + flush })
    }
  },
)

test('usage that cannot be taken in does not fail the release', { tags: ['slow'] }, async () => {
  const { store, components, countCall } = await setUp()
  const broken = await sendBroken(store, 'usage')
  expect(await runIfChanged(components)).toMatchObject({ made: true, release: 1 })
  await store.delete(broken)
  await countCall()
  expect(await usedIn(components, MARCH)).toEqual({ ada: 1 })
})

test('what dead processes tried the store with goes after a day, and what was written since stays', async () => {
  const { store, clock, components } = await setUp()
  const [dead, live] = [probePath('dead'), probePath('live')]
  for (const path of [dead, live]) await store.put(path, new Uint8Array([1]))
  clock.set('2026-03-16T12:00:00.000Z')
  await runIfChanged(components)
  expect(await pathsOf(store, PROBES_PREFIX)).toEqual([dead, live])
  await store.put(live, new Uint8Array([2]))
  clock.set('2026-03-16T12:00:00.001Z')
  await runIfChanged(components)
  expect(await pathsOf(store, PROBES_PREFIX)).toEqual([live])
})
