// The corrections that a release lists: every change of a question and of its outcome, one by one, with what
// it moved.
import { beforeAll, describe, expect, test } from 'vitest'
import { runAudit } from '../../jobs/audit/audit.ts'
import type { Components } from '../../jobs/components/components.ts'
import { runImport, runTrial } from '../../jobs/import/import.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { parseOptions } from '../../pipeline/import/options.ts'
import type { AuditReport } from '../../pipeline/audit/report.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { manifestPath } from '../../pipeline/store/paths.ts'
import { recordBytes } from '../../pipeline/store/records.ts'
import type { Correction } from '../../schemas/manifests.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, release, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import {
  FORECASTERS,
  NOW,
  QUESTION,
  copyReleasedWorld,
  csvOf,
  forecasterId,
  uuidOf,
} from '../support/worlds/world.ts'

const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString()
const hoursAfter = (hours: number) => new Date(Date.parse(NOW) + hours * 3_600_000).toISOString()
/** Question 0 of the world resolved with yes, and question 1 with no; everyone has a pair on each. */
const question = (index: number) => uuidOf(1, index)
const EVERYONE = FORECASTERS + 1

const folder = await suiteFolder()
let released: MemoryStore
beforeAll(async () => {
  released = new MemoryStore()
  await copyReleasedWorld(released)
})

async function world(): Promise<Components & { clock: Clock }> {
  const clock = new Clock(hoursAfter(1))
  return { ...(await testComponents({ store: copyOf(released), folder, clock })), clock }
}

const resolutionsCsv = (lines: readonly string[]) =>
  ['question_id,outcome,resolved_at', ...lines, ''].join('\n')
const questionsCsv = (lines: readonly string[]) =>
  ['question_id,title,category,event_id,opened_at,closes_at', ...lines, ''].join('\n')
const ZERO = `${question(0)},Title,simulated,event-0,${day(0)},${day(30)}`

const importing = (kind: ImportKind, csv: string, correct?: string) =>
  [kind, new Blob([csv]).stream(), parseOptions(kind, correct === undefined ? {} : { correct })] as const

async function correctionsIn({ store }: Components, number: number): Promise<Correction[] | undefined> {
  return (await readManifest(store, number))!.corrections
}

async function audit(components: Components, number: number): Promise<AuditReport> {
  return (await runAudit(components, number)).json as AuditReport
}

