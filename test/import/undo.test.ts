// An import that is undone: from the next release on it is as if it had never been, and everyone can see that
// it was.
// @module-tag slow
import { beforeAll, describe, expect, test } from 'vitest'
import { QuestionBook } from '../../api/questions/book.ts'
import { runAudit } from '../../jobs/audit/audit.ts'
import type { Components } from '../../jobs/components/components.ts'
import { runImport } from '../../jobs/import/import.ts'
import { reportImports, runUndo } from '../../jobs/import/imports.ts'
import { type GivenOptions, parseOptions } from '../../pipeline/import/options.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { importIdOf } from '../../pipeline/tables/import-id.ts'
import type { ReleaseManifest, UndoneImport } from '../../schemas/manifests.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, release, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { send } from '../support/tables.ts'
import { sampleRows } from '../support/worlds/table-rows.ts'
import { NOW, QUESTION, copyReleasedWorld, csvOf, forecasterId, uuidOf } from '../support/worlds/world.ts'

const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString()
const hoursAfter = (hours: number) => new Date(Date.parse(NOW) + hours * 3_600_000).toISOString()
/** Resolved with yes in the released world; everyone has a pair on it. */
const ZERO = uuidOf(1, 0)
const NEW = uuidOf(1, 7000)
const WHY = 'the file was of another platform'

const folder = await suiteFolder()
let released: MemoryStore
/** Releases of a store that no more was imported into. */
let without: ReleaseManifest
let withoutNextDay: ReleaseManifest
beforeAll(async () => {
  released = new MemoryStore()
  await copyReleasedWorld(released)
  const other = await world()
  await releasedAt(other, 2)
  without = await releasedAt(other, 4)
  withoutNextDay = await releasedAt(other, 30)
})

type World = Components & { clock: Clock }

async function world(): Promise<World> {
  const clock = new Clock(hoursAfter(1))
  return { ...(await testComponents({ store: copyOf(released), folder, clock })), clock }
}

/** Imports lines, and returns the id of the import. */
async function imported(
  components: World,
  kind: ImportKind,
  csv: string,
  options: GivenOptions = {},
): Promise<string> {
  const { json } = await runImport(components, kind, new Blob([csv]).stream(), parseOptions(kind, options))
  return (json as { import_id: string }).import_id
}

const resolution = (id: string, outcome: string, at: string) =>
  ['question_id,outcome,resolved_at', `${id},${outcome},${at}`, ''].join('\n')
const questions = (...lines: readonly string[]) =>
  ['question_id,title,category,event_id,opened_at,closes_at', ...lines, ''].join('\n')
const fresh = (title: string) => questions(`${NEW},${title},,,${day(0)},${day(300)}`)
const forecasts = (...probabilities: readonly number[]) =>
  csvOf(
    probabilities.map(
      (value, index) => `forecaster,${forecasterId(index)},${ZERO},${value},${day(2 + index)}`,
    ),
  )

const undo = (components: World, id: string) => runUndo(components, importIdOf(id), WHY)

async function releasedAt(components: World, hours: number): Promise<ReleaseManifest> {
  components.clock.set(hoursAfter(hours))
  await release(components)
  for (let number = 9; ; number--) {
    const manifest = await readManifest(components.store, number)
    if (manifest) return manifest
  }
}

async function expectSound(components: World, number: number): Promise<void> {
  expect((await runAudit(components, number)).json).toMatchObject({ derived: true, ok: true, faults: [] })
}

