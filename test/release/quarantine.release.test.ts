// What releases, audits and history make of a quarantine: a release goes on once something was moved aside, and
// lists it from then on.
// @module-tag slow
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runAudit } from '../../jobs/audit/audit.ts'
import { runQuarantine } from '../../jobs/release/quarantine.ts'
import type { AuditReport } from '../../pipeline/audit/report.ts'
import { currentRelease, readManifest, readSnapshotManifest } from '../../pipeline/release/read.ts'
import { thinReleases } from '../../pipeline/release/retention.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import {
  inboxPrefix,
  intakePath,
  manifestPath,
  planPath,
  quarantinePath,
  quarantineRecordPath,
  snapshotManifestPath,
} from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import {
  Clock,
  bearer,
  registerAgent,
  release,
  startTestService,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { contentOf, copyOf, flip, recordIn, setRecord } from '../support/store-content.ts'
import { pathsOf, readRows } from '../support/tables.ts'
import { NOW, QUESTION, forecasterId, importWorld } from '../support/worlds/world.ts'

const TODAY = NOW.slice(0, 10)
const TOMORROW = '2026-03-02T12:00:00.000Z'
const LATER = '2026-03-03T12:00:00.000Z'
const REASON = 'the disk of the store is failing'

const folder = await suiteFolder()
const clock = new Clock(NOW)
/** Released once, with four forecasts waiting since then. */
const prepared = new MemoryStore()
let agentId: string
const forecasts: string[] = []

/** With a cache of its own, as on a machine that has not read the store before. */
const componentsOver = async (store: Store, at = TOMORROW) =>
  testComponents({ store, folder: await mkdtemp(join(folder, 'machine-')), clock: new Clock(at) })

beforeAll(async () => {
  const components = await testComponents({ store: prepared, folder, clock })
  const service = await startTestService(components)
  const agent = await registerAgent(service.client)
  agentId = agent.agentId
  await importWorld(components)
  await release(components)
  for (const probability of [0.1, 0.2, 0.3, 0.4]) {
    const { json } = await service.client.post(
      `/agents/${agentId}/forecast`,
      { question_id: QUESTION.open, probability },
      bearer(agent.key),
    )
    forecasts.push(json<{ forecast_id: string }>().forecast_id)
  }
  await service.stop()
})

/** Cuts off a release before its write to a path that matches. */
async function cutOffBefore(store: MemoryStore, pattern: RegExp): Promise<void> {
  const broken = new FaultStore(store, {
    before: ({ operation, path }) => {
      if (operation === 'putIfAbsent' && pattern.test(path)) throw new Error('cut off')
    },
  })
  await expect(release(await componentsOver(broken))).rejects.toThrow('cut off')
}

interface Trouble {
  key: string
  /** The forecasts that must still be taken in, by their number. */
  left: number[]
}

const waitingIn = (store: MemoryStore) => pathsOf(store, inboxPrefix('forecasts'))

const TROUBLES: Record<string, (store: MemoryStore) => Promise<Trouble>> = {
  'a damaged inbox object': async (store) => {
    const key = (await waitingIn(store))[1]!
    flip(store, key)
    return { key, left: [0, 2, 3] }
  },
  'a damaged intake': async (store) => {
    await cutOffBefore(store, /tables\/forecasts\/_delta_log/)
    const key = intakePath('forecasts', 2)
    flip(store, key)
    return { key, left: [0, 1, 2, 3] }
  },
  'a damaged snapshot manifest': async (store) => {
    const key = snapshotManifestPath(TODAY)
    flip(store, key)
    return { key, left: [0, 1, 2, 3] }
  },
}

async function auditsOf(store: MemoryStore): Promise<AuditReport[]> {
  const reports: AuditReport[] = []
  for (let number = 1; number <= (await currentRelease(store)); number++) {
    const components = await componentsOver(store, LATER)
    reports.push((await runAudit(components, number)).json as AuditReport)
  }
  return reports
}

async function expectSound(store: MemoryStore, left: readonly number[]): Promise<void> {
  for (const { release: number, faults, derived } of await auditsOf(store)) {
    expect([number, derived, faults]).toEqual([number, true, []])
  }
  const components = await componentsOver(store)
  using database = await components.openDatabase()
  const rows = await readRows({ ...components, database }, 'forecasts')
  const sent = rows.map((row) => row['forecast_id'] as string).filter((id) => forecasts.includes(id))
  expect(sent.sort()).toEqual(left.map((index) => forecasts[index]!).sort())
  expect(await waitingIn(store)).toEqual([])
}

describe.for(Object.entries(TROUBLES))('%s', ([, make]) => {
  test('stops releases, which go on once it was moved aside and list it from then on', async () => {
    const store = copyOf(prepared)
    const { key, left } = await make(store)
    const releases = await contentOf(store, 'releases/')
    await expect(release(await componentsOver(store))).rejects.toMatchObject({
      kind: 'corrupt',
      message: expect.stringMatching(
        new RegExp(`^${key} .* fvs quarantine ${key} --reason TEXT$`, 's'),
      ) as string,
    })
    expect(await contentOf(store, 'releases/')).toEqual(releases)
    const { ok, json } = await runQuarantine(await componentsOver(store), key, REASON)
    expect(ok).toBe(true)
    expect(json).toMatchObject({ key, at: TOMORROW, reason: REASON })
    expect(await release(await componentsOver(store), { ifChanged: true })).toMatchObject({
      made: true,
      release: 2,
    })
    const { quarantined } = (await readManifest(store, 2))!
    expect(quarantined).toContainEqual(recordIn(store, quarantineRecordPath(key)))
    expect(quarantined).toHaveLength((json as { data_files: string[] }).data_files.length + 1)
    expect((await readManifest(store, 1))!.quarantined).toEqual([])
    await expectSound(store, left)
    expect(await release(await componentsOver(store), { ifChanged: true })).toMatchObject({ made: false })
    await release(await componentsOver(store, LATER))
    expect((await readManifest(store, 3))!.quarantined).toEqual(quarantined)
    await expectSound(store, left)
    expect(await readSnapshotManifest(store, TODAY)).toMatchObject({ release: 1 })
  })
})

describe('a snapshot manifest that was moved aside', () => {
  const key = snapshotManifestPath(TODAY)

  test.for(FAULTS)(
    'at any write that %s is moved aside by the next run, and completed to the same bytes',
    async (fault) => {
      for (let at = 1; ; at++) {
        const store = copyOf(prepared)
        flip(store, key)
        const broken = new FaultStore(store, { at, fault, crash: true })
        const isCut = await runQuarantine(await componentsOver(broken), key, REASON).then(
          () => false,
          () => true,
        )
        await runQuarantine(await componentsOver(store), key, REASON)
        expect(store.objects.has(key)).toBe(false)
        await release(await componentsOver(store))
        expect(store.objects.get(key)).toEqual(prepared.objects.get(key))
        if (!isCut) break
        expect(at).toBeLessThan(4)
      }
    },
  )

  test('of an earlier day is completed too, from the release that brought it', async () => {
    const store = copyOf(prepared)
    await release(await componentsOver(store))
    await release(await componentsOver(store, LATER))
    const whole = store.objects.get(key)!
    flip(store, key)
    // It stops no release, since none reads it.
    await runQuarantine(await componentsOver(store, LATER), key, REASON)
    await release(await componentsOver(store, LATER))
    expect(store.objects.get(key)).toEqual(whole)
    await expectSound(store, [0, 1, 2, 3])
    // And once more, though it has a record already.
    flip(store, key)
    await runQuarantine(await componentsOver(store, LATER), key, 'again')
    expect(store.objects.has(key)).toBe(false)
    await release(await componentsOver(store, LATER))
    expect(store.objects.get(key)).toEqual(whole)
  })

  test('after its shards were thinned cannot be completed: releases go on, the audit and history say so', async () => {
    const store = copyOf(prepared)
    await release(await componentsOver(store))
    const components = await componentsOver(store, LATER)
    await thinReleases(components, 2, 1)
    flip(store, key)
    await runQuarantine(components, key, REASON)
    const told: object[] = []
    const log = (event: string, fields: object) => told.push({ event, ...fields })
    await release({ ...components, log })
    expect(told).toContainEqual(
      expect.objectContaining({
        event: 'the snapshot cannot be completed',
        date: TODAY,
        reason: expect.stringContaining('release 1 was thinned') as string,
      }),
    )
    expect((await readManifest(store, 3))!.quarantined).toMatchObject([{ key }])
    const [first] = await auditsOf(store)
    expect(first).toMatchObject({ faults: [], snapshot_compared: false })
    expect(first!.notes).toContainEqual(
      expect.stringMatching(
        new RegExp(`^${key} was moved aside at .*: ${TODAY} has no history until it is restored$`),
      ),
    )
  })

  test('is in the history again of a node that started without it', async () => {
    const store = copyOf(prepared)
    await release(await componentsOver(store))
    flip(store, key)
    await runQuarantine(await componentsOver(store, LATER), key, REASON)
    const components = await componentsOver(store, LATER)
    const { client } = await testService(components)
    const days = async () => {
      const { json } = await client.get(`/snapshots/forecaster/${forecasterId(0)}`)
      return json<{ snapshots: { date: string }[] }>().snapshots.map(({ date }) => date)
    }
    expect(await days()).toEqual(['2026-03-02'])
    await release(components)
    await expect.poll(days).toEqual([TODAY, '2026-03-02', '2026-03-03'])
  })
})

describe('a plan that was made before something was moved aside', () => {
  test('is carried out to the same bytes, and the release after it lists it', async () => {
    const store = copyOf(prepared)
    await cutOffBefore(store, /releases\/00000002\/manifest/)
    flip(store, snapshotManifestPath(TODAY))
    await runQuarantine(await componentsOver(store), snapshotManifestPath(TODAY), REASON)
    const result = await release(await componentsOver(store), { ifChanged: true })
    expect(result).toMatchObject({ made: true, release: 3 })
    expect((await readManifest(store, 2))!.quarantined).toEqual([])
    expect((await readManifest(store, 3))!.quarantined).toHaveLength(1)
    await expectSound(store, [0, 1, 2, 3])
  })
})

describe('an audit', () => {
  test.for<[string, (store: MemoryStore, key: string) => void, RegExp]>([
    [
      'names a record that is missing',
      (store, key) => store.objects.delete(quarantineRecordPath(key)),
      /\.json: is missing/,
    ],
    [
      'names a record that is damaged',
      (store, key) => flip(store, quarantineRecordPath(key)),
      /is not a whole record/,
    ],
    [
      'names a manifest whose list differs from the plan and the record',
      (store) => {
        const manifest = recordIn(store, manifestPath(2))
        const [first] = manifest['quarantined'] as object[]
        setRecord(store, manifestPath(2), { ...manifest, quarantined: [{ ...first, reason: 'other' }] })
      },
      /manifest\.json: it (?:lists other objects|differs)/,
    ],
    [
      'names a release that lists less than the one before',
      (store) => {
        const manifest = recordIn(store, manifestPath(3))
        setRecord(store, manifestPath(3), { ...manifest, quarantined: [] })
        setRecord(store, planPath(3), { ...recordIn(store, planPath(3)), quarantined: [] })
      },
      /is not listed as in quarantine, and was in the release before/,
    ],
  ])('%s', async ([, damage, fault]) => {
    const store = copyOf(prepared)
    const { key } = await TROUBLES['a damaged inbox object']!(store)
    await runQuarantine(await componentsOver(store), key, REASON)
    await release(await componentsOver(store))
    await release(await componentsOver(store, LATER))
    expect(store.objects.has(quarantinePath(key))).toBe(true)
    damage(store, key)
    const faults = (await auditsOf(store)).flatMap((report) => report.faults)
    expect(
      faults.some((text) => fault.test(text)),
      faults.join('\n'),
    ).toBe(true)
  })
})
