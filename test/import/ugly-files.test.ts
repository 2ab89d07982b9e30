// Files that no case of `cases/` holds: large ones, Parquet, standard input, those whose size or format is
// made up, and what only the tables show of them. Options that are refused without a file.
import { createReadStream } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { v5 as uuidv5 } from 'uuid'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { reportTemplate, runImport, runTrial } from '../../jobs/import/import.ts'
import { IMPORTS, type ImportKind } from '../../pipeline/import/columns.ts'
import { openInput } from '../../pipeline/import/input.ts'
import { type GivenOptions, parseOptions } from '../../pipeline/import/options.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { namesOf } from '../support/people.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const P = uuidOf(2, 1)
const NAMESPACE = '6ba7b812-9dad-11d1-80b4-00c04fd430c8'
const IDS = { ids: 'text', namespace: NAMESPACE }
const lines = (...texts: string[]) => `${texts.join('\n')}\n`
const questions = (...rows: string[]) => lines('question_id,title,opened_at,closes_at', ...rows)
const resolutions = (...rows: string[]) => lines('question_id,outcome,resolved_at', ...rows)
const forecasts = (...rows: string[]) =>
  lines('entity_type,entity_id,question_id,probability,forecast_at', ...rows)
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')

const folder = await suiteFolder()
const clock = new Clock(NOW)
let prepared: MemoryStore
let components: Components

/** A store with a question, whose id is that of the text q1, and a copy of it for each test. */
beforeAll(async () => {
  prepared = new MemoryStore()
  components = await testComponents({ store: prepared, clock, folder })
  const id = uuidv5('q1', NAMESPACE)
  await importRows(
    components,
    'questions',
    questions(`${id},Will it?,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`),
  )
})
beforeEach(async () => {
  components = await testComponents({ store: copyOf(prepared), clock, folder })
})

/** What the import says: the report, or the message and faults of the refusal. */
async function said(kind: ImportKind, name: string, content: string, options: GivenOptions = {}) {
  const path = join(components.directory, name)
  await writeFile(path, content)
  const before = await contentOf(components.store)
  try {
    const { text } = await runImport(components, kind, path, parseOptions(kind, options))
    return text.replace(/\nimport .*$/, '')
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    expect(error.kind).toBe('invalid')
    expect(await contentOf(components.store)).toEqual(before)
    const faults = error.faults.map(({ pointer, detail }) => `${pointer}: ${detail}`)
    return [error.message.replaceAll(`${components.directory}/`, ''), ...faults].join('\n')
  }
}

async function rowsOf(table: string): Promise<Record<string, unknown>[]> {
  using database = await components.openDatabase()
  await attachAll(database, components.local, await currentVersions(components.store))
  return await database.rows(`SELECT * EXCLUDE (recorded_at) FROM ${table} ORDER BY ALL`)
}
const forecasters = async () => (await rowsOf('forecasters')).map((row) => String(row['user_id']))

test.for([
  [
    'a header of a hundred thousand bytes',
    'a.csv',
    `user_id,${'x'.repeat(100_000)}\n`,
    'a.csv has a first line of more than 65535 bytes',
  ],
  ['ten thousand columns', 'a.csv', `user_id${',x'.repeat(10_000)}\n`, 'a.csv has more than 1000 columns'],
  [
    'a line of three megabytes',
    'a.csv',
    `user_id,display_name\n${P},${'x'.repeat(3_000_000)}\n`,
    'a.csv: 1 bad row; nothing was imported\nline 2: Maximum line size of 2000000 bytes exceeded. Actual Size:3000037 bytes',
  ],
  [
    'brackets in brackets',
    'a.ndjson',
    `{"user_id":${'['.repeat(400_000)}\n`,
    'a.ndjson: 1 bad row; nothing was imported\nline 1: not JSON',
  ],
  [
    'a line of two megabytes of JSON',
    'a.ndjson',
    `{"user_id":"${P}","display_name":"${'x'.repeat(2_000_000)}"}\n`,
    'a.ndjson: 1 bad row; nothing was imported\nline 1: Maximum line size of 1048576 bytes exceeded. Actual Size:2000068 bytes',
  ],
  [
    'a line of forty megabytes between others',
    'a.csv',
    `user_id,display_name\n${P},Ada\n${uuidOf(2, 2)},${'x'.repeat(40_000_000)}\n${uuidOf(2, 3)},Eve\n`,
    'a.csv has more than 16,000,000 bytes in line 3',
  ],
] as const)('%s', async ([, name, content, expected]) => {
  expect(await said('forecasters', name, content, { ignoreUnknown: true })).toBe(expected)
})

