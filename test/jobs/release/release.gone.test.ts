// A newest release that is gone from a store whose log still has it: nothing takes its number, and the way
// back is said.
import { Readable } from 'node:stream'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { diagnose } from '../../../jobs/doctor/doctor.ts'
import { runPlan, runRelease } from '../../../jobs/release/release.ts'
import { runCommit } from '../../../jobs/release/stage.ts'
import { manifestPath, releasePrefix } from '../../../pipeline/store/paths.ts'
import type { MemoryStore } from '../../../pipeline/store/memory.ts'
import { suiteFolder } from '../../support/folder.ts'
import { Clock, testComponents } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { changeManifest } from '../../support/worlds/forged-release.ts'
import { auditedLog, loggedWorld } from '../../support/worlds/logged-world.ts'
import { LOG_SECRET } from '../../support/worlds/written-log.ts'

const LATER = '2026-03-02T14:00:00.000Z'
const folder = await suiteFolder()
let world: MemoryStore
let store: MemoryStore
beforeAll(async () => {
  world = (await loggedWorld(folder)).store
})
beforeEach(() => {
  store = copyOf(world)
})

const components = (settings = { LOG_SIGNING_KEY: LOG_SECRET }) =>
  testComponents({ store, folder, clock: new Clock(LATER), settings })

const inRelease = (number: number) =>
  [...store.objects.keys()].filter((path) => path.startsWith(releasePrefix(number)))

/** What is lost: a folder, or the manifest alone, as a bucket loses it that is put back in part. */
const LOST: [what: string, paths: () => string[], first: number][] = [
  ['the folder of the last one', () => inRelease(3), 3],
  ['the manifest of the last one', () => [manifestPath(3)], 3],
  ['the last two', () => [2, 3].flatMap(inRelease), 2],
  ['all of them', () => [1, 2, 3].flatMap(inRelease), 1],
]

describe.for(LOST)('where %s is gone', ([, paths, first]) => {
  test('no release is made, and doctor says FIX and how', { tags: ['slow'] }, async () => {
    const lost = paths()
    for (const path of lost) store.objects.delete(path)
    const before = [...store.objects.keys()]
    const gone = `${manifestPath(first)} is not in the store, and the public log has 3 releases`
    const refused = { kind: 'corrupt', message: expect.stringContaining(gone) as string }
    await expect(runRelease(await components(), {})).rejects.toMatchObject(refused)
    await expect(runRelease(await components(), { ifChanged: true })).rejects.toMatchObject(refused)
    await expect(runPlan(await components(), {})).rejects.toMatchObject(refused)
    // Without the key nothing would be logged, and the number is taken all the same.
    await expect(runRelease(await components({ LOG_SIGNING_KEY: '' }), {})).rejects.toMatchObject(refused)
    expect([...store.objects.keys()]).toEqual(before)
    const findings = (await diagnose(await components(), {})).filter(({ check }) => check === 'log')
    expect(findings).toEqual([
      {
        check: 'log',
        state: 'fault',
        detail: `the public log has 3 releases, and ${manifestPath(first)} is not in the store: no release is made until it is`,
        advice: expect.stringMatching(/^copy its folder back from a backup/) as string,
      },
    ])

    for (const path of lost) store.objects.set(path, world.objects.get(path)!)
    expect((await runRelease(await components(), {})).json).toMatchObject({ made: true, release: 4 })
    expect((await auditedLog({ store, folder })).faults).toEqual([])
  })
})

test('a stage that was planned before the loss is not committed after it', async () => {
  const planned = await runPlan(await components(), {})
  expect(planned.json).toMatchObject({ release: 4 })
  for (const path of inRelease(3)) store.objects.delete(path)
  store.objects.set(releasePrefix(3) + 'plan.json', world.objects.get(releasePrefix(3) + 'plan.json')!)
  const commit = { release: 3, tally: '0'.repeat(64), forecasts: 0 }
  await expect(runCommit(await components(), commit, Readable.from([]))).rejects.toMatchObject({
    kind: 'corrupt',
  })
})

test(
  'another release under the last number of the log is found before anything is appended',
  { tags: ['slow'] },
  async () => {
    changeManifest(store, 3, () => ({ pools: 9999 }))
    await expect(runRelease(await components(), {})).rejects.toThrow(
      /the log cannot be continued, and nothing was signed: releases\/00000003\/manifest\.json is of another release than entry 2 of the log/,
    )
    expect(store.objects.has('log/checkpoints/00000004')).toBe(false)
  },
)
