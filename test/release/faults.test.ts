// A release cut off at any write, in either way, or run twice at once: what is published is whole, and
// published once.
// @module-tag slow
import { readdir } from 'node:fs/promises'
import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { ReleaseResult } from '../../pipeline/release/make.ts'
import {
  currentRelease,
  readManifest,
  readSnapshotManifest,
  snapshotDates,
} from '../../pipeline/release/read.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type Call, FAULTS, type Fault, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { laterRelease } from '../support/later-software.ts'
import {
  Clock,
  SECRET,
  bearer,
  importRows,
  registerAgent,
  release,
  startTestService,
  testComponents,
} from '../support/http/service.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const TODAY = NOW.slice(0, 10)
const YESTERDAY = '2026-02-28'
const FORECAST_COLUMNS = 'entity_type,entity_id,question_id,probability,forecast_at'

const folder = await suiteFolder()
let prepared: MemoryStore
let clean: { writes: number; kinds: string[]; content: Record<string, string> }
let clock: Clock

const WRITES = new Set<Call['operation']>(['putIfAbsent', 'put', 'delete'])

/**
 * The kinds of a store's objects: the first folder of each path, and of a release or a snapshot also what is
 * in it.
 */
function kindsOf(paths: readonly string[]): string[] {
  const kinds = paths.map((path) =>
    path.replace(/^(releases|snapshots)\/[^/]+\/([^/]+).*$|^([^/]+)\/.*$/, '$1 $2$3'),
  )
  return [...new Set(kinds.map((kind) => kind.trim()))].toSorted()
}

/**
 * Yesterday's release, and since then an agent and forecasts that wait in the inbox, one of them on a
 * question that was scored.
 */
beforeAll(async () => {
  clock = new Clock(`${YESTERDAY}T12:00:00.000Z`)
  prepared = new MemoryStore()
  const components = await testComponents({ store: prepared, folder, clock })
  const open = '2026-01-01T00:00:00Z,2026-12-01T00:00:00Z'
  await importRows(
    components,
    'questions',
    `question_id,title,opened_at,closes_at\n${uuidOf(1, 1)},a,${open}\n${uuidOf(1, 2)},b,${open}\n`,
  )
  await importRows(
    components,
    'resolutions',
    `question_id,outcome,resolved_at\n${uuidOf(1, 1)},yes,2026-02-01T00:00:00Z\n`,
  )
  const forecasts = [1, 2, 3].map(
    (person) => `forecaster,${uuidOf(2, person)},${uuidOf(1, 1)},0.${person},2026-01-0${person}T00:00:00Z`,
  )
  await importRows(components, 'forecasts', [FORECAST_COLUMNS, ...forecasts].join('\n'))
  await release(components)
  clock.set(NOW)
  const late = `forecaster,${uuidOf(2, 1)},${uuidOf(1, 1)},0.5,2026-01-09T00:00:00Z`
  await importRows(components, 'forecasts', `${FORECAST_COLUMNS}\n${late}\n`)
  const service = await startTestService(components)
  const { agentId, key } = await registerAgent(service.client)
  for (const probability of [0.1, 0.9]) {
    await service.client.post(
      `/agents/${agentId}/forecast`,
      { question_id: uuidOf(1, 2), probability },
      bearer(key),
    )
  }
  await service.stop()
  const store = new FaultStore(copyOf(prepared))
  await release(await componentsOver(store))
  const paths = store.calls.filter(({ operation }) => WRITES.has(operation)).map(({ path }) => path)
  clean = { writes: store.writes, kinds: kindsOf(paths), content: await publishedIn(store) }
})

beforeEach(() => {
  clock.set(NOW)
})

const componentsOver = (store: Store) => testComponents({ store, folder, clock })

/** What is on its way to the store. */
async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

/** Every object that readers of releases see, by its checksum. */
async function publishedIn(store: Store): Promise<Record<string, string>> {
  return { ...(await contentOf(store, 'releases/')), ...(await contentOf(store, 'snapshots/')) }
}

/** Stores that passed `checkAll`, by their content: most cuts end in the same one. */
const checked = new Set<string>()

/**
 * Every release derives again, every day has the snapshot of its first release, and nothing waits any more.
 */
