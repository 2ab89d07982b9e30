// Importing: the checks of a row, the rows that are written, and that a refused file writes nothing.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { v5 as uuidv5 } from 'uuid'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { runImport } from '../../jobs/import.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { IMPORTS, type ImportKind } from '../../pipeline/import/columns.ts'
import { FORECAST_IDS } from '../../pipeline/import/values.ts'
import { readManifest, readReleaseShard, shardFile } from '../../pipeline/release/read.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { type Fault, ServiceError } from '../../schemas/errors.ts'
import type { TableName } from '../../schemas/tables.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, registerAgent, release, startTestService, testComponents } from '../support/http/service.ts'
import { namesOf } from '../support/people.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { send } from '../support/tables.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const QUESTION = uuidOf(1, 1)
const SECOND_QUESTION = uuidOf(1, 2)
const PERSON = uuidOf(2, 1)
const AGENT = uuidOf(3, 1)
const OF_AGENT = `entity_type is "agent", whose forecasts come by its own API alone; import a bot's history as the forecasts of a forecaster`
const COLUMNS: Record<ImportKind, string> = {
  questions: 'question_id,title,category,url,event_id,opened_at,closes_at',
  resolutions: 'question_id,outcome,resolved_at',
  forecasters: 'user_id,display_name',
  forecasts: 'entity_type,entity_id,question_id,probability,forecast_at',
}

const folder = await suiteFolder()
let components: Components
let clock: Clock

let prepared: MemoryStore

/** A store with two questions, and a copy of it for each test. */
beforeAll(async () => {
  clock = new Clock(NOW)
  prepared = new MemoryStore()
  components = await testComponents({ store: prepared, clock, folder })
  await importLines('questions', [
    `${QUESTION},First?,,,,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`,
    `${SECOND_QUESTION},Second?,,,,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`,
  ])
})
beforeEach(async () => {
  components = await testComponents({ store: copyOf(prepared), clock, folder })
})

interface Imported {
  clock_behind_ms: number
  rows: number
  added: number
  changed: number
  unchanged: number
  forecasters_created: number
}

async function importText(kind: ImportKind, name: string, text: string | Uint8Array): Promise<Imported> {
  const path = join(components.directory, name)
  await writeFile(path, text)
  return (await runImport(components, kind, path)).json as Imported
}

function importLines(kind: ImportKind, lines: readonly string[]): Promise<Imported> {
  return importText(kind, `${kind}.csv`, [COLUMNS[kind], ...lines, ''].join('\n'))
}

const counts = (added: number, unchanged = 0, created = 0) => ({
  rows: added + unchanged,
  added,
  changed: 0,
  unchanged,
  forecasters_created: created,
})
const changes = (changed: number) => ({ rows: changed, added: 0, changed, unchanged: 0 })

/** Imports lines that must be refused, checks that nothing was written, and returns the faults. */
async function refused(
  kind: ImportKind,
  lines: readonly string[],
): Promise<{ message: string; faults: readonly Fault[] }> {
  const before = await contentOf(components.store)
  const error = await importLines(kind, lines).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ServiceError)) throw new Error(`not refused: ${String(error)}`)
  expect(error.kind).toBe('invalid')
  expect(await contentOf(components.store)).toEqual(before)
  return error
}

/** Expects that each line of a file is refused for a reason of its own, and named with it. */
async function expectEachRefused(
  kind: ImportKind,
  wrong: readonly (readonly [what: string, line: string, detail: string])[],
): Promise<void> {
  const { message, faults } = await refused(
    kind,
    wrong.map(([, line]) => line),
  )
  expect(faults.map(({ detail }) => detail)).toEqual(wrong.map(([, , detail]) => detail))
  expect(faults.map(({ pointer }) => pointer)).toEqual(wrong.map((_, index) => `line ${index + 2}`))
  expect(message).toMatch(new RegExp(`${kind}\\.csv: ${wrong.length} bad rows; nothing was imported$`))
}

async function rowsOf(table: TableName): Promise<Record<string, unknown>[]> {
  using database = await components.openDatabase()
  await attachAll(database, components.local, await currentVersions(components.store))
  return await database.rows(`FROM ${table} ORDER BY ALL`)
}

/** What a current row about the first question says. */
async function current(table: 'questions' | 'resolutions', column: string): Promise<unknown> {
  using database = await components.openDatabase()
  await attachAll(database, components.local, await currentVersions(components.store))
  const [row] = await database.rows(
    `SELECT ${column} FROM current_${table} WHERE question_id = '${QUESTION}'`,
  )
  return row?.[column]
}

const forecast = (probability: string, at = '2026-01-05T00:00:00Z') =>
  `forecaster,${PERSON},${QUESTION},${probability},${at}`
const instants = (rows: Record<string, unknown>[], column: string) =>
  rows.map((row) => (row[column] as Date).toISOString())