test('a dry run goes on after lines of NDJSON that cannot be read', { tags: ['slow'] }, async () => {
  const line = (id: string, closes = '2026-02-01T00:00:00Z') =>
    JSON.stringify({ question_id: id, title: 'A?', opened_at: '2026-01-01T00:00:00Z', closes_at: closes })
  const long = `{"question_id":"${'x'.repeat(1_100_000)}"}`
  const path = join(components.directory, 'q.ndjson')
  await writeFile(
    path,
    lines(line('a'), 'not json', '', long, line('b'), line('c', 'soon'), '[1]', line('d')),
  )
  const { json } = await runTrial(components, 'questions', path, parseOptions('questions', IDS))
  expect(json).toMatchObject({
    rows: 7,
    added: 3,
    bad: 4,
    errors: [
      { pointer: 'line 2', detail: 'not JSON' },
      { pointer: 'line 4', detail: expect.stringContaining('Maximum line size') as string },
      { pointer: 'line 6', detail: expect.stringContaining('closes_at is "soon"') as string },
      { pointer: 'line 7', detail: 'not a JSON object' },
    ],
  })
})

describe('Parquet', () => {
  const written = async (select: string) => {
    const path = join(components.directory, 'f.parquet')
    using database = await components.openDatabase()
    await database.run(
      `COPY (SELECT 'forecaster' AS entity_type, 'ada' AS entity_id, 'q1' AS question_id, ${select}) TO '${path}' (FORMAT parquet)`,
    )
    return path
  }
  const NAIVE = `0.3 AS probability, TIMESTAMP '2026-01-05 12:00:00' AS forecast_at`

  test('has times without a zone, which are times of --timezone', async () => {
    const options = parseOptions('forecasts', { ...IDS, timezone: 'Europe/Paris' })
    await runImport(components, 'forecasts', await written(NAIVE), options)
    expect(await rowsOf('forecasts')).toMatchObject([{ forecast_at: new Date('2026-01-05T11:00:00Z') }])
  })

  test('with times without a zone is refused without it', async () => {
    await expect(
      runImport(components, 'forecasts', await written(NAIVE), parseOptions('forecasts', IDS)),
    ).rejects.toMatchObject({
      faults: [
        {
          pointer: 'row 1',
          detail:
            'forecast_at is "2026-01-05 12:00:00", not a time with an offset such as 2026-01-31T12:00:00Z; no zone? see --timezone',
        },
      ],
    })
  })

  test('says by a null or a boolean that a row withdraws a forecast', async () => {
    const path = await written(
      `unnest([0.5, NULL, NULL]) AS probability, unnest([false, true, NULL]) AS withdrawn,
       unnest(['2026-01-05T00:00:00Z', '2026-01-06T00:00:00Z', '2026-01-07T00:00:00Z']) AS forecast_at`,
    )
    const { json } = await runImport(components, 'forecasts', path, parseOptions('forecasts', IDS))
    expect(json).toMatchObject({ added: 3, withdrawals: 2 })
    const probabilities = (await rowsOf('forecasts')).map(({ probability }) => probability)
    expect(new Set(probabilities)).toEqual(new Set([0.5, null]))
  })
})

describe('the name of a forecaster', () => {
  test('stays where a file lacks the column, and goes by an empty cell', { tags: ['slow'] }, async () => {
    await said('forecasters', 'f.csv', lines('user_id,display_name', 'ada,Ada', 'eve,Eve'), IDS)
    expect(await said('forecasters', 'f.csv', lines('user_id', 'ada', 'bob'), IDS)).toMatch(
      /^forecasters: 1 of 2 rows added, 1 known already/,
    )
    expect(await said('forecasters', 'f.csv', lines('user_id,display_name', 'ada,'), IDS)).toMatch(
      /^forecasters: 0 of 1 rows added, 1 changed \(display_name 1\), 0 known already/,
    )
    expect(new Set(await namesOf(components.store, await forecasters()))).toEqual(new Set(['Eve', null]))
  })

  test('may be the column of the file that is the id too', async () => {
    const options = { ...IDS, map: ['user_id=name', 'display_name=name'] }
    await said('forecasters', 'a.csv', 'name\nAda\n', options)
    expect(await namesOf(components.store, await forecasters())).toEqual(['Ada'])
  })
})

