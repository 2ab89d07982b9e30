// What a release says of itself as a whole: what it counts, and which outcomes of the release before it have
// changed.
// @module-tag slow
import { beforeAll, describe, expect, test } from 'vitest'
import { runAudit } from '../../jobs/audit/audit.ts'
import { replacedOutcomes } from '../../pipeline/release/compare.ts'
import type { ReplacedOutcome } from '../../schemas/manifests.ts'
import type { Components } from '../../jobs/components/components.ts'
import type { AuditReport } from '../../pipeline/audit/report.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { manifestPath } from '../../pipeline/store/paths.ts'
import { recordBytes } from '../../pipeline/store/records.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { laterComponents, laterRelease } from '../support/later-software.ts'
import { Clock, importRows, release, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import {
  FORECASTERS,
  FORECAST_LINES,
  NOW,
  QUESTION,
  copyReleasedWorld,
  uuidOf,
} from '../support/worlds/world.ts'

const COUNTS = {
  agents: 1,
  forecasters: FORECASTERS,
  scored_questions: 52,
  // The agent has as many as each person.
  forecasts: (FORECAST_LINES.length / FORECASTERS) * (FORECASTERS + 1),
}
const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString()
const hoursAfter = (hours: number) => new Date(Date.parse(NOW) + hours * 3_600_000).toISOString()

/** The outcomes of questions 0 to 4 in the world: yes, no, no, yes, no, known from day 20 on. */
const question = (index: number) => uuidOf(1, index)
const yes = (at: string) => ({ outcome: 'yes' as const, resolved_at: at })
const no = (at: string) => ({ outcome: 'no' as const, resolved_at: at })
const annulled = (at: string) => ({ outcome: 'annulled' as const, resolved_at: at })
const open = (at: string) => ({ outcome: 'open' as const, resolved_at: at })

const folder = await suiteFolder()
let released: MemoryStore
beforeAll(async () => {
  released = new MemoryStore()
  await copyReleasedWorld(released)
})

/** The world, released once, under a clock that stands an hour later. */
async function world(store: Store = copyOf(released)): Promise<Components & { clock: Clock }> {
  const clock = new Clock(hoursAfter(1))
  return { ...(await testComponents({ store, folder, clock })), clock }
}

interface Outcome {
  outcome: string
  resolved_at: string
}

function resolve(components: Components, outcomes: [question: string, outcome: Outcome][]): Promise<object> {
  const lines = outcomes.map(([id, { outcome, resolved_at }]) => `${id},${outcome},${resolved_at}`)
  return importRows(components, 'resolutions', ['question_id,outcome,resolved_at', ...lines, ''].join('\n'))
}

async function replacedIn({ store }: Components, number: number): Promise<ReplacedOutcome[]> {
  return replacedOutcomes((await readManifest(store, number))!.corrections)
}

async function scoredIn({ store }: Components, number: number): Promise<number> {
  return (await readManifest(store, number))!.counts.scored_questions
}

async function audit(components: Components, number: number): Promise<AuditReport> {
  return (await runAudit(components, number)).json as AuditReport
}

describe('the counts of a release', () => {
  test('are of agents, people, questions that score and forecasts', async () => {
    expect((await readManifest(released, 1))!.counts).toEqual(COUNTS)
  })

  test('have each forecast once, also those that count for nothing', async () => {
    const components = await world()
    const rows = [
      `forecaster,${uuidOf(2, 0)},${question(0)},0.5,${day(45)}`,
      `forecaster,${uuidOf(2, 0)},${QUESTION.open},0.5,${day(45)}`,
      `forecaster,${uuidOf(2, 99)},${QUESTION.open},0.5,${day(45)}`,
    ]
    const csv = ['entity_type,entity_id,question_id,probability,forecast_at', ...rows, ...rows, ''].join('\n')
    await importRows(components, 'forecasts', csv)
    await importRows(components, 'forecasts', csv)
    await release(components)
    expect((await readManifest(components.store, 2))!.counts).toEqual({
      ...COUNTS,
      forecasters: FORECASTERS + 1,
      forecasts: COUNTS.forecasts + 3,
    })
  })
})

describe('a release replaces', () => {
  test('nothing if it is the first, or if no outcome has changed', async () => {
    const components = await world()
    expect(await replacedIn(components, 1)).toEqual([])
    await resolve(components, [
      [QUESTION.closed, yes(day(41))],
      [question(0), yes(day(20))],
    ])
    await importRows(
      components,
      'questions',
      `question_id,title,category,event_id,opened_at,closes_at\n${question(0)},Another title,simulated,event-0,${day(0)},${day(30)}\n`,
    )
    await release(components)
    expect(await replacedIn(components, 2)).toEqual([])
    expect((await readManifest(components.store, 2))!.counts.scored_questions).toBe(53)
  })

  test('another outcome, an annulment and another time, in the order of the questions', async () => {
    const components = await world()
    await resolve(components, [
      [question(3), annulled(day(23))],
      [question(1), no(day(22))],
      [question(0), no(day(20))],
    ])
    await release(components)
    expect(await replacedIn(components, 2)).toEqual([
      { questionId: question(0), from: 'yes', to: 'no' },
      { questionId: question(1), from: null, to: null },
      { questionId: question(3), from: 'yes', to: 'annulled' },
    ])
    expect((await readManifest(components.store, 2))!.counts.scored_questions).toBe(51)
  })

  test('what has changed since the release before it, and no more', async () => {
    const components = await world()
    await resolve(components, [
      [question(0), no(day(20))],
      [question(3), annulled(day(23))],
    ])
    await release(components)
    components.clock.set(hoursAfter(2))
    await resolve(components, [
      [question(0), yes(day(20))],
      [question(3), yes(day(23))],
    ])
    await release(components)
    components.clock.set(hoursAfter(3))
    await release(components)
    expect(await replacedIn(components, 2)).toHaveLength(2)
    expect(await replacedIn(components, 3)).toEqual([
      { questionId: question(0), from: 'no', to: 'yes' },
      { questionId: question(3), from: 'annulled', to: 'yes' },
    ])
    expect(await replacedIn(components, 4)).toEqual([])
    for (const number of [1, 2, 3, 4]) {
      expect(await audit(components, number)).toMatchObject({ derived: true, ok: true, faults: [] })
    }
  })

  test('a resolution that was withdrawn: its question scores nobody, until it is resolved again', async () => {
    const components = await world()
    await resolve(components, [[question(0), open(day(45))]])
    await release(components)
    expect(await scoredIn(components, 2)).toBe(51)
    expect(await replacedIn(components, 2)).toEqual([{ questionId: question(0), from: 'yes', to: 'open' }])
    components.clock.set(hoursAfter(2))
    await release(components)
    components.clock.set(hoursAfter(3))
    await resolve(components, [[question(0), no(day(29))]])
    await release(components)
    expect(await replacedIn(components, 3)).toEqual([])
    expect(await scoredIn(components, 4)).toBe(52)
    expect(await replacedIn(components, 4)).toEqual([{ questionId: question(0), from: 'open', to: 'no' }])
    for (const number of [2, 3, 4]) {
      expect(await audit(components, number)).toMatchObject({ derived: true, ok: true, faults: [] })
    }
  })

  test('a withdrawal also as of a time before it, since `as_of` does not select by when a row was said', async () => {
    const components = await world()
    await resolve(components, [[question(0), open(hoursAfter(0.5))]])
    await release(components, { asOf: new Date(NOW) })
    expect(await scoredIn(components, 2)).toBe(51)
    expect(await replacedIn(components, 2)).toEqual([{ questionId: question(0), from: 'yes', to: 'open' }])
  })

  test('nothing of a correction that came and went between two releases', async () => {
    const components = await world()
    await resolve(components, [[question(0), no(day(20))]])
    components.clock.set(hoursAfter(2))
    await resolve(components, [[question(0), yes(day(20))]])
    await release(components)
    expect(await replacedIn(components, 2)).toEqual([])
  })

  test('an outcome that now becomes known only after it, and not again once it scores', async () => {
    const components = await world()
    await resolve(components, [[question(0), yes(hoursAfter(0.5))]])
    await release(components, { asOf: new Date(NOW) })
    expect(await scoredIn(components, 2)).toBe(51)
    expect(await replacedIn(components, 2)).toEqual([{ questionId: question(0), from: null, to: null }])
    await release(components)
    expect(await scoredIn(components, 3)).toBe(52)
    expect(await replacedIn(components, 3)).toEqual([])
  })
})

describe('a correction', () => {
  test('changes no byte of earlier releases and snapshots', async () => {
    const components = await world()
    const before = {
      ...(await contentOf(released, 'releases/')),
      ...(await contentOf(released, 'snapshots/')),
    }
    expect(Object.keys(before)).toContain('snapshots/2026-03-01/manifest.json')
    await resolve(components, [[question(0), no(day(20))]])
    await release(components)
    components.clock.set(hoursAfter(24))
    await release(components)
    const { store } = components
    const now = { ...(await contentOf(store, 'releases/')), ...(await contentOf(store, 'snapshots/')) }
    expect(now).toMatchObject(before)
    expect(Object.keys(now)).toContain('snapshots/2026-03-02/manifest.json')
  })

  test('that comes while a release is under way is listed by the next', async () => {
    const store = copyOf(released)
    const broken = new FaultStore(store, { at: 2, fault: 'failed', crash: true })
    await expect(release(await world(broken))).rejects.toMatchObject({ kind: 'unavailable' })
    const components = await world(store)
    await resolve(components, [[question(0), no(day(20))]])
    await release(components)
    expect(await replacedIn(components, 2)).toEqual([])
    expect(await replacedIn(components, 3)).toHaveLength(1)
  })

  test('is listed the same by software that takes the release over', async () => {
    const store = copyOf(released)
    await resolve(await world(store), [[question(0), no(day(20))]])
    const broken = new FaultStore(store, { at: 3, fault: 'failed but persisted', crash: true })
    await expect(release(await world(broken))).rejects.toMatchObject({ kind: 'unavailable' })
    const options = { store, folder, clock: new Clock(hoursAfter(2)) }
    expect(await laterRelease(options, { ifChanged: true })).toMatchObject({ release: 2 })
    const components = await laterComponents(options)
    expect(await readManifest(store, 2)).toMatchObject({
      methodology_version: '4.1.0',
      corrections: [{ question_id: question(0), column: 'outcome', from: 'yes', to: 'no' }],
    })
    expect(await audit(components, 2)).toMatchObject({ derived: true, ok: true })
    // The software of release 1 checks it without deriving it.
    expect(await audit(await world(store), 2)).toMatchObject({
      derived: false,
      faults: [expect.stringMatching(/^signatures: /)],
    })
  })
})

describe('an audit', () => {
  test('finds a correction that the manifest does not admit, one that it makes up, and a wrong count', async () => {
    const components = await world()
    await resolve(components, [[question(0), no(day(20))]])
    await release(components)
    const { store } = components
    const manifest = (await readManifest(store, 2))!
    const [entry] = manifest.corrections
    const lies = [
      { corrections: [] },
      { corrections: [entry!, { ...entry!, question_id: question(1) }] },
      { corrections: [{ ...entry!, to: 'annulled' }] },
      { counts: { ...COUNTS, agents: 2 } },
      { counts: { ...COUNTS, forecasts: 0 } },
    ]
    for (const lie of lies) {
      await store.put(manifestPath(2), recordBytes(manifestPath(2), { ...manifest, ...lie }))
      const { ok, faults } = await audit(components, 2)
      expect(ok).toBe(false)
      expect(faults).toEqual([expect.stringMatching(/^manifest\.json: differs at byte .*stored .*derived /)])
    }
  })

  test('of a release after one that has lost its manifest says what cannot be derived', async () => {
    const components = await world()
    await release(components)
    await components.store.delete(manifestPath(1))
    await expect(audit(components, 2)).rejects.toMatchObject({
      kind: 'corrupt',
      message: 'release 1 has lost its manifest, so what release 2 corrects cannot be derived',
    })
  })
})