describe('the first import into an empty store', () => {
  test('of a bad file leaves it empty', async () => {
    components = await testComponents({ store: new MemoryStore(), clock, folder })
    await refused('questions', ['x,t,,,,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z'])
    expect(await contentOf(components.store)).toEqual({})
  })

  test('of an empty table does nothing', async () => {
    components = await testComponents({ store: new MemoryStore(), clock, folder })
    expect(await importLines('forecasters', [])).toMatchObject(counts(0))
    expect(await contentOf(components.store)).toEqual({})
  })
})

describe('questions', () => {
  test('become rows with their values unchanged', async () => {
    await importLines('questions', [
      `${uuidOf(1, 3).toUpperCase()},"A ""b"", c?",cat,https://x/,World Cup 2026,2026-01-01T00:00:00+01:00,2026-02-01 00:00:00.5-0530`,
    ])
    const rows = await rowsOf('questions')
    expect(rows.at(-1)).toEqual({
      question_id: uuidOf(1, 3),
      title: 'A "b", c?',
      resolution_criteria: null,
      background: null,
      category: 'cat',
      url: 'https://x/',
      event_id: 'World Cup 2026',
      source: null,
      source_id: null,
      opened_at: new Date('2025-12-31T23:00:00.000Z'),
      closes_at: new Date('2026-02-01T05:30:00.500Z'),
      reason: null,
      recorded_at: new Date(clock.now().getTime() + 1),
    })
  })

  test('change nothing when they repeat, and add a replacing row when they change or change back', async () => {
    const line = (title: string) => [`${QUESTION},${title},,,,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`]
    const before = await contentOf(components.store)
    expect(await importLines('questions', line('First?'))).toMatchObject(counts(0, 1))
    expect(await contentOf(components.store)).toEqual(before)
    expect(await importLines('questions', line('Changed?'))).toMatchObject(changes(1))
    expect(await importLines('questions', line('First?'))).toMatchObject(changes(1))
    expect((await rowsOf('questions')).filter(({ question_id }) => question_id === QUESTION)).toHaveLength(3)
  })

  test('are of the event that was said last, or of none', async () => {
    const line = (event: string) => [
      `${QUESTION},First?,,,${event},2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`,
    ]
    for (const event of ['first', 'second', '']) {
      expect(await importLines('questions', line(event))).toMatchObject(changes(1))
      expect(await importLines('questions', line(event))).toMatchObject(counts(0, 1))
      expect(await current('questions', 'event_id'), event).toBe(event === '' ? null : event)
    }
  })

  const good = `2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`
  const wrong = [
    ['no id', `,t,,,,${good}`, 'question_id is missing'],
    [
      'an id that is not a UUID',
      `1,t,,,,${good}`,
      'question_id is "1", not a UUID; an id of your own? see --ids',
    ],
    ['no title', `${uuidOf(1, 9)},,,,,${good}`, 'title is missing'],
    ['a long title', `${uuidOf(1, 9)},${'t'.repeat(2001)},,,,${good}`, 'title has more than 2000 characters'],
    [
      'a long category',
      `${uuidOf(1, 9)},t,${'c'.repeat(201)},,,${good}`,
      'category has more than 200 characters',
    ],
    [
      'a title that turns its direction',
      `${uuidOf(1, 9)},a\u202eb,,,,${good}`,
      'title must not have the character U+202E, a control, format, private-use, unassigned or invisible one',
    ],
    [
      'a title without a letter',
      `${uuidOf(1, 9)},🦊?,,,,${good}`,
      'title must have at least one letter or digit',
    ],
    [
      'a category that shows as nothing',
      `${uuidOf(1, 9)},t,\u3164,,,${good}`,
      'category must not have the character U+3164, a control, format, private-use, unassigned or invisible one',
    ],
    [
      'a title with an accent apart',
      `${uuidOf(1, 9)},o\u0308,,,,${good}`,
      'title must be in the Unicode normalization form NFC, which writes a letter and its accent as one character',
    ],
    ['a long url', `${uuidOf(1, 9)},t,,${'u'.repeat(2001)},,${good}`, 'url has more than 2000 characters'],
    [
      'a long event',
      `${uuidOf(1, 9)},t,,,${'e'.repeat(201)},${good}`,
      'event_id has more than 200 characters',
    ],
    [
      'an event that shows as nothing',
      `${uuidOf(1, 9)},t,,,\u3164,${good}`,
      'event_id must not have the character U+3164, a control, format, private-use, unassigned or invisible one',
    ],
    [
      'an event without a letter',
      `${uuidOf(1, 9)},t,,,?,${good}`,
      'event_id must have at least one letter or digit',
    ],
    ['no opening', `${uuidOf(1, 9)},t,,,,,2026-02-01T00:00:00Z`, 'opened_at is missing'],
    [
      'an end that is not later than the beginning',
      `${uuidOf(1, 9)},t,,,,2026-02-01T01:00:00+01:00,2026-02-01T00:00:00Z`,
      'closes_at is "2026-02-01T00:00:00Z", not after opened_at "2026-02-01T01:00:00+01:00"',
    ],
  ] as const
  test('are refused if a value is wrong', async () => {
    await expectEachRefused('questions', wrong)
  })

  test('that repeat in one file are refused, also if their ids differ in case', async () => {
    const lines = [uuidOf(1, 9), uuidOf(1, 10), uuidOf(1, 9).toUpperCase()].map((id) => `${id},t,,,,${good}`)
    const { faults } = await refused('questions', lines)
    expect(faults).toEqual([
      { pointer: 'line 4', detail: `question_id "${uuidOf(1, 9).toUpperCase()}" appears a second time` },
    ])
  })
})

