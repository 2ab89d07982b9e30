// Releases over a store that does not show what is there: nothing is made of it, and nothing published is
// replaced.
import { beforeAll, describe, expect, test } from 'vitest'
import { CurrentRelease } from '../../api/published/current-release.ts'
import { ReleaseFiles } from '../../api/published/release-files.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import { deltaLogPath, intakePath, manifestPath } from '../../pipeline/store/paths.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { LyingStore } from '../support/faults/lying-store.ts'
import { Clock, importRows, release, testComponents } from '../support/http/service.ts'
import { contentOf } from '../support/store-content.ts'
import { NOW, QUESTIONS_CSV, RESOLUTIONS_CSV, copyReleasedWorld } from '../support/worlds/world.ts'

const LATER = '2026-03-01T13:00:00.000Z'
let released: MemoryStore
beforeAll(async () => {
  released = new MemoryStore()
  await copyReleasedWorld(released)
})

async function lyingWorld() {
  const store = new LyingStore()
  for (const [path, bytes] of released.objects) store.objects.set(path, bytes)
  return { store, components: await testComponents({ store, clock: new Clock(LATER) }) }
}

/** A table looks as if its first commit were its last. */
function hideRows(store: LyingStore, table: ScoredTable): void {
  const hidden = [...store.objects.keys()].filter(
    (path) => path > deltaLogPath(table, 0) && path.startsWith(`tables/${table}/_delta_log/`),
  )
  expect(hidden).not.toEqual([])
  for (const path of [...hidden, intakePath(table, 1), intakePath(table, 2)]) store.hidden.add(path)
  const listed = new MemoryStore()
  for (const [path, bytes] of store.objects) if (!hidden.includes(path)) listed.objects.set(path, bytes)
  store.listFrom(listed)
}

describe('over a store that does not show the rows of a table', () => {
  test.for(['questions', 'resolutions', 'forecasts', 'agents', 'forecasters'] as const)(
    'no release is made that has lost the %s',
    { tags: ['slow'] },
    async (table) => {
      const { store, components } = await lyingWorld()
      const before = await contentOf(store, 'releases/')
      hideRows(store, table)
      await expect(release(components)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(
          new RegExp(
            `^the store shows table ${table} at version 0, although a release was made from version`,
          ),
        ) as string,
      })
      store.tellTheTruth()
      expect(await contentOf(store, 'releases/')).toEqual(before)
      expect(await release(components)).toMatchObject({ made: true, release: 2 })
    },
  )

  test('nothing is imported, so that no row is added that is known', { tags: ['slow'] }, async () => {
    const { store, components } = await lyingWorld()
    hideRows(store, 'resolutions')
    await expect(importRows(components, 'resolutions', RESOLUTIONS_CSV)).rejects.toMatchObject({
      kind: 'unavailable',
    })
    store.tellTheTruth()
    expect(await importRows(components, 'questions', QUESTIONS_CSV)).toMatchObject({ added: 0 })
    expect(await importRows(components, 'resolutions', RESOLUTIONS_CSV)).toMatchObject({ added: 0 })
  })
})

describe('over a store that does not show the manifest of a release', () => {
  test('the release is not made anew, nor its plan taken over', { tags: ['slow'] }, async () => {
    const { store, components } = await lyingWorld()
    const before = await contentOf(store)
    store.hidden.add(manifestPath(1))
    expect(await release(components)).toEqual({ made: false, release: 1, reason: 'lost' })
    store.tellTheTruth()
    expect(await contentOf(store)).toEqual(before)
    const later = { ...components, service: '5.0.0' }
    const range = store.range.bind(store)
    store.range = async (path, offset, length) =>
      path === manifestPath(1) ? undefined : range(path, offset, length)
    await expect(release(later)).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the store has not shown release 1 before; run again',
    })
    expect(await contentOf(store)).toEqual(before)
  })

  test('no release is made as if it were the first', { tags: ['slow'] }, async () => {
    const { store, components } = await lyingWorld()
    const before = await contentOf(store)
    store.hiddenFromGet.add(manifestPath(1))
    await expect(release(components)).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the store shows that there is a manifest of release 1, and does not show it; run again',
    })
    store.tellTheTruth()
    expect(await contentOf(store)).toEqual(before)
    expect(await release(components)).toMatchObject({ made: true, release: 2 })
  })

  test('a node serves the release that it knows', { tags: ['slow'] }, async () => {
    const { store, components } = await lyingWorld()
    const files = new ReleaseFiles(components, 1_000_000)
    const current = new CurrentRelease({ ...components, files, sign: () => undefined })
    await current.refresh()
    await release(components)
    store.hiddenFromGet.add(manifestPath(2))
    await current.refresh()
    expect(current.manifest).toMatchObject({ release: 1, as_of: NOW })
    store.tellTheTruth()
    await current.refresh()
    expect(current.manifest).toMatchObject({ release: 2, as_of: LATER })
  })
})