test('an id that is text keeps its meaning, also without a letter', async () => {
  const ids = ['ada', 'Ada', '#1', '🦉', '–', 'می\u200cخواهم']
  await said('forecasters', 'f.csv', lines('user_id,display_name', ...ids.map((id) => `${id},x`)), IDS)
  expect(await forecasters()).toEqual(ids.map((id) => uuidv5(id, NAMESPACE)).toSorted())
})

test(
  'what was meant of percentages, zones and texts is what the tables have',
  { tags: ['slow'] },
  async () => {
    const options = { ids: 'text', namespace: NAMESPACE, timezone: 'Europe/Paris' }
    const opened = ['2025-12-31 23:30', '2026-02-01 00:00:00']
    await said('questions', 'a.csv', questions(`q 1,Will it?,${opened.join(',')}`), options)
    await said('resolutions', 'a.csv', resolutions('q 1,0,2026-02-01 12:00:00'), {
      ...options,
      outcomes: 'yes=1,no=0|nope',
    })
    const rows = [`forecaster,Ada,q 1,12.34567%,2026-01-31 12:00`, `forecaster,Ada,q 1,100,2026-01-31T12:00Z`]
    expect(await said('forecasts', 'a.csv', forecasts(...rows), { ...options, percent: true })).toBe(
      'forecasts: 2 of 2 rows added, 0 known already, 1 forecasters met for the first time',
    )
    const [question_id, entity_id] = [uuidv5('q 1', NAMESPACE), uuidv5('Ada', NAMESPACE)]
    expect((await rowsOf('questions')).find((row) => row['question_id'] === question_id)).toMatchObject({
      opened_at: new Date('2025-12-31T22:30:00Z'),
      closes_at: new Date('2026-01-31T23:00:00Z'),
    })
    expect(await rowsOf('resolutions')).toEqual([
      { question_id, outcome: 'no', resolved_at: new Date('2026-02-01T11:00:00Z'), reason: null },
    ])
    const found = (await rowsOf('forecasts')).map(({ probability, forecast_at }) => [
      probability,
      forecast_at,
    ])
    expect(found).toHaveLength(2)
    expect(found).toContainEqual([0.123457, new Date('2026-01-31T11:00:00Z')])
    expect(found).toContainEqual([1, new Date('2026-01-31T12:00:00Z')])
    expect(await rowsOf('forecasts')).toEqual([
      expect.objectContaining({ question_id, entity_id }),
      expect.objectContaining({ question_id, entity_id }),
    ])
    expect(await rowsOf('forecasters')).toEqual([{ user_id: entity_id }])
  },
)

describe('standard input', () => {
  test.for([
    ['CSV', `user_id\n${P}\n`],
    ['UTF-16', utf16(`user_id\r\n${P}\r\n`)],
    ['gzip', gzipSync(`user_id\tdisplay_name\n${P}\tAda\n`)],
    ['NDJSON', `\ufeff {"user_id":"${P}"}\n`],
    ['NDJSON in UTF-16', utf16(`{"user_id":"${P}"}\n`)],
  ] as const)('of %s is known by its beginning', async ([, content]) => {
    const path = join(components.directory, 'piped')
    await writeFile(path, content)
    const { json } = await runImport(components, 'forecasters', createReadStream(path))
    expect(json).toMatchObject({ rows: 1, added: 1 })
  })

  test('of Parquet too, and is called standard input in messages', async () => {
    using database = await components.openDatabase()
    const path = join(components.directory, 'piped.parquet')
    await database.run(`COPY (SELECT 'x' AS user_id) TO '${path}' (FORMAT parquet)`)
    await expect(runImport(components, 'forecasters', createReadStream(path))).rejects.toMatchObject({
      message: 'standard input: 1 bad row; nothing was imported',
      faults: [{ pointer: 'row 1', detail: 'user_id is "x", not a UUID; an id of your own? see --ids' }],
    })
  })
})

describe('a file that grows', () => {
  test('is unpacked only to a bound, and leaves nothing behind', { tags: ['slow'] }, async () => {
    const directory = await testFolder()
    const bomb = join(await testFolder(), 'bomb.csv.gz')
    await writeFile(bomb, gzipSync(Buffer.alloc(50_000_000)))
    const message = `holds more than 1,000,000 bytes when unpacked; import it in parts, as plain files`
    await expect(openInput(bomb, directory, 1_000_000)).rejects.toMatchObject({
      kind: 'invalid',
      message: `${bomb} ${message}`,
    })
    async function* endless(): AsyncIterable<Uint8Array> {
      for (;;) yield Buffer.alloc(65_536, 'a')
    }
    await expect(openInput(endless(), directory, 1_000_000)).rejects.toThrow(`standard input ${message}`)
    expect(await readdir(directory)).toEqual([])
  })
})

