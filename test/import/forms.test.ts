// The same rows in every form of a file: the checks and their words are the same. Each case is tried as CSV,
// NDJSON, JSON, a list inside a document of JSON, and Parquet.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runTrial } from '../../jobs/import/import.ts'
import { Database, literal } from '../../pipeline/duckdb.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { openInput } from '../../pipeline/import/input.ts'
import { openJson } from '../../pipeline/import/json-file.ts'
import { type GivenOptions, parseOptions } from '../../pipeline/import/options.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { sample } from '../support/runs.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import type { Components } from '../../jobs/components/components.ts'

type Row = Readonly<Record<string, string | number | boolean | null>>

const NAMESPACE = '6ba7b814-9dad-11d1-80b4-00c04fd430c8'
const TEXT_IDS = { ids: 'text', namespace: [NAMESPACE, NAMESPACE] }
const QUESTION = '0198c1a0-0000-7000-8000-000000000001'
const FORMS = ['csv', 'ndjson', 'json', 'document.json', 'parquet'] as const

const folder = await suiteFolder()
let components: Components
beforeAll(async () => {
  components = await testComponents({
    store: new MemoryStore(),
    clock: new Clock('2026-11-26T12:00:00.000Z'),
    folder,
  })
  const header = 'question_id,title,opened_at,closes_at'
  await importRows(
    components,
    'questions',
    `${header}\n${QUESTION},Will it?,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z\n`,
  )
})

/** Writes rows that all have the same columns. Returns the options that the form needs. */
async function written(
  rows: readonly Row[],
  form: (typeof FORMS)[number],
  path: string,
): Promise<GivenOptions> {
  const names = Object.keys(rows[0]!)
  switch (form) {
    case 'csv': {
      const lines = rows.map((row) => names.map((name) => String(row[name] ?? '')).join(','))
      await writeFile(path, [names.join(','), ...lines, ''].join('\n'))
      return {}
    }
    case 'ndjson':
      await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      return {}
    case 'json':
      await writeFile(path, JSON.stringify(rows))
      return {}
    case 'document.json':
      await writeFile(path, JSON.stringify({ next: null, data: { others: [], rows } }))
      return { rows: 'data.rows' }
    case 'parquet': {
      using database = await components.openDatabase()
      await writeFile(`${path}.json`, JSON.stringify(rows))
      await database.run(
        `COPY (FROM read_json(${literal(`${path}.json`)}, convert_strings_to_integers = false, dateformat = 'none', timestampformat = 'none'))
         TO ${literal(path)} (FORMAT parquet)`,
      )
      return {}
    }
  }
}