describe('from the next release on', () => {
  test.each([
    ['forecasts', forecasts(0.11, 0.93)],
    ['resolutions', resolution(ZERO, 'no', day(20))],
    ['resolutions', resolution(QUESTION.closed, 'yes', day(41))],
    ['questions', questions(`${ZERO},Another title,weather,,${day(5)},${day(40)}`)],
    ['questions', fresh('New?')],
  ] as const)('an undone import of %s leaves no trace in the numbers', async (kind, csv) => {
    const one = await world()
    const options = kind === 'forecasts' ? {} : { correct: 'a mistake' }
    const id = await imported(one, kind, csv, options)
    const second = await releasedAt(one, 2)
    one.clock.set(hoursAfter(3))
    const before = second.counts
    await undo(one, id)
    const third = await releasedAt(one, 4)
    expect(third.undone_imports).toEqual([
      {
        ...importIdOf(id),
        rows: kind === 'forecasts' ? 2 : 1,
        recorded_at: hoursAfter(1),
        undone_at: hoursAfter(3),
        reason: WHY,
      },
    ])
    expect(second.undone_imports).toBeUndefined()
    expect(third.files).toEqual(without.files)
    expect(third.counts).toEqual(without.counts)
    expect(third.questions).toEqual(without.questions)
    if (kind === 'forecasts') expect(before.forecasts).toBe(third.counts.forecasts + 2)
    for (const number of [2, 3]) await expectSound(one, number)
    // The next release says so too, and builds on this one.
    const fourth = await releasedAt(one, 30)
    expect(fourth.undone_imports).toEqual(third.undone_imports)
    expect(fourth.files).toEqual(withoutNextDay.files)
    await expectSound(one, 4)
  })

  test('an import that no release has read may be undone too, and its file may come again', async () => {
    const components = await world()
    const id = await imported(components, 'forecasts', forecasts(0.11, 0.93))
    await undo(components, id)
    components.clock.set(hoursAfter(2))
    const again = await imported(components, 'forecasts', forecasts(0.11, 0.93))
    expect(again).not.toBe(id)
    const manifest = await releasedAt(components, 3)
    const other = await world()
    await imported(other, 'forecasts', forecasts(0.11, 0.93))
    expect(manifest.files).toEqual((await releasedAt(other, 3)).files)
    await expectSound(components, 2)
  })
})

describe('a correction says that', () => {
  test('an outcome is again as it was, or withdrawn, with the reason and what it moved', async () => {
    const components = await world()
    const changed = await imported(components, 'resolutions', resolution(ZERO, 'no', day(20)))
    await releasedAt(components, 2)
    components.clock.set(hoursAfter(3))
    await undo(components, changed)
    const manifest = await releasedAt(components, 4)
    expect(manifest.corrections).toEqual([
      expect.objectContaining({
        question_id: ZERO,
        column: 'outcome',
        from: 'no',
        to: 'yes',
        recorded_at: hoursAfter(3),
        reason: WHY,
      }),
    ])
  })

  test('the first outcome of a question is withdrawn', async () => {
    const components = await world()
    const forecast = `forecaster,${forecasterId(0)},${QUESTION.open},0.5,${day(45)}`
    await imported(components, 'forecasts', csvOf([forecast]))
    const id = await imported(components, 'resolutions', resolution(QUESTION.open, 'yes', day(50)))
    await releasedAt(components, 2)
    components.clock.set(hoursAfter(3))
    await undo(components, id)
    const { corrections } = await releasedAt(components, 4)
    expect(corrections).toMatchObject([
      { column: 'outcome', from: 'yes', to: 'open', reason: WHY },
      { column: 'resolved_at', from: day(50), to: null, reason: WHY },
    ])
    await expectSound(components, 3)
  })

  test('of two imports of the same question the later one must be undone first, and both are told', async () => {
    const components = await world()
    const first = await imported(components, 'resolutions', resolution(ZERO, 'no', day(20)))
    components.clock.set(hoursAfter(2))
    const second = await imported(components, 'resolutions', resolution(ZERO, 'annulled', day(20)))
    await expect(undo(components, first)).rejects.toMatchObject({
      kind: 'conflict',
      message: `${first} cannot be undone: 1 of its rows were replaced by later imports, so undo those first; nothing was changed`,
    })
    for (const [hours, id] of [
      [3, second],
      [4, first],
    ] as const) {
      components.clock.set(hoursAfter(hours))
      await undo(components, id)
    }
    const { corrections } = await releasedAt(components, 5)
    expect(corrections.map(({ from, to, recorded_at }) => [from, to, recorded_at])).toEqual([
      ['yes', 'no', hoursAfter(1)],
      ['no', 'annulled', hoursAfter(2)],
      ['annulled', 'no', hoursAfter(3)],
      ['no', 'yes', hoursAfter(4)],
    ])
    await expectSound(components, 2)
  })
})

