// `fvs release` says what it did: for people in five lines and where to look, for programs as members.
import { expect, test } from 'vitest'
import { runRelease } from '../../../jobs/release/release.ts'
import { planRelease } from '../../../pipeline/release/make.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { releasePrefix } from '../../../pipeline/store/paths.ts'
import { Clock, importRows, testComponents } from '../../support/http/service.ts'
import { NOW, RESOLUTIONS_CSV, copyReleasedWorld, importWorld } from '../../support/worlds/world.ts'

/** The outcomes of all questions but the annulled one, the other way round. */
const TURNED = RESOLUTIONS_CSV.replaceAll(/,(yes|no),/g, (_, outcome) =>
  outcome === 'yes' ? ',no,' : ',yes,',
)

test(
  'the first release counts everything, and names its manifest in the store',
  { tags: ['slow'] },
  async () => {
    const components = await testComponents({ store: new MemoryStore(), clock: new Clock(NOW) })
    await importWorld(components)
    const { json, text } = await runRelease(components, {})
    const manifest = 'memory:/releases/00000001/manifest.json'
    expect(json).toMatchObject({ scored: 52, settled: 52, certified: 0, lost: 0, corrected: 0, manifest })
    expect(text.split('\n').slice(1)).toEqual([
      'scored:    52 questions with an outcome',
      'settled:   52 of them, 52 in all',
      'certified: 0 agents and forecasters, 0 in all',
      'lost:      0 certificates',
      'corrected: 0 values of questions and outcomes',
      `look at:   ${manifest}`,
    ])
  },
)

test(
  'a later one says what has changed since the one before, and what people can open',
  { tags: ['slow'] },
  async () => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    const clock = new Clock('2026-03-02T12:00:00.000Z')
    const components = await testComponents({ store, clock, settings: { PUBLIC_URL: 'https://f.example/x' } })
    await importRows(components, 'resolutions', TURNED)
    const turned = await runRelease(components, {})
    expect(turned.json).toMatchObject({ release: 2, scored: 52, settled: 0, lost: 0, corrected: 52 })
    expect(turned.text).toContain('corrected: 52 values of questions and outcomes since release 1\n')
    expect(turned.text).toMatch(
      /\nlook at: {3}https:\/\/f\.example\/x\/ and https:\/\/f\.example\/x\/releases\/2$/,
    )
  },
)

test(
  'one after a release whose files are gone is published all the same, without the five lines',
  { tags: ['slow'] },
  async () => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    store.objects.delete(`${releasePrefix(1)}entities/000.parquet`)
    const components = await testComponents({ store, clock: new Clock('2026-03-02T12:00:00.000Z') })
    const { ok, json, text } = await runRelease(components, {})
    expect([ok, json]).toEqual([true, expect.not.objectContaining({ scored: expect.anything() as unknown })])
    expect(text).toMatch(/^release 2 as of .*\nlook at: {3}memory:\/releases\/00000002\/manifest\.json$/)
  },
)

test(
  'one that an earlier run began is told as made, also if nothing has changed after it',
  { tags: ['slow'] },
  async () => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    const clock = new Clock('2026-03-02T12:00:00.000Z')
    const components = await testComponents({ store, clock })
    const begun = await planRelease(components, {})
    expect(begun).toMatchObject({ isBegun: false })
    const { json, text } = await runRelease(components, { ifChanged: true })
    expect(json).toMatchObject({ made: true, release: 2 })
    expect(text).toMatch(/^release 2 as of 2026-03-02T12:00:00\.000Z: /)
    const again = await runRelease(components, { ifChanged: true })
    expect(again.text).toBe('nothing has changed since release 2; none was made')
  },
)
