// Old releases without their files: which are thinned out, at what cost, and after what a crash or a gap left.
import { beforeAll, describe, expect, test } from 'vitest'
import { runRelease } from '../../jobs/release.ts'
import { takeStep } from '../../jobs/simulation/step.ts'
import { WHOLE_RELEASES, deleteOldFiles } from '../../pipeline/release/retention.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { FAULTS, FaultStore } from '../support/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { START, after, sandboxOver, seededStore } from '../support/sandbox.ts'
import { Clock, importRows, release, testComponents } from '../support/service.ts'
import { copyOf } from '../support/store-content.ts'
import { forecasterId } from '../support/world.ts'

const folder = await suiteFolder()

/** With one release, for tests to have as many of as they like. */
let released: MemoryStore
beforeAll(async () => {
  released = await seededStore(folder)
  await release(await sandboxOver(released, folder))
})

/** A store whose releases 1 to `count` all have the files of the first. */
function storeWith(count: number): MemoryStore {
  const store = copyOf(released)
  for (const [key, bytes] of released.objects) {
    if (!key.startsWith(releasePrefix(1))) continue
    for (let number = 2; number <= count; number++) {
      store.objects.set(key.replace(releasePrefix(1), releasePrefix(number)), bytes)
    }
  }
  return store
}

/** The releases from 1 to `count` that have lost every file of their manifest; fails for one that has lost some. */
async function thinnedOf(store: MemoryStore, count: number): Promise<number[]> {
  const thinned: number[] = []
  for (let number = 1; number <= count; number++) {
    const manifest = await readManifest(store, number)
    const present = manifest!.files.map(({ path }) => store.objects.has(releasePrefix(number) + path))
    expect(new Set(present).size, `release ${number}`).toBe(1)
    expect(store.objects.has(`${releasePrefix(number)}plan.json`)).toBe(true)
    if (!present[0]) thinned.push(number)
  }
  return thinned
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe('thinning out releases', () => {
  test('leaves the last hundred whole', async () => {
    const store = storeWith(WHOLE_RELEASES)
    const watched = new FaultStore(store)
    for (const count of [0, 1, 99, 100]) expect(await deleteOldFiles(watched, count)).toBe(0)
    expect(watched.calls).toEqual([])
  })

  test('takes the files of the one that has fallen out, at the same small cost each time', async () => {
    const store = storeWith(130)
    const files = (await readManifest(store, 1))!.files.length
    for (let current = 101; current <= 130; current++) {
      const watched = new FaultStore(store)
      expect(await deleteOldFiles(watched, current)).toBe(1)
      expect(watched.count('delete')).toBe(files)
      expect(watched.calls.length).toBeLessThanOrEqual(files + 7)
      expect(watched.count('list')).toBe(0)
      expect(await deleteOldFiles(store, current)).toBe(0)
    }
    expect(await thinnedOf(store, 130)).toEqual(upTo(30))
  })

  test('catches up with what was left, a part each time and the oldest first', async () => {
    const store = storeWith(150)
    for (const [current, thinned] of [
      [148, 20],
      [149, 40],
      [150, 50],
    ] as const) {
      await deleteOldFiles(store, current)
      expect(await thinnedOf(store, 150)).toEqual(upTo(thinned))
    }
    expect(await deleteOldFiles(store, 150)).toBe(0)
  })

  test.for(FAULTS)('cut off where a deletion %s, is made up for by the next', async (fault) => {
    for (let at = 1; at <= 9; at++) {
      const store = storeWith(103)
      const broken = new FaultStore(store, { at, fault, crash: true })
      await expect(deleteOldFiles(broken, 103)).rejects.toMatchObject({ kind: 'unavailable' })
      await deleteOldFiles(store, 103)
      expect(await thinnedOf(store, 103), `${fault} at ${at}`).toEqual(upTo(3))
    }
  })

  test('twice at once does the same as once', async () => {
    const store = storeWith(105)
    await Promise.all([deleteOldFiles(store, 104), deleteOldFiles(store, 105), deleteOldFiles(store, 105)])
    expect(await thinnedOf(store, 105)).toEqual(upTo(5))
  })

  test('names a release that has lost its manifest', async () => {
    const store = storeWith(102)
    store.objects.delete(`${releasePrefix(2)}manifest.json`)
    await expect(deleteOldFiles(store, 102)).rejects.toMatchObject({
      kind: 'corrupt',
      message: 'release 2 has lost its manifest',
    })
  })
})

describe('a release', () => {
  test('of the sandbox thins out the one that it pushes out of the last hundred', async () => {
    const store = storeWith(WHOLE_RELEASES)
    const components = await sandboxOver(store, folder, new Clock(after(6)))
    await takeStep(components)
    expect((await runRelease(components, { ifChanged: true })).json).toMatchObject({ release: 101 })
    expect(await thinnedOf(store, 101)).toEqual([1])
    await expect(release(components, { ifChanged: true })).resolves.toMatchObject({ reason: 'unchanged' })
  })

  test('of the sandbox is made also where thinning fails', async () => {
    const store = storeWith(WHOLE_RELEASES)
    const unwilling = new FaultStore(store, {
      before: ({ operation, path }) => {
        if (operation === 'delete' && path.startsWith('releases/')) throw new Error('refused')
      },
    })
    const components = await sandboxOver(unwilling, folder, new Clock(after(6)))
    expect((await runRelease(components, {})).json).toMatchObject({ made: true, release: 101 })
    expect(await thinnedOf(store, 101)).toEqual([])
  })

  test('of production thins out nothing', async () => {
    const clock = new Clock(START)
    const components = await testComponents({ store: new MemoryStore(), folder, clock })
    await importRows(components, 'forecasters', `user_id\n${forecasterId(0)}\n`)
    await release(components)
    const store = components.store as MemoryStore
    for (const [key, bytes] of new Map(store.objects)) {
      if (!key.startsWith(releasePrefix(1))) continue
      for (const number of upTo(WHOLE_RELEASES).slice(1)) {
        store.objects.set(key.replace(releasePrefix(1), releasePrefix(number)), bytes)
      }
    }
    clock.set(after(24 * 60))
    expect((await runRelease(components, {})).json).toMatchObject({ made: true, release: 101 })
    expect(await thinnedOf(store, 101)).toEqual([])
  })
})
