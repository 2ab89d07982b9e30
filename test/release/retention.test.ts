// Old releases without their files: which are thinned, at what cost, what stays, and what a crash or a rival
// leaves.
import { beforeAll, describe, expect, test } from 'vitest'
import { runRelease } from '../../jobs/release/release.ts'
import { runRetention } from '../../jobs/release/retention.ts'
import { takeStep } from '../../jobs/sandbox/step.ts'
import { MOST_AT_ONCE, WHOLE_RELEASES, type Deleted, thinReleases } from '../../pipeline/release/retention.ts'
import { isThinned, readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import {
  isPublished,
  manifestPath,
  planPath,
  publicPrefix,
  releasePrefix,
  snapshotPrefix,
  thinnedPath,
} from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { after, sandboxOver, seededStore } from '../support/worlds/sandbox.ts'
import { changeManifest } from '../support/worlds/forged-release.ts'
import { Clock, release, testComponents, testService } from '../support/http/service.ts'
import { contentOf, copyOf, recordIn, setRecord } from '../support/store-content.ts'
import { NOW, copyReleasedWorld, forecasterId } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const TREE = 'forecasts.tree'

/** With one release, for tests to have as many of as they like. */
let released: MemoryStore
beforeAll(async () => {
  released = await seededStore(folder)
  await release(await sandboxOver(released, folder))
})

/** A store with `count` releases of one day, which all have the files of the first, and name its public tables. */
function storeWith(count: number): MemoryStore {
  const store = copyOf(released)
  const manifest = recordIn(released, manifestPath(1))
  const plan = { ...recordIn(released, planPath(1)), brings_snapshot: false }
  for (const [key, bytes] of released.objects) {
    const outlives = key.startsWith(publicPrefix(1))
    if (!key.startsWith(releasePrefix(1)) || outlives) continue
    for (let number = 2; number <= count; number++) {
      store.objects.set(key.replace(releasePrefix(1), releasePrefix(number)), bytes)
    }
  }
  for (let number = 2; number <= count; number++) {
    setRecord(store, manifestPath(number), { ...manifest, release: number })
    setRecord(store, planPath(number), plan)
  }
  for (let number = 1; number <= count; number++) store.objects.set(releasePrefix(number) + TREE, bytes(TREE))
  return store
}

const bytes = (text: string) => new TextEncoder().encode(text)

/** As housekeeping in the sandbox does it, or an operator with `keep`. */
function thin(store: Store, current: number, keep = WHOLE_RELEASES, most = MOST_AT_ONCE): Promise<Deleted> {
  const { now } = new Clock(NOW)
  return thinReleases({ store, now, log: () => undefined }, current, keep, most)
}

/**
 * The releases from 1 to `count` that have lost every file of their manifest that may be thinned. Fails for
 * one that has lost some, or one that has lost what must stay, or that has lost anything without a record.
 */
async function thinnedOf(store: MemoryStore, count: number): Promise<number[]> {
  const thinned: number[] = []
  for (let number = 1; number <= count; number++) {
    const manifest = await readManifest(store, number)
    const isPresent = (path: string) => store.objects.has(releasePrefix(number) + path)
    const paths = manifest!.files.map(({ path }) => path)
    const present = paths.filter(isPublished).map(isPresent)
    expect(paths.every((path) => isPublished(path) || isPresent(path))).toBe(true)
    expect(new Set(present).size, `release ${number}`).toBe(1)
    expect(store.objects.has(planPath(number))).toBe(true)
    if (!present[0]) thinned.push(number)
    expect(await isThinned(store, number), `release ${number}`).toBe(!present[0])
  }
  return thinned
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe('thinning releases', () => {
  test('leaves the last hundred whole', async () => {
    const store = storeWith(WHOLE_RELEASES)
    const watched = new FaultStore(store)
    for (const count of [0, 1, 99, 100]) {
      expect(await thin(watched, count)).toEqual({ releases: 0, files: 0, bytes: 0 })
    }
    expect(watched.calls).toEqual([])
  })

  test(
    'takes the files of the one that has fallen out, at the same small cost each time',
    { tags: ['slow'] },
    async () => {
      const store = storeWith(130)
      const { files } = (await readManifest(store, 1))!
      const bytesEach = files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
      for (let current = 101; current <= 130; current++) {
        const watched = new FaultStore(store)
        expect(await thin(watched, current)).toEqual({ releases: 1, files: files.length, bytes: bytesEach })
        expect(watched.count('delete')).toBe(files.length)
        expect(watched.calls.length).toBeLessThanOrEqual(files.length + 20)
        expect(await thin(store, current)).toEqual({ releases: 0, files: 0, bytes: 0 })
      }
      expect(await thinnedOf(store, 130)).toEqual(upTo(30))
    },
  )

  test(
    'catches up with what was left, a part each time and the oldest first',
    { tags: ['slow'] },
    async () => {
      const store = storeWith(150)
      for (const [current, thinned] of [
        [148, 20],
        [149, 40],
        [150, 50],
      ] as const) {
        await thin(store, current)
        expect(await thinnedOf(store, 150)).toEqual(upTo(thinned))
      }
      expect(await thin(store, 150)).toMatchObject({ releases: 0 })
    },
  )

  test.for([1, 2, 50, 1_000])('keeps the last %d, whatever was thinned before', async (keep) => {
    const store = storeWith(60)
    expect(await thin(store, 40, 35, 1_000)).toMatchObject({ releases: 5 })
    const last = Math.max(5, 60 - keep)
    expect(await thin(store, 60, keep, 1_000)).toMatchObject({ releases: last - 5 })
    expect(await thinnedOf(store, 60)).toEqual(upTo(last))
    expect(await thin(store, 60, keep, 1_000)).toMatchObject({ releases: 0 })
  })

  test('touches nothing but what was published about entities', async () => {
    const store = storeWith(4)
    const before = await contentOf(store)
    await thin(store, 4, 1)
    const stays = (path: string) =>
      !/^releases\/0000000[123]\/(agent|forecaster|leaderboard|categories|references|entities|scores|row-groups|method)\//.test(
        path,
      )
    const records = [1, 2, 3].map((number) => thinnedPath(number))
    const now = await contentOf(store)
    expect(Object.keys(now).sort()).toEqual([...Object.keys(before).filter(stays), ...records].sort())
    expect(before).toMatchObject(Object.fromEntries(Object.entries(now).filter(([path]) => path in before)))
    for (const number of [1, 2, 3, 4]) expect(Object.keys(now)).toContain(releasePrefix(number) + TREE)
  })

  test('keeps a public file for as long as a release that is whole names it', async () => {
    const store = storeWith(6)
    const path = 'public/a.parquet'
    const files = (made: readonly number[]) =>
      made.map((number) => ({
        release: number,
        path,
        rows: 1,
        size_bytes: 1,
        sha256: '0'.repeat(64),
      }))
    const named = [[1], [1, 2], [1, 2], [1, 2, 4], [5], [5, 6]]
    for (const [index, made] of named.entries()) {
      const number = index + 1
      store.objects.set(releasePrefix(number) + path, bytes('rows'))
      changeManifest(store, number, () => ({ public: files(made) }))
    }
    const left = () => upTo(6).filter((number) => store.objects.has(releasePrefix(number) + path))
    // Of release 3 no manifest names any, as if another make had planned it first.
    for (const [keep, expected] of [
      [4, [1, 2, 3, 4, 5, 6]],
      [3, [1, 2, 4, 5, 6]],
      [2, [5, 6]],
      [1, [5, 6]],
    ] as const) {
      await thin(store, 6, keep)
      expect(left(), `the last ${keep}`).toEqual(expected)
      await thin(store, 6, keep)
      expect(left(), `the last ${keep}, again`).toEqual(expected)
    }
  })

  test.for(FAULTS)(
    'cut off at any write that %s, is made up for by the next',
    { tags: ['slow'] },
    async (fault) => {
      const files = (await readManifest(released, 1))!.files.length
      for (let at = 1; at <= 3 * (files + 1); at++) {
        const store = storeWith(103)
        const broken = new FaultStore(store, { at, fault, crash: true })
        await expect(thin(broken, 103)).rejects.toMatchObject({ kind: 'unavailable' })
        for (const number of upTo(103)) {
          const present = await contentOf(store, releasePrefix(number)) // what is left of it
          const isWhole = Object.keys(present).length >= files + 3
          if (!isWhole) expect(await isThinned(store, number), `${fault} at ${at}: ${number}`).toBe(true)
        }
        await thin(store, 103)
        expect(await thinnedOf(store, 103), `${fault} at ${at}`).toEqual(upTo(3))
      }
    },
  )

  test('several at once, with other numbers to keep, do the same as one after the other', async () => {
    const store = storeWith(105)
    await Promise.all([thin(store, 104), thin(store, 105, 90), thin(store, 105), thin(store, 105, 90)])
    expect(await thinnedOf(store, 105)).toEqual(upTo(15))
  })

  test.for([
    ['manifest', manifestPath(2)],
    ['plan', planPath(2)],
  ] as const)('stops at a release that has lost its %s', async ([what, path]) => {
    const store = storeWith(102)
    store.objects.delete(path)
    await expect(thin(store, 102)).rejects.toMatchObject({
      kind: 'corrupt',
      message: `release 2 has lost its ${what}`,
    })
    expect(await isThinned(store, 1)).toBe(true)
    expect(await isThinned(store, 2)).toBe(false)
  })
})

describe('before the shards go that the snapshot of a day is copied from', () => {
  const SNAPSHOT = snapshotPrefix(NOW.slice(0, 10))

  test('what is missing of the snapshot is copied, to the same bytes', async () => {
    const paths = [...released.objects.keys()].filter((path) => path.startsWith(SNAPSHOT))
    expect(paths).toHaveLength(2)
    for (const missing of [...paths.map((path) => [path]), paths]) {
      const store = storeWith(2)
      for (const path of missing) store.objects.delete(path)
      await thin(store, 2, 1)
      expect(await isThinned(store, 1)).toBe(true)
      for (const path of paths) expect(store.objects.get(path), path).toEqual(released.objects.get(path))
    }
  })

  test('a damaged copy stops it, since the shard is needed to mend it', async () => {
    for (const path of [...released.objects.keys()].filter((name) => name.startsWith(SNAPSHOT))) {
      const store = storeWith(2)
      const intact = store.objects.get(path)!
      store.objects.set(path, intact.with(0, intact[0]! ^ 1))
      await expect(thin(store, 2, 1), path).rejects.toMatchObject({ kind: 'corrupt' })
      expect(await thinnedOf(store, 2)).toEqual([])
    }
  })
})

describe('a release', () => {
  test(
    'of the sandbox thins the one that it pushes out of the last hundred',
    { tags: ['slow'] },
    async () => {
      const store = storeWith(WHOLE_RELEASES)
      const components = await sandboxOver(store, folder, new Clock(after(6)))
      await takeStep(components)
      expect((await runRelease(components, { ifChanged: true })).json).toMatchObject({ release: 101 })
      expect(await thinnedOf(store, 101)).toEqual([1])
      await expect(release(components, { ifChanged: true })).resolves.toMatchObject({ reason: 'unchanged' })
    },
  )

  test('of the sandbox is made also where thinning fails', { tags: ['slow'] }, async () => {
    const store = storeWith(WHOLE_RELEASES)
    const unwilling = new FaultStore(store, {
      before: ({ operation, path }) => {
        if (operation === 'putIfAbsent' && path.endsWith('thinned.json')) throw new Error('refused')
      },
    })
    const components = await sandboxOver(unwilling, folder, new Clock(after(6)))
    expect((await runRelease(components, {})).json).toMatchObject({ made: true, release: 101 })
    expect(await thinnedOf(store, 101)).toEqual([])
  })

  test(
    'that completes a snapshot comes through while its shards are thinned',
    { tags: ['slow'] },
    async () => {
      const store = new MemoryStore()
      const clock = new Clock(NOW)
      await copyReleasedWorld(store)
      await release(await testComponents({ store, folder, clock }))
      const snapshot = await contentOf(store, 'snapshots/')
      store.objects.delete(`${snapshotPrefix(NOW.slice(0, 10))}manifest.json`)
      let rival: Promise<unknown> | undefined
      const watched = new FaultStore(store, {
        before: async ({ operation, path }) => {
          if (operation !== 'get' || !path.startsWith(`${releasePrefix(1)}forecaster/`)) return
          rival ??= thin(store, 2, 1)
          await rival
        },
      })
      expect(await release(await testComponents({ store: watched, folder, clock }))).toMatchObject({
        release: 3,
      })
      expect(rival).toBeDefined()
      expect(await thinnedOf(store, 3)).toEqual([1])
      expect(await contentOf(store, 'snapshots/')).toEqual(snapshot)
    },
  )

  test(
    'of a day whose snapshot was lost after its shards were thinned is made without it',
    { tags: ['slow'] },
    async () => {
      const store = new MemoryStore()
      const clock = new Clock(NOW)
      await copyReleasedWorld(store)
      const components = await testComponents({ store, folder, clock })
      await release(components)
      await thin(store, 2, 1)
      store.objects.delete(`${snapshotPrefix(NOW.slice(0, 10))}manifest.json`)
      expect(await release(components)).toMatchObject({ made: true, release: 3 })
    },
  )

  test('of production thins nothing', { tags: ['slow'] }, async () => {
    const components = await testComponents({ store: new MemoryStore(), folder, clock: new Clock(NOW) })
    await copyReleasedWorld(components.store)
    expect((await runRelease(components, {})).json).toMatchObject({ made: true, release: 2 })
    expect(await thinnedOf(components.store as MemoryStore, 2)).toEqual([])
  })
})

describe('a node that still serves a thinned release', () => {
  test('looks for the newer one and answers from that', { tags: ['slow'] }, async () => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    const components = await testComponents({ store, folder, settings: { REFRESH_MS: '60000' } })
    const { client } = await testService(components)
    const path = `/forecaster/${forecasterId(1)}`
    await release(components)
    await thin(store, 2, 1)
    const answers = await Promise.all(
      ['verification', 'metrics', 'rankings', 'verification'].map((name) => client.get(`${path}/${name}`)),
    )
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(answer.json()).toMatchObject({ release: 2, user_id: forecasterId(1) })
    }
    expect((await client.get(`/snapshots/forecaster/${forecasterId(1)}`)).status).toBe(200)
  })

  test('says that the release was thinned if it cannot find the newer one', { tags: ['slow'] }, async () => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    const hidden = new FaultStore(store)
    const range = hidden.range.bind(hidden)
    hidden.range = (path, offset, length) =>
      path === manifestPath(2) ? Promise.resolve(undefined) : range(path, offset, length)
    const components = await testComponents({ store: hidden, folder, settings: { REFRESH_MS: '60000' } })
    const { client } = await testService(components)
    await release(await testComponents({ store, folder }))
    await thin(store, 2, 1)
    const { status, text } = await client.get(`/forecaster/${forecasterId(1)}/verification`)
    expect(status).toBe(404)
    expect(text).toContain(`release 1 was thinned at ${NOW}`)
  })
})