describe('a node', () => {
  test('that has read the release sees an outcome withdrawn, a question gone, and the history of both', async () => {
    const components = await world()
    let undone: readonly UndoneImport[] = []
    const newBook = () => new QuestionBook({ ...components, now: components.clock.now, undone: () => undone })
    const book = newBook()
    await book.refresh()
    const added = await imported(components, 'questions', fresh('New?'))
    const closed = await imported(components, 'resolutions', resolution(QUESTION.open, 'no', day(45)))
    const changed = await imported(components, 'resolutions', resolution(ZERO, 'no', day(20)))
    await book.refresh()
    expect(book.known(NEW)).toMatchObject({ title: 'New?' })
    expect(book.known(QUESTION.open)).toMatchObject({ outcome: 'no' })
    for (const id of [added, changed, closed]) await undo(components, id)
    undone = (await releasedAt(components, 2)).undone_imports!
    const reopened = book.reopened
    await book.refresh()
    expect(book.known(NEW)).toBeUndefined()
    expect(book.known(QUESTION.open)).toMatchObject({ outcome: null, resolvedAtMs: null })
    expect(book.known(ZERO)).toMatchObject({ outcome: 'yes' })
    expect(book.reopened).toBe(reopened + 1)
    const later = newBook()
    await later.refresh()
    for (const one of [book, later]) {
      expect(one.known(NEW)).toBeUndefined()
      expect(
        (await one.changesOf({ question_id: ZERO })).map(({ from, to, reason }) => [from, to, reason]),
      ).toEqual([
        ['yes', 'no', null],
        ['no', 'yes', WHY],
      ])
      const all = one.page({ status: undefined, limit: 1000, cursor: undefined, now: components.clock.now() })
      expect(all.questions.some(({ question_id }) => question_id === NEW)).toBe(false)
    }
  })
})

test('an id of an import is that of a table and its version', () => {
  for (const text of ['agents-1', 'forecasts-0', 'forecasts-1.5', '../forecasts-1', 'forecasts', '']) {
    expect(() => importIdOf(text)).toThrow(/is not the id of an import/)
  }
})

test('the list has every import with its file, and no version with a forecast that came by the API', async () => {
  const components = await world()
  const row = (source: string, nth: number) => ({ ...sampleRows('forecasts', 1, nth)[0]!, source })
  await send(components.store, 'forecasts', 'mixed', [row('api', 1), row('import', 2)])
  await releasedAt(components, 1)
  const mixed = (await readManifest(components.store, 2))!.tables['forecasts']!
  await expect(undo(components, `forecasts-${mixed}`)).rejects.toMatchObject({ kind: 'notFound' })
  const id = await imported(components, 'forecasts', forecasts(0.11, 0.93))
  await undo(components, id)
  const { json, text } = await reportImports(components)
  const { imports } = json as { imports: { import_id: string }[] }
  expect(imports.find(({ import_id }) => import_id === id)).toMatchObject({
    kind: 'forecasts',
    rows: 2,
    unchanged: 0,
    // The clock stands still, and the import is recorded at this hour.
    undone_at: hoursAfter(1).replace('.000Z', '.001Z'),
    reason: WHY,
  })
  expect(text.split('\n')).toHaveLength(imports.length)
  expect(text).toContain(`.001Z: ${WHY}`)
})