describe('what a question asks', () => {
  const times = '2026-01-01T00:00:00Z,2026-02-01T00:00:00Z'
  const header = 'question_id,title,opened_at,closes_at,resolution_criteria,background,source,source_id'
  const importTexts = (...lines: string[]) =>
    importText('questions', 'questions.csv', [header, ...lines, ''].join('\n'))
  const line = (number: number, source: string, id: string, [criteria, background] = ['', '']) =>
    `${uuidOf(1, number)},t,${times},"${criteria}","${background}",${source},${id}`
  const faultsOf = async (...lines: string[]): Promise<string[]> => {
    const before = await contentOf(components.store)
    const error: unknown = await importTexts(...lines).catch((thrown: unknown) => thrown)
    if (!(error instanceof ServiceError)) throw new Error(`not refused: ${String(error)}`)
    expect(await contentOf(components.store)).toEqual(before)
    return error.faults.map(({ pointer, detail }) => `${pointer}: ${detail}`)
  }

  const TEXT = `A line.\n\n\tAnother, of \u200fעברית\u200e, 👩\u200d🚀 and <b>{{what}}</b>: $1 \\n 'x'\n`

  test('is many lines as they were written, in a file of every format', async () => {
    const row = {
      question_id: uuidOf(1, 3),
      title: 't',
      opened_at: '2026-01-01T00:00:00Z',
      closes_at: '2026-02-01T00:00:00Z',
      resolution_criteria: TEXT,
      background: 'b'.repeat(20_000),
      source: 'a platform',
      source_id: 'x/1',
    }
    const cells = Object.values(row).map((text) => `"${text.replaceAll('"', '""')}"`)
    expect(await importTexts(cells.join(','))).toMatchObject(counts(1))
    expect((await rowsOf('questions')).at(-1)).toMatchObject({
      resolution_criteria: TEXT,
      background: row.background,
      source: 'a platform',
      source_id: 'x/1',
    })
    // The same values change nothing, and each other value does.
    expect(await importText('questions', 'q.ndjson', `${JSON.stringify(row)}\n`)).toMatchObject(counts(0, 1))
    for (const change of [{ background: 'short' }, { resolution_criteria: null }, { source_id: '2' }]) {
      Object.assign(row, change)
      expect(await importText('questions', 'q.ndjson', `${JSON.stringify(row)}\n`)).toMatchObject(changes(1))
    }
  })

  test('is refused if a value is wrong', async () => {
    const wrong: [line: string, detail: string][] = [
      [line(3, '', '', ['a'.repeat(20_001), '']), 'resolution_criteria has more than 20000 characters'],
      [line(4, '', '', ['', '😀'.repeat(20_001)]), 'background has more than 20000 characters'],
      [
        line(5, '', '', ['a\u0007b', '']),
        'resolution_criteria must not have the character U+0007, a control character or no character at all',
      ],
      [
        line(6, '', '', ['', 'a\uffffb']),
        'background must not have the character U+FFFF, a control character or no character at all',
      ],
      [
        line(7, '', '', ['', 'o\u0308']),
        'background must be in the Unicode normalization form NFC, which writes a letter and its accent as one character',
      ],
      [line(8, 'a', ''), 'source_id is missing, although there is a source: a question has both or neither'],
      [line(9, '', '1'), 'source is missing, although there is a source_id: a question has both or neither'],
      [line(10, 'a'.repeat(201), '1'), 'source has more than 200 characters'],
      [line(11, 'a', '?'), 'source_id must have at least one letter or digit'],
    ]
    expect(await faultsOf(...wrong.map(([text]) => text))).toEqual(
      wrong.map(([, detail], index) => `line ${index + 2}: ${detail}`),
    )
    const crlf = JSON.stringify({
      question_id: uuidOf(1, 3),
      title: 't',
      opened_at: '2026-01-01T00:00:00Z',
      closes_at: '2026-02-01T00:00:00Z',
      background: 'a\r\nb',
    })
    await expect(importText('questions', 'q.ndjson', crlf)).rejects.toMatchObject({
      faults: [{ detail: 'background must end its lines with a line feed alone, not with U+000D' }],
    })
  })

  test('is of one source only: the message names the other question, in the file or the table', async () => {
    const taken = (id: string, other: number) =>
      `source_id "${id}" of source "a" is that of question ${uuidOf(1, other)}: import it under that question_id, or give it another source_id`
    await importTexts(line(3, 'a', '1'), line(4, 'a', '2'), line(5, 'b', '1'), line(6, '', ''))
    expect(await faultsOf(line(7, 'a', '9'), line(8, 'a', '1'), line(9, 'a', '9'))).toEqual([
      `line 3: ${taken('1', 3)}`,
      `line 4: ${taken('9', 7)}`,
    ])
    // What a file says of the other question counts: they may exchange their ids, or lose them.
    expect(await importTexts(line(3, 'a', '2'), line(4, 'a', '1'))).toMatchObject(changes(2))
    expect(await importTexts(line(3, '', ''), line(8, 'a', '2'))).toMatchObject({ added: 1, changed: 1 })
    expect(await faultsOf(line(9, 'a', '2'))).toEqual([`line 2: ${taken('2', 8)}`])
  })
})