describe('fvs retention', () => {
  test('says what went, and what stays', async () => {
    const store = storeWith(5)
    const components = await sandboxOver(store, folder)
    const files = (await readManifest(store, 1))!.files
    const size = 3 * files.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
    const { ok, json, text } = await runRetention(components, 2)
    expect(ok).toBe(true)
    expect(json).toEqual({ current: 5, keep: 2, releases: 3, files: 3 * files.length, bytes: size })
    expect(text).toBe(
      `thinned 3 releases: ${3 * files.length} files with ${size} bytes are gone; nothing of the last 2 releases was touched`,
    )
    expect((await runRetention(components, 2)).text).toBe(
      'there was nothing to thin: the current release is 5, and nothing of the last 2 releases is touched',
    )
    expect((await runRetention(components, 1)).text).toMatch(
      /^thinned 1 release: .* nothing of the current release was/,
    )
  })

  test('refuses the store of the other environment and finds nothing in an empty one', async () => {
    const production = await testComponents({ store: storeWith(3), folder })
    await expect(runRetention(production, 1)).rejects.toMatchObject({ kind: 'conflict' })
    const empty = await testComponents({ store: new MemoryStore(), folder })
    expect((await runRetention(empty, 1)).json).toMatchObject({ current: 0, releases: 0 })
  })
})