describe('options', () => {
  test.for<[GivenOptions, ImportKind, string]>([
    [{ delimiter: '|' }, 'forecasts', '--delimiter is "|", not one of auto, ",", ";" and tab'],
    [{ ids: 'name' }, 'forecasts', '--ids is "name", not one of uuid and text'],
    [
      { ids: 'text' },
      'forecasts',
      '--ids text needs --namespace: a UUID of your own, the same for all your files',
    ],
    [{ namespace: NAMESPACE }, 'forecasts', '--namespace is only for --ids text'],
    [{ ids: 'text', namespace: 'me' }, 'forecasts', '--namespace is "me", not a UUID'],
    [{ map: ['title'] }, 'questions', '--map is "title", not of the form column=Name'],
    [{ map: ['title='] }, 'questions', '--map is "title=", not of the form column=Name'],
    [
      { map: ['x" FROM y; --=Name'] },
      'forecasters',
      '--map x" FROM y; --=Name: forecasters have no column "x\\" FROM y; --", only user_id, display_name',
    ],
    [{ map: ['title=A', 'title=B'] }, 'questions', '--map names two columns for title: "A" and "B"'],
    [
      { map: ['category=source'] },
      'questions',
      '--map category=source takes "source" for category, and it is the column source too; say which column is source with --map source=Name or its text with --set source=Text, or rename it in the file',
    ],
    [
      { outcomes: 'no=yes,yes=no' },
      'resolutions',
      '--outcomes gives "yes" the meaning no; yes keeps its own',
    ],
    [{ outcomes: 'yes=Open' }, 'resolutions', '--outcomes gives "Open" the meaning yes; open keeps its own'],
    [{ timezone: 'Paris' }, 'questions', '--timezone is "Paris", not a zone such as Europe/Paris or UTC'],
    [{ timezone: '+01:00' }, 'questions', '--timezone is "+01:00", not a zone such as Europe/Paris or UTC'],
    [{ timezone: 'UTC' }, 'forecasters', '--timezone is not for forecasters: they have no such column'],
    [{ percent: true }, 'questions', '--percent is not for questions: they have no such column'],
    [{ events: 'own' }, 'forecasts', '--events is not for forecasts: they have no such column'],
    [{ events: 'own' }, 'resolutions', '--events is not for resolutions: they have no such column'],
    [{ events: 'mine' }, 'questions', '--events is "mine", not "own"'],
    [{ outcomes: 'yes=1' }, 'forecasts', '--outcomes is not for forecasts: they have no such column'],
    [
      { outcomes: 'maybe=1' },
      'resolutions',
      '--outcomes has "maybe=1", not of the form yes=YES|1, with one of yes, no, annulled, open',
    ],
    [{ set: ['entity_type'] }, 'forecasts', '--set is "entity_type", not of the form column=Text'],
    [
      { set: ['kind=a'] },
      'forecasts',
      '--set kind=a: forecasts have no column "kind", only entity_type, entity_id, question_id, probability, withdrawn, forecast_at',
    ],
    [{ set: ['entity_id=a', 'entity_id=b'] }, 'forecasts', '--set gives entity_id two texts'],
    [
      { set: ['entity_id=a'], map: ['entity_id=b'] },
      'forecasts',
      '--set and --map both say what entity_id is',
    ],
    [{ where: ['=a'] }, 'forecasts', '--where is "=a", not of the form column=Text'],
    [{ epoch: 'h' }, 'forecasts', '--epoch is "h", not one of s, ms and us'],
    [{ outcomes: 'yes=1,no=1' }, 'resolutions', '--outcomes has "1" twice'],
    [{ outcomes: 'yes=1|' }, 'resolutions', '--outcomes gives yes an empty text'],
  ])('%j for %s are refused', ([given, kind, message]) => {
    expect(() => parseOptions(kind, given)).toThrow(new ServiceError('invalid', message))
  })
})

test('the templates can be imported, one after the other', { tags: ['slow'] }, async () => {
  for (const kind of IMPORTS) {
    expect(await said(kind, 'a.csv', reportTemplate(kind).text), kind).toMatch(
      new RegExp(`^${kind}: 1 of 1 rows added`),
    )
  }
})