describe('a time', () => {
  const SAME = [
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31 12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31 12:00+05:30', '2026-01-31T06:30:00.000Z'],
    ['2026-01-31 12:00+0530', '2026-01-31T06:30:00.000Z'],
    ['2026-01-31 12:00:00 -0500', '2026-01-31T17:00:00.000Z'],
    ['2026-01-31T12:00 +05', '2026-01-31T07:00:00.000Z'],
    ['2026-01-31 12:00:00.250 Z', '2026-01-31T12:00:00.250Z'],
    ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.1Z', '2026-01-31T12:00:00.100Z'],
    ['2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.123Z'],
    ['2026-01-31T12:00:00.9999999Z', '2026-01-31T12:00:00.999Z'],
    ['2026-01-31T12:00:00.999999999+00:00', '2026-01-31T12:00:00.999Z'],
    ['2026-01-31T12:00:00+05:30', '2026-01-31T06:30:00.000Z'],
    ['2026-01-31T12:00:00+0530', '2026-01-31T06:30:00.000Z'],
    ['2026-01-31T12:00:00-08', '2026-01-31T20:00:00.000Z'],
    ['2026-01-31T23:30:00.250-01:00', '2026-02-01T00:30:00.250Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ] as const
  test('is an instant, whatever its offset, rounded down to the millisecond', async () => {
    await importLines(
      'forecasts',
      SAME.map(([text], index) => forecast(`0.0000${index + 10}`, text).replace(PERSON, uuidOf(2, index))),
    )
    const rows = await rowsOf('forecasts')
    rows.sort((a, b) => Number(a['probability']) - Number(b['probability']))
    expect(instants(rows, 'forecast_at')).toEqual(SAME.map(([, instant]) => instant))
  })

  const NONE = [
    ['2026-01-31T12:00:00', '; no zone? see --timezone'],
    ['2026-01-31', '; a day? see --days, or write which time of it'],
    ['2026-02-30T00:00:00Z', ''],
    ['2025-02-29T00:00:00Z', ''],
    ['2026-13-01T00:00:00Z', ''],
    ['2026-01-31T25:00:00Z', ''],
    ['2026-01-31T12:60:00Z', ''],
    ['2026-01-31T12:00:61Z', ''],
    ['2026-01-31T12:00:00+24:00', ''],
    ['2026-01-31T12:00:00+99:99', ''],
    ['2026-01-31T12:00:00 UTC', '; the name of a zone? write Z for UTC, or an offset'],
    ['2026-01-31T12:00:00.1234567890Z', ''],
    ['4:34 PM', '; a clock of twelve hours? write 2026-01-31T16:34:00Z for 4:34 PM'],
    ['2026-01-31 04:34:00 PM', '; a clock of twelve hours? write 2026-01-31T16:34:00Z for 4:34 PM'],
    ['1/31/2026 4:34 p.m. EST', '; a clock of twelve hours? write 2026-01-31T16:34:00Z for 4:34 PM'],
    ['31.01.2026 12:00:00Z', '; day and month may be either? write 2026-01-31'],
    ['1769860800', '; seconds since 1970? see --epoch s'],
    ['1769860800.0', '; seconds since 1970? see --epoch s'],
    ['1.7698608e9', '; seconds since 1970? see --epoch s'],
    ['1769860800000', '; milliseconds since 1970? see --epoch ms'],
    ['1769860800000000', '; microseconds since 1970? see --epoch us'],
    ['1769860800000000000', '; nanoseconds since 1970? write 2026-01-31T12:00:00Z'],
    ['yesterday', ''],
    ['infinity', ''],
    ['1969-12-31T23:59:59Z', ''],
    ['2200-01-01T00:00:00Z', ''],
  ] as const
  test('without an offset, on a day that does not exist, or out of range is refused', async () => {
    // A refusal names twenty rows.
    for (const some of [NONE.slice(0, 13), NONE.slice(13)]) {
      await expectEachRefused(
        'forecasts',
        some.map(([text, hint]) => [
          text,
          forecast('0.5', text),
          `forecast_at is "${text}", not a time with an offset such as 2026-01-31T12:00:00Z${hint}`,
        ]),
      )
    }
  })

  test('in the future is refused for events and accepted for plans', async () => {
    const future = '2026-03-02T00:00:00Z'
    expect((await refused('forecasts', [forecast('0.5', future)])).faults[0]?.detail).toBe(
      `forecast_at is "${future}", later than now`,
    )
    expect((await refused('resolutions', [`${QUESTION},yes,${future}`])).faults[0]?.detail).toBe(
      `resolved_at is "${future}", later than now`,
    )
    expect(
      await importLines('questions', [`${uuidOf(1, 9)},t,,,,${future},2027-01-01T00:00:00Z`]),
    ).toMatchObject(counts(1))
  })
})

describe('resolutions', () => {
  test('of known questions are accepted, and replaced by later ones', async () => {
    const line = (outcome: string) => [`${QUESTION},${outcome},2026-01-20T00:00:00Z`]
    expect(await importLines('resolutions', line('yes'))).toMatchObject(counts(1))
    expect(await importLines('resolutions', line('yes'))).toMatchObject(counts(0, 1))
    expect(await importLines('resolutions', line('annulled'))).toMatchObject(changes(1))
    expect((await rowsOf('resolutions')).map(({ outcome }) => String(outcome)).toSorted()).toEqual([
      'annulled',
      'yes',
    ])
  })

  test('said later count later, although the first were imported under a clock ten minutes ahead', async () => {
    const line = (outcome: string) => [`${QUESTION},${outcome},2026-01-20T00:00:00Z`]
    const startMs = clock.now().getTime()
    const at = (minutes: number) => new Date(startMs + minutes * 60_000).toISOString()
    clock.set(at(10))
    expect(await importLines('resolutions', line('yes'))).toMatchObject({ clock_behind_ms: 0 })
    for (const [minutes, outcome] of [
      [0, 'no'],
      [1, 'yes'],
      [2, 'annulled'],
      [3, 'no'],
    ] as const) {
      clock.set(at(minutes))
      const { changed, clock_behind_ms } = await importLines('resolutions', line(outcome))
      expect(changed).toBe(1)
      expect(clock_behind_ms).toBeGreaterThanOrEqual((10 - minutes) * 60_000)
      expect(await current('resolutions', 'outcome'), at(minutes)).toBe(outcome)
      expect(await importLines('resolutions', line(outcome))).toMatchObject(counts(0, 1))
    }
    const recorded = (await rowsOf('resolutions')).map(({ recorded_at }) => (recorded_at as Date).getTime())
    expect(recorded.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4].map((ms) => startMs + 600_000 + ms))
    clock.set(at(0))
  })

  test('are withdrawn by the outcome open: a row like others, which repeats and is replaced', async () => {
    const line = (outcome: string, day = 20) => [`${QUESTION},${outcome},2026-01-${day}T00:00:00Z`]
    await importLines('resolutions', line('yes'))
    expect(await importLines('resolutions', line('open', 25))).toMatchObject(changes(1))
    expect(await current('resolutions', 'outcome')).toBe('open')
    const before = await contentOf(components.store)
    expect(await importLines('resolutions', line('open', 25))).toMatchObject(counts(0, 1))
    expect(await contentOf(components.store)).toEqual(before)
    // It may have been at another time, and the outcome may come again.
    expect(await importLines('resolutions', line('open', 26))).toMatchObject(changes(1))
    expect(await importLines('resolutions', line('yes'))).toMatchObject(changes(1))
    expect((await rowsOf('resolutions')).map(({ outcome }) => String(outcome)).toSorted()).toEqual([
      'open',
      'open',
      'yes',
      'yes',
    ])
  })

  const wrong = [
    [
      'nothing to withdraw',
      `${SECOND_QUESTION},open,2026-01-20T00:00:00Z`,
      `outcome is "open", but question_id "${SECOND_QUESTION}" has no resolution to withdraw; leave the row out`,
    ],
    ['a withdrawal without a time', `${QUESTION},open,`, 'resolved_at is missing'],
    [
      'an unknown question',
      `${uuidOf(9, 9)},yes,2026-01-20T00:00:00Z`,
      `question_id "${uuidOf(9, 9)}" is not a known question; import the question first`,
    ],
    [
      'an unknown outcome',
      `${QUESTION},maybe,2026-01-20T00:00:00Z`,
      'outcome is "maybe", not one of yes, no, annulled, open; see --outcomes',
    ],
    [
      'an outcome in capitals',
      `${QUESTION},YES,2026-01-20T00:00:00Z`,
      'outcome is "YES", not one of yes, no, annulled, open; see --outcomes',
    ],
    ['no outcome', `${QUESTION},,2026-01-20T00:00:00Z`, 'outcome is missing'],
    ['no time', `${QUESTION},no,`, 'resolved_at is missing'],
  ] as const
  test('are refused if a value is wrong', async () => {
    await expectEachRefused('resolutions', wrong)
  })

  test('that contradict each other in one file are refused', async () => {
    const { faults } = await refused('resolutions', [
      `${QUESTION},yes,2026-01-20T00:00:00Z`,
      `${QUESTION},no,2026-01-20T00:00:00Z`,
    ])
    expect(faults).toEqual([{ pointer: 'line 3', detail: `question_id "${QUESTION}" appears a second time` }])
  })
})

describe('forecasters', () => {
  test('may have a name, and lose it', async () => {
    expect(await importLines('forecasters', [`${PERSON},Ada`, `${uuidOf(2, 2)},`])).toMatchObject(counts(2))
    expect(await namesOf(components.store, [PERSON])).toEqual(['Ada'])
    expect(await importLines('forecasters', [`${PERSON},`])).toMatchObject(changes(1))
    expect(await rowsOf('forecasters')).toHaveLength(2)
    expect(await namesOf(components.store, [PERSON, uuidOf(2, 2)])).toEqual([null, null])
  })

  test('are refused with names that deceive, of which the first twenty are named by line', async () => {
    const named = (index: number, text: string) => `${uuidOf(2, index)},${text}`
    const lines = Array.from({ length: 30 }, (_, index) =>
      named(index, index % 3 === 0 ? `person ${index}` : `person\u200b${index}`),
    )
    const { message, faults } = await refused('forecasters', lines)
    expect(message).toMatch(/: 20 bad rows; nothing was imported$/)
    expect(faults.map(({ pointer }) => pointer)).toEqual(
      lines.flatMap((line, index) => (line.includes('\u200b') ? [`line ${index + 2}`] : [])),
    )
    for (const { detail } of faults)
      expect(detail).toMatch(/^display_name must not have the character U\+200B/)
  })

  test('may have names of every script, in a file of every format', async () => {
    const names = ['می\u200cخواهم', 'क्\u200dष', '日本語', 'us 👨\u200d👩\u200d👧', 'Löbel']
    await importLines(
      'forecasters',
      names.map((text, index) => `${uuidOf(2, index)},${text}`),
    )
    const ids = names.map((_, index) => uuidOf(2, index))
    expect(await namesOf(components.store, ids)).toEqual(names)
    const rows = names.map((text, index) => JSON.stringify({ user_id: uuidOf(3, index), display_name: text }))
    expect(await importText('forecasters', 'forecasters.ndjson', rows.join('\n'))).toMatchObject(counts(5))
  })

  test('are created by a forecast, once and without a name', async () => {
    expect(
      await importLines('forecasts', [forecast('0.5'), forecast('0.6', '2026-01-06T00:00:00Z')]),
    ).toMatchObject(counts(2, 0, 1))
    expect(await importLines('forecasts', [forecast('0.7', '2026-01-07T00:00:00Z')])).toMatchObject(
      counts(1, 0, 0),
    )
    expect(await rowsOf('forecasters')).toMatchObject([{ user_id: PERSON }])
  })
})

describe('forecasts', () => {
  test('have ids that are version 5 UUIDs of their content', async () => {
    await importLines('forecasts', [
      forecast('0.1234567', '2026-01-05T02:00:00.1239+02:00'),
      forecast('1'),
      forecast('0', '2026-01-05T00:00:01Z'),
    ])
    const nameOf = (ppm: number, at: string) =>
      ['forecaster', PERSON, QUESTION, ppm, Date.parse(at)].join('|')
    const ids = (await rowsOf('forecasts')).map(({ forecast_id }) => String(forecast_id))
    expect(ids.toSorted()).toEqual(
      [
        uuidv5(nameOf(123_457, '2026-01-05T00:00:00.123Z'), FORECAST_IDS),
        uuidv5(nameOf(1_000_000, '2026-01-05T00:00:00Z'), FORECAST_IDS),
        uuidv5(nameOf(0, '2026-01-05T00:00:01Z'), FORECAST_IDS),
      ].toSorted(),
    )
  })

  test('are the same forecast however their values are written', async () => {
    const same = [
      forecast('0.5'),
      forecast('0.50'),
      forecast('5e-1'),
      forecast('0.5000004'),
      forecast('0.5', '2026-01-05T01:00:00.0004+01:00'),
      forecast('0.5').toUpperCase().replace('FORECASTER', 'forecaster').replace('T00', 'T00'),
    ]
    expect(await importLines('forecasts', same)).toMatchObject(counts(1, 5, 1))
    expect(await importLines('forecasts', same)).toMatchObject(counts(0, 6, 0))
    const json = JSON.stringify({
      entity_type: 'forecaster',
      entity_id: PERSON,
      question_id: QUESTION,
      probability: 0.5,
      forecast_at: '2026-01-05T00:00:00Z',
    })
    expect(await importText('forecasts', 'same.ndjson', json)).toMatchObject(counts(0, 1, 0))
    expect(await rowsOf('forecasts')).toHaveLength(1)
  })

  test('imported twice change nothing in the store', async () => {
    const lines = [forecast('0.5'), forecast('0.6', '2026-01-06T00:00:00Z')]
    await importLines('forecasts', lines)
    const before = await contentOf(components.store)
    expect(await importLines('forecasts', lines.toReversed())).toMatchObject(counts(0, 2))
    expect(await contentOf(components.store)).toEqual(before)
  })

  const HELD = [
    ['0', 0],
    ['-0', 0],
    ['1', 1],
    ['.5', 0.5],
    ['1e-3', 0.001],
    ['1e-400', 0],
    ['0.0000005', 0],
    ['0.0000015', 0.000002],
    ['0.9999999', 1],
  ] as const
  test('keep six decimals of a probability, rounded half to even', async () => {
    await importLines(
      'forecasts',
      HELD.map(([text], index) => forecast(text, new Date(Date.UTC(2026, 0, 5) + index).toISOString())),
    )
    const rows = await rowsOf('forecasts')
    rows.sort((a, b) => Number(a['forecast_at']) - Number(b['forecast_at']))
    expect(rows.map(({ probability }) => probability)).toEqual(HELD.map(([, held]) => held))
  })

  const NO_PROBABILITIES = [
    '1.0000001',
    '-0.0000001',
    '2',
    'nan',
    'NaN',
    'inf',
    '-inf',
    '1e400',
    'half',
    '50%',
    '1/2',
    '0x1',
    'true',
    '1_0e-2',
    '½',
  ]
  const PERCENTAGES = ['1.0000001', '2', '50%']
  test('are refused with an invalid probability', async () => {
    await expectEachRefused(
      'forecasts',
      NO_PROBABILITIES.map((text) => [
        text,
        forecast(text),
        `probability is "${text}", not a number from 0 to 1${PERCENTAGES.includes(text) ? '; a percentage? see --percent' : ''}`,
      ]),
    )
  })

  const wrong = [
    [
      'an unknown question',
      `forecaster,${PERSON},${uuidOf(9, 9)},0.5,2026-01-05T00:00:00Z`,
      `question_id "${uuidOf(9, 9)}" is not a known question; import the question first`,
    ],
    [
      'an unknown kind of entity',
      `team,${PERSON},${QUESTION},0.5,2026-01-05T00:00:00Z`,
      'entity_type is "team", not forecaster',
    ],
    ['an agent', `agent,${PERSON},${QUESTION},0.5,2026-01-05T00:00:00Z`, OF_AGENT],
    ['an entity without an id', `forecaster,,${QUESTION},0.5,2026-01-05T00:00:00Z`, 'entity_id is missing'],
    [
      'an id that is too long',
      `forecaster,${PERSON}0,${QUESTION},0.5,2026-01-05T00:00:00Z`,
      `entity_id is "${PERSON}0", not a UUID; an id of your own? see --ids`,
    ],
    ['a word for a missing value', forecast('NaN'), 'probability is "NaN", not a number from 0 to 1'],
  ] as const
  test('are refused if another value is wrong', async () => {
    await expectEachRefused('forecasts', wrong)
  })

  test.for(['production', 'sandbox'] as const)(
    'of an agent that is registered are refused: %s',
    async (environment) => {
      components = await testComponents({ store: copyOf(prepared), clock, folder, environment })
      const service = await startTestService(components)
      const { agentId } = await registerAgent(service.client)
      await service.stop()
      // This takes in the registration.
      expect(await importLines('forecasts', [forecast('0.5')])).toMatchObject(counts(1, 0, 1))
      const line = `agent,${agentId},${QUESTION},0.5,2026-01-05T00:00:00Z`
      expect((await refused('forecasts', [line])).faults).toEqual([{ pointer: 'line 2', detail: OF_AGENT }])
    },
  )

  test('are withdrawn by a word in the place of a probability, once however often it is imported', async () => {
    const lines = [forecast('0.5'), forecast('Withdrawn', '2026-01-06T00:00:00Z')]
    expect(await importLines('forecasts', lines)).toMatchObject(counts(2, 0, 1))
    expect(await importLines('forecasts', lines)).toMatchObject(counts(0, 2, 0))
    const rows = await rowsOf('forecasts')
    expect(new Set(rows.map((row) => row['probability']))).toEqual(new Set([0.5, null]))
  })

  test('of an agent that an earlier version imported count for nothing', async () => {
    await send(components.store, 'agents', 'a', [
      {
        agent_id: AGENT,
        name: 'an agent',
        model_type: 'none',
        organization_name: null,
        owner_id: null,
        registered_at: clock.now(),
        retired_at: null,
        recorded_at: clock.now(),
      },
    ])
    await send(components.store, 'forecasts', 'a', [
      {
        forecast_id: uuidv5(`agent|${AGENT}|${QUESTION}|500000|0`, FORECAST_IDS),
        entity_type: 'agent',
        entity_id: AGENT,
        question_id: QUESTION,
        probability: 0.5,
        forecast_at: new Date('2026-01-05T00:00:00Z'),
        recorded_at: clock.now(),
        source: 'import',
      },
    ])
    await importLines('resolutions', [`${QUESTION},yes,2026-01-20T00:00:00Z`])
    await release(components)
    const { files } = (await readManifest(components.store, 1))!
    const shard = await readReleaseShard(components.store, 1, shardFile(files, 'agent', AGENT)!)
    expect(shard.entities[AGENT]!.metrics.payload).toMatchObject({
      resolved_questions: 0,
      forecasts: 0,
      witnessed_share: null,
    })
  })
})

describe('a file with bad rows', () => {
  test('names the first twenty by line, with the first reason of each, and counts the rest', async () => {
    const lines = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0 ? forecast('0.5') : `"robot\n${index}",x,y,z,never`,
    )
    const { message, faults } = await refused('forecasts', lines)
    expect(message).toMatch(
      /forecasts\.csv: 25 bad rows \(the first 20 are named, 5 more are not\); nothing was imported$/,
    )
    // Every bad row has two lines in the file.
    expect(faults.map(({ pointer }) => pointer)).toEqual(
      Array.from({ length: 20 }, (_, index) => `line ${3 * index + 3}`),
    )
    expect(faults[1]?.detail).toBe('entity_type is "robot\n3", not forecaster')
  })

  test('shows only the beginning of a long value', async () => {
    const { faults } = await refused('forecasts', [forecast('9'.repeat(500))])
    expect(faults[0]?.detail).toBe(`probability is "${'9'.repeat(80)}…", not a number from 0 to 1`)
  })

  test('names rows of NDJSON by line and of Parquet by row', async () => {
    const json = (probability: number) =>
      JSON.stringify({
        entity_type: 'forecaster',
        entity_id: PERSON,
        question_id: QUESTION,
        probability,
        forecast_at: '2026-01-05T00:00:00Z',
      })
    await expect(importText('forecasts', 'rows.ndjson', `${json(1)}\n\n${json(2)}\n`)).rejects.toMatchObject({
      faults: [
        {
          pointer: 'line 3',
          detail: 'probability is "2", not a number from 0 to 1; a percentage? see --percent',
        },
      ],
    })
    using database = await components.openDatabase()
    const path = join(components.directory, 'bad.parquet')
    await database.run(
      `COPY (SELECT 'forecaster' AS entity_type, '${PERSON}' AS entity_id, '${QUESTION}' AS question_id, p AS probability,
         TIMESTAMPTZ '2026-01-05 00:00:00Z' AS forecast_at FROM (VALUES (0.5::DOUBLE), ('NaN'::DOUBLE)) v(p))
       TO '${path}' (FORMAT parquet)`,
    )
    await expect(runImport(components, 'forecasts', path)).rejects.toMatchObject({
      faults: [{ pointer: 'row 2', detail: 'probability is "nan", not a number from 0 to 1' }],
    })
  })
})