/** Returns all that a dry run says of rows, without the name of the file and the places of rows. */
async function saidOf(
  kind: ImportKind,
  rows: readonly Row[],
  options: GivenOptions,
  form: (typeof FORMS)[number],
): Promise<unknown> {
  const path = join(components.directory, `rows.${form}`)
  const given = { ...options, ...(await written(rows, form, path)) }
  try {
    const { json } = await runTrial(components, kind, path, parseOptions(kind, given))
    const { errors, ...counts } = json as { errors: { detail: string }[] }
    return { ...counts, errors: errors.map(({ detail }) => detail) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error.message.replaceAll(path, 'FILE').replace(/; the header that was found.*/s, '')
  }
}

const question = (more: Row = {}): Row => ({
  id: 'a',
  title: 'Will it?',
  o: '2025-01-01T00:00:00Z',
  c: '2025-06-01T00:00:00Z',
  event_ticker: 'E1',
  ...more,
})
const MAP = ['question_id=id', 'opened_at=o', 'closes_at=c']
const PLAIN = { ...TEXT_IDS, ignoreUnknown: true, map: MAP }
const forecast = (p: Row['p'], type: string): Row => ({ q: QUESTION, p: p!, type })
const FORECASTS = {
  ignoreUnknown: true,
  map: ['question_id=q', 'probability=p'],
  set: ['entity_type=forecaster', `entity_id=${QUESTION}`, 'forecast_at=2026-01-15T00:00:00Z'],
}
const resolution = (outcome: Row['outcome']): Row => ({
  question_id: QUESTION,
  outcome: outcome!,
  resolved_at: '2026-02-02T00:00:00Z',
})

type Case = readonly [
  name: string,
  kind: ImportKind,
  rows: readonly Row[],
  options: GivenOptions,
  expected: unknown,
]

const CASES: readonly Case[] = [
  ['good rows', 'questions', [question(), question({ id: 'b' })], PLAIN, { added: 2, bad: 0 }],
  [
    'a mistyped --map',
    'questions',
    [question()],
    { ...PLAIN, map: [...MAP, 'event_id=event_tiker'] },
    expect.stringMatching(/^FILE has not the columns that --map names: "event_tiker"/),
  ],
  [
    'a mistyped --where',
    'questions',
    [question()],
    { ...PLAIN, where: ['tipe=binary'] },
    expect.stringMatching(/^FILE has not the columns that --where names: "tipe"/),
  ],
  [
    'a path that leads nowhere',
    'questions',
    [question()],
    { ...PLAIN, map: [...MAP, 'event_id=event.ticker'] },
    expect.stringMatching(/^FILE has not the columns that --map names: "event.ticker"/),
  ],
  [
    'a required column that no row has',
    'questions',
    [question()],
    { ...PLAIN, map: MAP.slice(0, 2) },
    expect.stringMatching(/^FILE lacks "closes_at"/),
  ],
  [
    'columns that no table has',
    'questions',
    [question()],
    { ...TEXT_IDS, map: MAP },
    expect.stringMatching(/^FILE has unknown "event_ticker".*see --map and --ignore-unknown$/),
  ],
  [
    'a column beside the one that --map names for it',
    'questions',
    [question({ question_id: 'z' })],
    PLAIN,
    expect.stringMatching(/^FILE has two columns for question_id, its own and the one that --map names/),
  ],
  [
    'a source that --set gives, and a column of that name for something else',
    'questions',
    [question({ source: 'K-1' })],
    { ...PLAIN, map: [...MAP, 'source_id=source'], set: ['source=kalshi'] },
    { added: 1, bad: 0 },
  ],
  [
    'an empty value',
    'questions',
    [question(), question({ id: 'b', title: null })],
    PLAIN,
    { added: 1, bad: 1, errors: ['title is missing'] },
  ],
  [
    'a bad row that --where leaves out',
    'forecasts',
    [forecast('0.3', 'binary'), forecast('abc', 'numeric')],
    { ...FORECASTS, where: ['type=binary'] },
    { rows: 1, added: 1, bad: 0, unwanted: 1 },
  ],
  [
    'a bad row that --where wants',
    'forecasts',
    [forecast('0.3', 'binary'), forecast('abc', 'binary')],
    { ...FORECASTS, where: ['type=binary'] },
    { rows: 2, added: 1, bad: 1, errors: ['probability is "abc", not a number from 0 to 1'] },
  ],
  [
    'booleans as outcomes',
    'resolutions',
    [resolution(true)],
    { outcomes: 'yes=true,no=false' },
    { added: 1, bad: 0 },
  ],
  [
    'booleans that nobody explained',
    'resolutions',
    [resolution(false)],
    {},
    { added: 0, errors: ['outcome is "false", not one of yes, no, annulled, open; see --outcomes'] },
  ],
  ['numbers as outcomes', 'resolutions', [resolution(1)], { outcomes: 'yes=1,no=0' }, { added: 1, bad: 0 }],
  [
    'numbers with a fraction of zero',
    'resolutions',
    [resolution('1.0')],
    { outcomes: 'yes=1,no=0' },
    { added: 1, bad: 0 },
  ],
  [
    'milliseconds since 1970',
    'questions',
    [question({ o: 1735689600000 })],
    PLAIN,
    {
      bad: 1,
      errors: [
        'opened_at is "1735689600000", not a time with an offset such as 2026-01-31T12:00:00Z; milliseconds since 1970? see --epoch ms',
      ],
    },
  ],
]

describe.each(sample(CASES))('%s', (_, kind, rows, options, expected) => {
  test.each(FORMS)('in %s', async (form) => {
    const said = await saidOf(kind, rows, options, form)
    if (typeof said === 'string') expect(said).toEqual(expected)
    else expect(said).toMatchObject(expected as object)
    expect(said).toEqual(await saidOf(kind, rows, options, 'csv'))
  })
})

describe('values with parts', () => {
  const row = (id: string, event: unknown) => ({ ...question({ id }), event })
  const rows = [row('a', { ticker: 'E1' }), row('b', { ticker: 'E1' }), row('c', null)]
  const NESTED = FORMS.filter((form) => form !== 'csv')
  test.each(NESTED)('are entered by a path, in %s', async (form) => {
    const options = { ...TEXT_IDS, map: [...MAP, 'event_id=event.ticker'], ignoreUnknown: true }
    expect(await saidOf('questions', rows as never, options, form)).toMatchObject({ added: 3, bad: 0 })
    expect(
      await saidOf('questions', rows as never, { ...options, where: ['event.ticker=E1'] }, form),
    ).toMatchObject({
      added: 2,
      unwanted: 1,
    })
  })

  test.each(NESTED)('are no texts, in %s', async (form) => {
    const options = { ...PLAIN, map: [...MAP, 'event_id=event'] }
    expect(await saidOf('questions', rows as never, options, form)).toMatchObject({
      added: 1,
      errors: ['event is neither text nor a number', 'event is neither text nor a number'],
    })
    expect(await saidOf('questions', rows as never, { ...options, where: ['id=c'] }, form)).toMatchObject({
      added: 1,
      bad: 0,
    })
  })
})

describe('--rows', () => {
  const path = (name: string) => join(components.directory, name)
  const tried = (file: string, rows: string) =>
    runTrial(
      components,
      'questions',
      file,
      parseOptions('questions', { ...PLAIN, rows, map: [...MAP, 'source_id=slug'], set: ['source=x'] }),
    )

  test('names a list in each document of a list, whose other members are those of its rows', async () => {
    await writeFile(
      path('events.json'),
      JSON.stringify([
        { slug: 'e1', markets: [question()] },
        { slug: 'e2', markets: [question({ id: 'b' })] },
      ]),
    )
    expect((await tried(path('events.json'), 'markets')).json).toMatchObject({ rows: 2, added: 2, bad: 0 })
  })

  test('takes no memory for each row times the members around the list', async () => {
    const markets = Array.from({ length: 5000 }, (_, index) => ({ id: `m${index}` }))
    await writeFile(path('large.json'), JSON.stringify({ text: 'x'.repeat(50_000), markets }))
    const settings = { threads: 2, memoryLimit: '300MB', directory: join(components.directory, 'spill') }
    using database = await Database.open(settings)
    const input = await openInput(path('large.json'), components.directory)
    const { around } = await openJson(
      database,
      input,
      { required: [], optional: [] },
      parseOptions('questions', { ...PLAIN, rows: 'markets' }),
    )
    expect(around).toEqual(['text'])
  })

  test('that leads to no list is refused, and so is a form without lists', async () => {
    await writeFile(path('events.json'), JSON.stringify([{ slug: 'e1', markets: [] }, { slug: 'e2' }]))
    await expect(tried(path('events.json'), 'markets')).rejects.toThrow(
      'events.json has no list at "markets", which --rows names',
    )
    await writeFile(path('events.csv'), 'id\na\n')
    await expect(tried(path('events.csv'), 'markets')).rejects.toThrow(
      /--rows names a list inside JSON, and .*events.csv is csv/,
    )
  })
})