async function checkAll(store: Store, context: string): Promise<number> {
  const components = await componentsOver(store)
  const last = await currentRelease(store)
  const firstOfDay = new Map<string, number>()
  const content = JSON.stringify(await contentOf(store))
  for (let number = 1; number <= last; number++) {
    const day = (await readManifest(store, number))!.as_of.slice(0, 10)
    if (!firstOfDay.has(day)) firstOfDay.set(day, number)
    if (checked.has(content)) continue
    using database = await components.openDatabase()
    const report = await auditRelease({ ...components, database, secrets: [SECRET] }, number)
    expect(report.faults, `${context}: release ${number}`).toEqual([])
    expect(report.signatures.valid, context).toBeGreaterThan(0)
  }
  expect(await snapshotDates(store), context).toEqual([...firstOfDay.keys()])
  for (const [day, number] of firstOfDay) {
    expect((await readSnapshotManifest(store, day))?.release, context).toBe(number)
  }
  expect(Object.keys(await contentOf(store, 'inbox/')), context).toEqual([])
  checked.add(content)
  return last
}

describe('a release that is cut off', () => {
  test('has written into every part of the store', () => {
    expect(clean.kinds).toEqual([
      'inbox',
      'intake',
      'offers',
      'releases agent',
      'releases categories',
      'releases entities',
      'releases forecaster',
      'releases forecasts.tree',
      'releases leaderboard',
      'releases manifest.json',
      'releases method',
      'releases plan.json',
      'releases public',
      'releases references',
      'releases row-groups',
      'releases scores',
      'snapshots agent',
      'snapshots forecaster',
      'snapshots manifest.json',
      'tables',
    ])
    expect(Object.keys(clean.content)).toContain(`snapshots/${TODAY}/manifest.json`)
  })

  /**
   * What cuts left and a release finished, by its content: a write that failed leaves what the one before it
   * persisted.
   */
  const finished = new Set<string>()

  test.for(FAULTS)('at any write that %s is finished by the next to the same bytes', async (fault) => {
    for (let at = 1; at <= clean.writes; at++) {
      const context = `${fault} at ${at}`
      const inner = copyOf(prepared)
      const broken = new FaultStore(inner, { at, fault, crash: true })
      const components = await componentsOver(broken)
      await expect(release(components), context).rejects.toMatchObject({ kind: 'unavailable' })
      expect(await filesIn(components.directory), context).toEqual([])
      // Whatever was published by then stands, and stands whole.
      if ((await currentRelease(inner)) === 2) expect(await readManifest(inner, 2), context).toBeDefined()
      const left = JSON.stringify(await contentOf(inner))
      if (finished.has(left)) continue
      const result = await release(await componentsOver(inner), { ifChanged: true })
      expect(result.release, context).toBe(2)
      expect(await checkAll(inner, context), context).toBe(2)
      expect(await publishedIn(inner), context).toEqual(clean.content)
      finished.add(left)
    }
  })

  test('again and again, anywhere, is finished in the end', async () => {
    const cut = fc.record({
      at: fc.integer({ min: 1, max: 25 }),
      fault: fc.constantFrom<Fault>(...FAULTS),
      crash: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 4 }), async (cuts) => {
        const inner = copyOf(prepared)
        for (const settings of cuts) {
          await release(await componentsOver(new FaultStore(inner, settings)), { ifChanged: true }).catch(
            () => undefined,
          )
        }
        await release(await componentsOver(inner), { ifChanged: true })
        expect(await checkAll(inner, JSON.stringify(cuts))).toBe(2)
        expect(await publishedIn(inner)).toEqual(clean.content)
      }),
      { numRuns: 6, endOnFailure: true },
    )
  })

  test.for(FAULTS)(
    'at any write of its snapshot that %s is completed by later software to the same bytes',
    async (fault) => {
      const copies = Object.entries(clean.content).filter(([path]) => path.startsWith(`snapshots/${TODAY}/`))
      expect(copies).toHaveLength(3)
      for (let at = clean.writes - 2; at <= clean.writes; at++) {
        const inner = copyOf(prepared)
        const broken = new FaultStore(inner, { at, fault, crash: true })
        await expect(release(await componentsOver(broken))).rejects.toMatchObject({ kind: 'unavailable' })
        expect(await currentRelease(inner)).toBe(2)
        // The later software is cut off as well, at each of its copies, before it comes through.
        for (let second = 1; second <= 4; second++) {
          const context = `${fault} at ${at}, then at ${second}`
          const store = copyOf(inner)
          const options = { folder, clock: new Clock('2026-03-02T12:00:00.000Z') }
          await laterRelease({
            ...options,
            store: new FaultStore(store, { at: second, fault, crash: true }),
          }).catch(() => undefined)
          const result = await laterRelease({ ...options, store }, { ifChanged: true })
          expect(result, context).toMatchObject({ release: 3 })
          const content = await publishedIn(store)
          for (const [path, sha256] of copies) expect(content[path], `${context}: ${path}`).toBe(sha256)
          // The software of the release finds it whole.
          const components = await componentsOver(store)
          using database = await components.openDatabase()
          const report = await auditRelease({ ...components, database, secrets: [SECRET] }, 2)
          expect(report, context).toMatchObject({ derived: true, snapshot_compared: true, faults: [] })
        }
      }
    },
  )

  test('before its snapshot on one day has it written on the next', async () => {
    const inner = copyOf(prepared)
    const writes = new FaultStore(copyOf(prepared))
    await release(await componentsOver(writes))
    const first = writes.calls.filter(({ operation }) => ['put', 'putIfAbsent', 'delete'].includes(operation))
    const at = 1 + first.findIndex(({ path }) => path.startsWith(`snapshots/${TODAY}/`))
    await release(await componentsOver(new FaultStore(inner, { at, fault: 'failed', crash: true }))).catch(
      () => undefined,
    )
    expect(await currentRelease(inner)).toBe(2)
    expect(await snapshotDates(inner)).toEqual([YESTERDAY])
    clock.set('2026-03-02T12:00:00.000Z')
    await release(await componentsOver(inner))
    expect(await snapshotDates(inner)).toEqual([YESTERDAY, TODAY, '2026-03-02'])
    expect(await checkAll(inner, 'next day')).toBe(3)
  })
})