describe('every table in every format', () => {
  const VALUES: Record<ImportKind, string[]> = {
    questions: [`${uuidOf(1, 3)},"A, ""b"" c?",cat,,series,2026-01-01T00:00:00.123Z,2026-02-01T00:00:00Z`],
    resolutions: [`${QUESTION},yes,2026-01-20T00:00:00Z`, `${SECOND_QUESTION},annulled,2026-01-21T00:00:00Z`],
    forecasters: [`${PERSON},Ada 🦉`, `${uuidOf(2, 2)},`],
    forecasts: [forecast('0.123457'), forecast('1', '2026-01-06T00:00:00.999Z')],
  }

  test.for(IMPORTS)('gives the same %s', async (kind) => {
    await importLines(kind, VALUES[kind])
    const expected = await rowsOf(kind)
    const csv = join(components.directory, `${kind}.csv`)
    for (const format of ['json', 'parquet'] as const) {
      components = await testComponents({ store: copyOf(prepared), clock, folder })
      const path = join(components.directory, format === 'json' ? `${kind}.ndjson` : `${kind}.parquet`)
      using database = await components.openDatabase()
      await database.run(`COPY (FROM read_csv('${csv}', all_varchar = true)) TO '${path}' (FORMAT ${format})`)
      expect((await runImport(components, kind, path)).json).toMatchObject({ added: VALUES[kind].length })
      expect(await rowsOf(kind), format).toEqual(expected)
    }
  })
})