describe('a release lists', () => {
  test(
    'every change of an outcome, also if it is again as it was, and its audit derives the list',
    { tags: ['slow'] },
    async () => {
      const components = await world()
      const said: [hours: number, outcome: string, at: string][] = [
        [1, 'annulled', day(20)],
        [2, 'yes', day(20)],
        [3, 'open', day(50)],
        [4, 'yes', day(20)],
      ]
      for (const [hours, outcome, at] of said) {
        components.clock.set(hoursAfter(hours))
        await importRows(components, 'resolutions', resolutionsCsv([`${question(0)},${outcome},${at}`]))
      }
      await release(components)
      const of = (hours: number, column: string, from: string | null, to: string | null) => ({
        question_id: question(0),
        column,
        from,
        to,
        recorded_at: hoursAfter(hours),
        reason: null,
        pairs: EVERYONE,
        entities: EVERYONE,
      })
      expect(await correctionsIn(components, 2)).toEqual([
        of(1, 'outcome', 'yes', 'annulled'),
        of(2, 'outcome', 'annulled', 'yes'),
        of(3, 'outcome', 'yes', 'open'),
        of(3, 'resolved_at', day(20), null),
        of(4, 'outcome', 'open', 'yes'),
        of(4, 'resolved_at', null, day(20)),
      ])
      components.clock.set(hoursAfter(5))
      await release(components)
      expect(await correctionsIn(components, 3)).toEqual([])
      for (const number of [2, 3]) {
        expect(await audit(components, number)).toMatchObject({ derived: true, ok: true, faults: [] })
      }
    },
  )

  test(
    'the kind of an event at each of its questions, also one that nobody had said before',
    { tags: ['slow'] },
    async () => {
      const components = await world()
      const eventsOf = (kind: string) => `event_id,title,kind\nevent-0,Zero,${kind}\nevent-new,New,ordered\n`
      await expect(
        runImport(components, ...importing('events', eventsOf('exclusive'))),
      ).rejects.toMatchObject({
        faults: [
          {
            pointer: 'line 2',
            detail: 'changes kind of event event-0, which a release has scored; say why by --correct',
          },
        ],
      })
      await runImport(components, ...importing('events', eventsOf('exclusive'), 'it is one'))
      components.clock.set(hoursAfter(2))
      await runImport(components, ...importing('events', eventsOf('at_most_one'), 'or none'))
      await release(components)
      const of = (hours: number, from: string, to: string, reason: string) => ({
        question_id: question(0),
        column: 'kind',
        from,
        to,
        reason,
        recorded_at: hoursAfter(hours),
        pairs: EVERYONE,
        entities: EVERYONE,
      })
      expect(await correctionsIn(components, 2)).toEqual([
        of(1, 'independent', 'exclusive', 'it is one'),
        of(2, 'exclusive', 'at_most_one', 'or none'),
      ])
      expect(await audit(components, 2)).toMatchObject({ derived: true, ok: true, faults: [] })
    },
  )

  test(
    'other scoring columns with the reason, and who may have been moved by them',
    { tags: ['slow'] },
    async () => {
      const components = await world()
      const changed = `${question(0)},Title,weather,,${day(5)},${day(40)}`
      await runImport(
        components,
        ...importing('questions', questionsCsv([changed]), 'two questions were one'),
      )
      await release(components)
      const reason = 'two questions were one'
      const counts = { recorded_at: hoursAfter(1), reason, pairs: EVERYONE, entities: EVERYONE }
      expect(await correctionsIn(components, 2)).toEqual(
        [
          { column: 'opened_at', from: day(0), to: day(5) },
          { column: 'closes_at', from: day(30), to: day(40) },
          { column: 'event_id', from: 'event-0', to: null },
          { column: 'category', from: 'simulated', to: 'weather' },
        ].map((change) => ({ question_id: question(0), ...change, ...counts })),
      )
      expect(await audit(components, 2)).toMatchObject({ derived: true, ok: true, faults: [] })
    },
  )

  test(
    'a change of a question that is not scored yet from its first forecast on, and no earlier one',
    { tags: ['slow'] },
    async () => {
      const components = await world()
      const open = (closes: string) => `${QUESTION.open},Open?,,,${day(0)},${closes}`
      const move = (closes: string) => importRows(components, 'questions', questionsCsv([open(closes)]))
      await move(day(390))
      components.clock.set(hoursAfter(2))
      const forecast = `forecaster,${forecasterId(0)},${QUESTION.open},0.5,${day(45)}`
      await importRows(components, 'forecasts', csvOf([forecast]))
      components.clock.set(hoursAfter(3))
      await move(day(380))
      await release(components)
      const found = await correctionsIn(components, 2)
      expect(found).toEqual([
        {
          question_id: QUESTION.open,
          column: 'closes_at',
          from: day(390),
          to: day(380),
          recorded_at: hoursAfter(3),
          reason: null,
          pairs: 0,
          entities: 1,
        },
      ])
    },
  )

  test('no first outcome, no other title and no repeat', { tags: ['slow'] }, async () => {
    const components = await world()
    await importRows(components, 'resolutions', resolutionsCsv([`${QUESTION.closed},yes,${day(41)}`]))
    await importRows(components, 'questions', questionsCsv([ZERO]))
    await importRows(components, 'questions', questionsCsv([ZERO.replace('Title', 'Another title')]))
    await release(components)
    expect(await correctionsIn(components, 2)).toEqual([])
  })
})

describe('an import of questions', () => {
  const moved = ZERO.replace(day(30), day(29))

  test(
    'is refused without a reason if it changes how a scored question is scored, and writes nothing',
    { tags: ['slow'] },
    async () => {
      const components = await world()
      const before = await contentOf(components.store)
      const fault = {
        pointer: 'line 3',
        detail: `changes closes_at of question ${question(0)}, which a release has scored; say why by --correct`,
      }
      const fresh = `${uuidOf(1, 7000)},New?,,,${day(0)},${day(300)}`
      const csv = questionsCsv([fresh, moved])
      await expect(runImport(components, ...importing('questions', csv))).rejects.toMatchObject({
        kind: 'invalid',
        faults: [fault],
      })
      expect((await runTrial(components, ...importing('questions', csv))).json).toMatchObject({
        added: 1,
        unchanged: 0,
        bad: 1,
        errors: [fault],
      })
      expect(await contentOf(components.store)).toEqual(before)
    },
  )

  test('needs no reason for a question that no release has scored', { tags: ['slow'] }, async () => {
    const components = await world()
    const csv = questionsCsv([`${QUESTION.open},Open?,weather,,${day(1)},${day(399)}`])
    expect((await runImport(components, ...importing('questions', csv))).json).toMatchObject({ changed: 1 })
  })
})

test(
  'an audit finds a correction that the manifest leaves out, changes or hides with all others',
  { tags: ['slow'] },
  async () => {
    const components = await world()
    await importRows(components, 'resolutions', resolutionsCsv([`${question(0)},no,${day(20)}`]))
    await release(components)
    const { store } = components
    const manifest = (await readManifest(store, 2))!
    const [entry] = manifest.corrections
    const lies = [
      { ...manifest, corrections: [] },
      { ...manifest, corrections: [{ ...entry!, reason: 'the source was wrong' }] },
      { ...manifest, corrections: [{ ...entry!, pairs: 0 }] },
    ]
    for (const lie of lies) {
      await store.put(manifestPath(2), recordBytes(manifestPath(2), lie))
      expect((await audit(components, 2)).faults).toEqual([
        expect.stringMatching(/^manifest\.json: differs at byte /),
      ])
    }
  },
)
