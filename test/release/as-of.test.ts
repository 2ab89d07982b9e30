// `as_of` never goes back: neither by a request, nor by a clock, nor behind a release that has only been
// begun.
import { beforeAll, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { manifestPath } from '../../pipeline/store/paths.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, release, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { NOW, importWorld } from '../support/worlds/world.ts'
import { sendBroken } from '../support/tables.ts'

const LATER = '2026-03-05T00:00:00.000Z'
const EARLIER = '2026-03-01T11:59:59.999Z'

const folder = await suiteFolder()
/** Released as of NOW, with something in the inbox that a release would take in. */
const released = new MemoryStore()
/** The same, planned as of `LATER` and cut off. */
const begun = new MemoryStore()

const componentsOver = (store: MemoryStore | FaultStore, at: string) =>
  testComponents({ store, folder, clock: new Clock(at) })

beforeAll(async () => {
  const components = await componentsOver(released, NOW)
  await importWorld(components)
  await release(components)
  const waiting = await sendBroken(released, 'forecasters')
  for (const [path, bytes] of released.objects) begun.objects.set(path, bytes)
  await begun.delete(waiting)
  const broken = new FaultStore(begun, { at: 2, fault: 'failed', crash: true })
  await release(await componentsOver(broken, LATER)).catch(() => undefined)
})

const asOf = (at: string) => ({ asOf: new Date(at) })

describe('as_of before that of the last release', () => {
  test.for([
    [
      'by --as-of',
      LATER,
      asOf(EARLIER),
      `--as-of ${EARLIER} lies before ${NOW}, the as_of of release 1; it never goes back`,
    ],
    [
      'by the clock',
      EARLIER,
      {},
      `the clock says ${EARLIER}, which lies before ${NOW}, the as_of of release 1; it never goes back`,
    ],
    ['by the clock of a scheduled run', EARLIER, { ifChanged: true }, 'so set the clock right'],
  ] as const)('%s is refused, and nothing is written', async ([, now, request, message]) => {
    const watched = new FaultStore(copyOf(released))
    await expect(release(await componentsOver(watched, now), request)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining(message) as string,
    })
    expect(watched.writes).toBe(0)
  })

  test.for([
    [
      'by --as-of',
      LATER,
      asOf(NOW),
      `--as-of ${NOW} lies before ${LATER}, the as_of of release 2, which has been begun;`,
    ],
    [
      'by the clock',
      NOW,
      {},
      `the clock says ${NOW}, which lies before ${LATER}, the as_of of release 2, which has been begun;`,
    ],
  ] as const)('%s is refused where it has only been begun', async ([, now, request, message]) => {
    const store = copyOf(begun)
    const before = await contentOf(store)
    await expect(release(await componentsOver(store, now), request)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining(message) as string,
    })
    expect(await contentOf(store)).toEqual(before)
  })
})

describe('as_of that is not before it', () => {
  test('may be the same, and any later one up to now', { tags: ['slow'] }, async () => {
    const store = copyOf(begun)
    await store.delete('releases/00000002/plan.json')
    const components = await componentsOver(store, LATER)
    for (const [index, at] of [NOW, NOW, '2026-03-03T00:00:00.000Z', LATER].entries()) {
      expect(await release(components, asOf(at))).toMatchObject({ made: true, release: index + 2, asOf: at })
    }
    expect(
      Object.keys(await contentOf(store, 'snapshots/')).filter((path) => path.endsWith('/manifest.json')),
    ).toEqual(['2026-03-01', '2026-03-03', '2026-03-05'].map((day) => `snapshots/${day}/manifest.json`))
  })

  test('finishes what has been begun first', { tags: ['slow'] }, async () => {
    const store = copyOf(begun)
    expect(await release(await componentsOver(store, LATER), asOf(LATER))).toMatchObject({ release: 3 })
    expect(store.objects.has(manifestPath(2))).toBe(true)
  })
})

describe('as_of ahead of the clock of the store', () => {
  const componentsAhead = async (store: MemoryStore | FaultStore, clockAheadMs: number | undefined) => ({
    ...(await componentsOver(store, LATER)),
    clockAheadMs,
  })

  test.for([
    ['by the clock', {}],
    ['by the clock of a scheduled run', { ifChanged: true }],
    ['by --as-of', asOf(LATER)],
  ] as const)('%s is refused, and nothing is written', async ([, request]) => {
    const watched = new FaultStore(copyOf(released))
    await expect(release(await componentsAhead(watched, 3_600_000), request)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining(
        `the release would be as of ${LATER}, and the store has just dated an object 2026-03-04T23:00:00.000Z`,
      ) as string,
    })
    expect(watched.writes).toBe(0)
  })

  test.for([
    ['by less than a minute', 60_000, {}],
    ['not at all: the clock is behind', -3_600_000, {}],
    ['where the store does not say what time it is', undefined, {}],
    ['where --as-of is not', 3_600_000, asOf('2026-03-04T23:00:00.000Z')],
  ] as const)('%s is taken', { tags: ['slow'] }, async ([, ahead, request]) => {
    const store = copyOf(released)
    for (const path of store.objects.keys()) if (path.startsWith('inbox/')) store.objects.delete(path)
    expect(await release(await componentsAhead(store, ahead), request)).toMatchObject({
      made: true,
      release: 2,
    })
  })
})