describe('Parquet with its own types', () => {
  test('gives the same forecasts as CSV', async () => {
    await importLines('forecasts', [forecast('0.1'), forecast('0.25', '2026-01-06T00:00:00.123Z')])
    using database = await components.openDatabase()
    const path = join(components.directory, 'typed.parquet')
    await database.run(
      `COPY (SELECT 'forecaster' AS entity_type, UUID '${PERSON}' AS entity_id, UUID '${QUESTION}' AS question_id, p AS probability, t AS forecast_at
         FROM (VALUES (0.1::FLOAT, TIMESTAMPTZ '2026-01-05 00:00:00Z'), (0.25, TIMESTAMPTZ '2026-01-06 00:00:00.123456Z')) v(p, t))
       TO '${path}' (FORMAT parquet)`,
    )
    expect((await runImport(components, 'forecasts', path)).json).toMatchObject(counts(0, 2))
  })
})

describe('an import beside a release', () => {
  test('is in it as a whole or waits for the next', async () => {
    const others = await testComponents({ store: components.store, clock, folder })
    const lines = Array.from({ length: 200 }, (_, index) =>
      forecast('0.5', new Date(Date.UTC(2026, 0, 5) + index).toISOString()),
    )
    const [imported] = await Promise.all([importLines('forecasts', lines), release(others)])
    expect(imported).toMatchObject(counts(200, 0, 1))
    const ids = (await rowsOf('forecasts')).map(({ forecast_id }) => forecast_id)
    expect([ids.length, new Set(ids).size]).toEqual([200, 200])
  })
})
