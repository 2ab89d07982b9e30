// Importing: the checks of a row, the rows that are written, and that a refused file writes nothing.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { v5 as uuidv5 } from 'uuid'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { runImport } from '../../jobs/import/import.ts'
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

  test('is many lines as they were written, in a file of every format', { tags: ['slow'] }, async () => {
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

  test('is refused if a value is wrong', { tags: ['slow'] }, async () => {
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
})

describe('resolutions', () => {
  test(
    'said later count later, although the first were imported under a clock ten minutes ahead',
    { tags: ['slow'] },
    async () => {
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
    },
  )
})

describe('forecasters', () => {
  test('may have a name, and lose it', async () => {
    expect(await importLines('forecasters', [`${PERSON},Ada`, `${uuidOf(2, 2)},`])).toMatchObject(counts(2))
    expect(await namesOf(components.store, [PERSON])).toEqual(['Ada'])
    expect(await importLines('forecasters', [`${PERSON},`])).toMatchObject(changes(1))
    expect(await rowsOf('forecasters')).toHaveLength(2)
    expect(await namesOf(components.store, [PERSON, uuidOf(2, 2)])).toEqual([null, null])
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

  test('imported twice change nothing in the store', { tags: ['slow'] }, async () => {
    const lines = [forecast('0.5'), forecast('0.6', '2026-01-06T00:00:00Z')]
    await importLines('forecasts', lines)
    const before = await contentOf(components.store)
    expect(await importLines('forecasts', lines.toReversed())).toMatchObject(counts(0, 2))
    expect(await contentOf(components.store)).toEqual(before)
  })

  test.for(['production', 'sandbox'] as const)(
    'of an agent that is registered are refused: %s',
    { tags: ['slow'] },
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

  test('of an agent that an earlier version imported count for nothing', { tags: ['slow'] }, async () => {
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

  test.for(IMPORTS)('gives the same %s', { tags: ['slow'] }, async (kind) => {
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
  test('is in it as a whole or waits for the next', { tags: ['slow'] }, async () => {
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