describe('releases at once', () => {
  /** Stores over one, whose runs all wait for each other before they write what `pattern` names. */
  function meetingAt(inner: Store, pattern: RegExp, runs: number): FaultStore[] {
    let arrived = 0
    const all = Promise.withResolvers<void>()
    return Array.from({ length: runs }, () => {
      let waited = false
      return new FaultStore(inner, {
        before: async ({ operation, path }) => {
          if (waited || operation !== 'putIfAbsent' || !pattern.test(path)) return
          waited = true
          arrived += 1
          if (arrived === runs) all.resolve()
          await all.promise
        },
      })
    })
  }

  const made = (results: ReleaseResult[]) =>
    results.filter((result) => result.made).map(({ release: number }) => number)
  const lost = (results: ReleaseResult[]) => results.filter((result) => !result.made)

  test.for([2, 3])(
    '%d of them that meet before the manifest publish it once, and the others say that they lost',
    async (runs) => {
      const inner = copyOf(prepared)
      const stores = meetingAt(inner, /^releases\/00000002\/manifest\.json$/, runs)
      const results = await Promise.all(stores.map(async (store) => release(await componentsOver(store))))
      expect(new Set(made(results)).size).toBe(made(results).length)
      expect(made(results).length).toBeGreaterThanOrEqual(1)
      for (const result of lost(results)) expect(result).toMatchObject({ reason: 'lost' })
      // Who finished another's plan goes on to make its own release; nobody else makes one.
      expect(await checkAll(inner, `${runs} runs`)).toBeLessThanOrEqual(1 + runs)
      const content = await publishedIn(inner)
      for (const [key, sha256] of Object.entries(clean.content)) expect(content[key], key).toBe(sha256)
    },
  )

  test('that meet before the plan follow the one that was written first', async () => {
    const inner = copyOf(prepared)
    const stores = meetingAt(inner, /^releases\/00000002\/plan\.json$/, 2)
    const outcomes = await Promise.allSettled(
      stores.map(async (store, index) =>
        // Each would release as of another instant.
        release(await componentsOver(store), { asOf: new Date(Date.parse(NOW) - index * 1000) }),
      ),
    )
    const results = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(new Set(made(results)).size).toBe(made(results).length)
    // The earlier instant is refused if the later one's plan was written first, and the later one never.
    expect(outcomes[0]).toMatchObject({ status: 'fulfilled' })
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ kind: 'conflict' })
    }
    await checkAll(inner, 'two plans')
  })

  test('that meet at the intake of the inbox take in each row once', async () => {
    const inner = copyOf(prepared)
    const stores = meetingAt(inner, /^intake\/forecasts\//, 2)
    const results = await Promise.all(stores.map(async (store) => release(await componentsOver(store))))
    expect(made(results).length).toBeGreaterThanOrEqual(1)
    await checkAll(inner, 'two intakes')
    expect((await readManifest(inner, 2))?.tables).toMatchObject({ forecasts: 3, agents: 1 })
  })
})
