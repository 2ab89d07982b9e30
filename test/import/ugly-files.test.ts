// Files as people have them: what each gets to hear, word for word, and that a refused one writes nothing.
import { createReadStream } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { v5 as uuidv5 } from 'uuid'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { reportTemplate, runImport, runTrial } from '../../jobs/import.ts'
import { IMPORTS, type ImportKind } from '../../pipeline/import/columns.ts'
import { openInput } from '../../pipeline/import/input.ts'
import { type GivenOptions, parseOptions } from '../../pipeline/import/options.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const Q = uuidOf(1, 1)
const P = uuidOf(2, 1)
const NAMESPACE = '6ba7b812-9dad-11d1-80b4-00c04fd430c8'
const T = '2026-01-05T00:00:00Z'
const FORECASTS = 'entity_type,entity_id,question_id,probability,forecast_at'
const forecast = (probability: string, at = T) => `forecaster,${P},${Q},${probability},${at}`
const forecasts = (...rows: string[]) => [FORECASTS, ...rows, ''].join('\n')
const semicolons = (text: string) => text.replaceAll(',', ';')
const QUESTION = `${uuidOf(1, 9)},Will it?,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`
const questions = (...rows: string[]) => ['question_id,title,opened_at,closes_at', ...rows, ''].join('\n')
const resolutions = (...rows: string[]) => ['question_id,outcome,resolved_at', ...rows, ''].join('\n')
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')

const folder = await suiteFolder()
const clock = new Clock(NOW)
let prepared: MemoryStore
let components: Components

/** A store with a question, and a copy of it for each test. */
beforeAll(async () => {
  prepared = new MemoryStore()
  components = await testComponents({ store: prepared, clock, folder })
  await importRows(components, 'questions', questions(QUESTION.replace(uuidOf(1, 9), Q)))
})
beforeEach(async () => {
  components = await testComponents({ store: copyOf(prepared), clock, folder })
})

/** What the import says: the report, or the message and faults of the refusal. */
async function said(
  kind: ImportKind,
  name: string,
  content: string | Uint8Array,
  options: GivenOptions = {},
) {
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

type Ugly = readonly [
  what: string,
  kind: ImportKind,
  name: string,
  content: string | Uint8Array,
  options: GivenOptions,
  said: readonly string[],
]
const UGLY: readonly Ugly[] = [
  [
    'semicolons',
    'forecasts',
    'a.csv',
    semicolons(forecasts(forecast('0.5'))),
    {},
    ['forecasts: 1 of 1 rows added, 0 known already, 1 forecasters met for the first time'],
  ],
  [
    'semicolons and decimal commas',
    'forecasts',
    'a.csv',
    semicolons(forecasts(forecast('0.5'))).replace('0.5', '0,5'),
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: probability is "0,5", not a number from 0 to 1; a decimal comma? write a point',
    ],
  ],
  [
    'decimal commas and commas',
    'forecasts',
    'a.csv',
    forecasts(forecast('0,5')),
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: Expected Number of Columns: 5 Found: 6; a value that has the delimiter in it, such as a decimal comma, must be in quotes',
    ],
  ],
  [
    'semicolons read with commas',
    'forecasts',
    'a.csv',
    semicolons(forecasts(forecast('0.5'))),
    { delimiter: ',' },
    [
      'a.csv lacks "entity_type", "entity_id", "question_id", "probability", "forecast_at"; the columns it may have are entity_type, entity_id, question_id, probability, forecast_at, withdrawn; see --map; the header that was found, read with commas: "entity_type;entity_id;question_id;probability;forecast_at"; its delimiter may be another, see --delimiter',
    ],
  ],
  [
    'commas read with tabs',
    'forecasters',
    'a.csv',
    `user_id,display_name\n${P},Ada\n`,
    { delimiter: 'tab' },
    [
      'a.csv lacks "user_id"; the columns it may have are user_id, display_name; see --map; the header that was found, read with tabs: "user_id,display_name"; its delimiter may be another, see --delimiter',
    ],
  ],
  [
    'another delimiter',
    'forecasters',
    'a.csv',
    `user_id|display_name\n${P}|Ada\n`,
    {},
    [
      'a.csv lacks "user_id"; the columns it may have are user_id, display_name; see --map; the header that was found, read with commas: "user_id|display_name"',
    ],
  ],
  [
    'a line for Excel',
    'forecasters',
    'a.csv',
    `sep=;\nuser_id;display_name\n${P};Ada\n`,
    {},
    ['a.csv begins with a line for Excel, "sep=;"; delete that line'],
  ],
  [
    'tabs',
    'forecasters',
    'a.tsv',
    `user_id\tdisplay_name\n${P}\tAda, Countess\n`,
    {},
    ['forecasters: 1 of 1 rows added, 0 known already'],
  ],
  [
    'UTF-16 from Excel',
    'forecasters',
    'a.csv',
    utf16(`user_id\tdisplay_name\r\n${P}\tZoë\r\n`),
    {},
    ['forecasters: 1 of 1 rows added, 0 known already'],
  ],
  [
    'UTF-16 with an error on its third line',
    'forecasts',
    'a.csv',
    utf16(forecasts(forecast('0.5'), forecast('half'))),
    {},
    ['a.csv: 1 bad row; nothing was imported', 'line 3: probability is "half", not a number from 0 to 1'],
  ],
  [
    'UTF-16 without a mark',
    'forecasters',
    'a.csv',
    utf16(`user_id\n${P}\n`).subarray(2),
    {},
    [
      'a.csv has bytes of zero; if it is UTF-16, save it as UTF-8; the header that was found: "u\\u0000s\\u0000e\\u0000r\\u0000_\\u0000i\\u0000d\\u0000"',
    ],
  ],
  [
    'UTF-16 that is cut off',
    'forecasters',
    'a.csv',
    utf16(`user_id\n${P}\n`).subarray(0, -1),
    {},
    ['a.csv begins as UTF-16LE and is not all of it'],
  ],
  [
    'Latin-1',
    'forecasters',
    'a.csv',
    Buffer.from(`user_id,display_name\n${P},Zo\xeb\n`, 'latin1'),
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: Invalid unicode (byte sequence mismatch) detected. This file is not utf-8 encoded; save the file as UTF-8',
    ],
  ],
  [
    'gzip',
    'forecasts',
    'a.csv.gz',
    gzipSync(forecasts(forecast('0.5'))),
    {},
    ['forecasts: 1 of 1 rows added, 0 known already, 1 forecasters met for the first time'],
  ],
  [
    'gzip without its ending, with an error on its second line',
    'forecasts',
    'a.csv',
    gzipSync(forecasts(forecast('2'))),
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: probability is "2", not a number from 0 to 1; a percentage? see --percent',
    ],
  ],
  [
    'gzip that is cut off',
    'forecasts',
    'a.csv.gz',
    gzipSync(forecasts(forecast('0.5'))).subarray(0, 60),
    {},
    ['a.csv.gz cannot be unpacked: unexpected end of file'],
  ],
  [
    'the ending of gzip without it',
    'forecasts',
    'a.csv.gz',
    forecasts(forecast('0.5')),
    {},
    ['a.csv.gz is not packed by gzip, as its name says'],
  ],
  [
    'gzip in gzip',
    'forecasts',
    'a.csv.gz',
    gzipSync(gzipSync(forecasts(forecast('0.5')))),
    {},
    ['a.csv.gz is packed twice; unpack it once'],
  ],
  [
    'a spreadsheet',
    'forecasts',
    'a.xlsx',
    'PK\x03\x04',
    {},
    ['a.xlsx is a spreadsheet; save the sheet as CSV'],
  ],
  [
    'a spreadsheet that was renamed',
    'forecasts',
    'a.csv',
    'PK\x03\x04\x14\0\x06\0',
    {},
    ['a.csv is a spreadsheet or an archive; save the sheet as CSV'],
  ],
  [
    'another ending',
    'forecasts',
    'a.txt',
    forecasts(),
    {},
    [
      'a.txt: the name must end in .csv, .tsv, .json, .ndjson, .jsonl, .parquet, or one of these with .gz; - is standard input',
    ],
  ],
  [
    'percentages',
    'forecasts',
    'a.csv',
    forecasts(forecast('0.5'), forecast('73'), forecast('73 %')),
    {},
    [
      'a.csv: 2 bad rows; nothing was imported',
      'line 3: probability is "73", not a number from 0 to 1; a percentage? see --percent',
      'line 4: probability is "73 %", not a number from 0 to 1; a percentage? see --percent',
    ],
  ],
  [
    'percentages, said',
    'forecasts',
    'a.csv',
    forecasts(forecast('0.5', '2026-01-04T00:00:00Z'), forecast('73'), forecast('73 %')),
    { percent: true },
    [
      'forecasts: 2 of 3 rows added, 1 known already (1 repeated in the file), 1 forecasters met for the first time',
    ],
  ],
  [
    'percentages above a hundred',
    'forecasts',
    'a.csv',
    forecasts(forecast('100.1'), forecast('-1%'), forecast('%')),
    { percent: true },
    [
      'a.csv: 3 bad rows; nothing was imported',
      'line 2: probability is "100.1", not a percentage from 0 to 100',
      'line 3: probability is "-1%", not a percentage from 0 to 100',
      'line 4: probability is "%", not a percentage from 0 to 100',
    ],
  ],
  [
    'times without a zone',
    'forecasts',
    'a.csv',
    forecasts(forecast('0.5', '2026-01-05 12:00')),
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: forecast_at is "2026-01-05 12:00", not a time with an offset such as 2026-01-31T12:00:00Z; no zone? see --timezone',
    ],
  ],
  [
    'times without a zone, said',
    'forecasts',
    'a.csv',
    forecasts(forecast('0.5', '2026-01-05 12:00')),
    { timezone: 'Europe/Paris' },
    ['forecasts: 1 of 1 rows added, 0 known already, 1 forecasters met for the first time'],
  ],
  [
    'times that the clocks skip or show twice',
    'questions',
    'a.csv',
    questions(
      QUESTION.replace('2026-01-01T00:00:00Z', '2025-03-30 02:30:00'),
      QUESTION.replace('2026-01-01T00:00:00Z', '2025-10-26 02:30:00'),
    ),
    { timezone: 'Europe/Paris' },
    [
      'a.csv: 2 bad rows; nothing was imported',
      'line 2: opened_at is "2025-03-30 02:30:00", a time that the clocks of Europe/Paris skip; write it with an offset',
      'line 3: opened_at is "2025-10-26 02:30:00", a time that the clocks of Europe/Paris show twice; write it with an offset',
    ],
  ],
  [
    'days',
    'forecasts',
    'a.csv',
    forecasts(forecast('0.5', '2026-01-05')),
    { timezone: 'UTC' },
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: forecast_at is "2026-01-05", not a time such as 2026-01-31 12:00:00; a day? see --days, or write which time of it',
    ],
  ],
  [
    "Excel's serial dates",
    'forecasts',
    'a.csv',
    forecasts(forecast('0.5', '46027.5')),
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: forecast_at is "46027.5", not a time with an offset such as 2026-01-31T12:00:00Z; Excel\'s number of a day? format the column as yyyy-mm-dd hh:mm:ss',
    ],
  ],
  [
    'seconds since 1970',
    'forecasts',
    'a.csv',
    forecasts(forecast('0.5', '1767571200')),
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: forecast_at is "1767571200", not a time with an offset such as 2026-01-31T12:00:00Z; seconds since 1970? see --epoch s',
    ],
  ],
  [
    'American dates',
    'forecasts',
    'a.csv',
    forecasts(forecast('0.5', '1/5/2026 12:00')),
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: forecast_at is "1/5/2026 12:00", not a time with an offset such as 2026-01-31T12:00:00Z; day and month may be either? write 2026-01-31',
    ],
  ],
  [
    'a day that is none',
    'forecasts',
    'a.csv',
    forecasts(forecast('0.5', '2026-02-30 12:00:00')),
    { timezone: 'UTC' },
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: forecast_at is "2026-02-30 12:00:00", not a time such as 2026-01-31 12:00:00',
    ],
  ],
  [
    'ids of their own',
    'forecasters',
    'a.csv',
    'user_id\nada\n',
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: user_id is "ada", not a UUID; an id of your own? see --ids',
    ],
  ],
  [
    'ids of their own, said',
    'forecasters',
    'a.csv',
    'user_id,display_name\nada,Ada\nAda,Ada\n',
    { ids: 'text', namespace: NAMESPACE },
    ['forecasters: 2 of 2 rows added, 0 known already'],
  ],
  [
    'ids with white space',
    'forecasters',
    'a.csv',
    'user_id\nada \n',
    { ids: 'text', namespace: NAMESPACE },
    ['forecasters: 1 of 1 rows added, 0 known already'],
  ],
  [
    'agents, with whatever ids',
    'forecasts',
    'a.csv',
    forecasts(`agent,bot,${Q},0.5,${T}`, `agent,${P},${Q},0.5,${T}`),
    { ids: 'text', namespace: NAMESPACE },
    [
      'a.csv: 2 bad rows; nothing was imported',
      ...[2, 3].map(
        (line) =>
          `line ${line}: entity_type is "agent", whose forecasts come by its own API alone; import a bot's history as the forecasts of a forecaster`,
      ),
    ],
  ],
  [
    'other words for outcomes',
    'resolutions',
    'a.csv',
    resolutions(`${Q},YES,2026-01-20T00:00:00Z`),
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: outcome is "YES", not one of yes, no, annulled, open; see --outcomes',
    ],
  ],
  [
    'other words for outcomes, said',
    'resolutions',
    'a.csv',
    resolutions(`${Q},YES,2026-01-20T00:00:00Z`),
    { outcomes: 'yes=YES|1|true,no=NO|0|false' },
    ['resolutions: 1 of 1 rows added, 0 known already'],
  ],
  [
    'other letters in the header',
    'forecasters',
    'a.csv',
    `User ID,display_name\n${P},Ada\n`,
    {},
    [
      'a.csv lacks "user_id"; the columns it may have are user_id, display_name; see --map user_id="User ID"; the header that was found, read with commas: "User ID,display_name"',
    ],
  ],
  [
    'other names, said',
    'forecasters',
    'a.csv',
    `"Person ""id""",Name\n${P},Ada\n`,
    { map: ['user_id=Person "id"', 'display_name=Name'] },
    ['forecasters: 1 of 1 rows added, 0 known already'],
  ],
  [
    'a name that is not there, said',
    'forecasters',
    'a.csv',
    `user_id\n${P}\n`,
    { map: ['display_name=Name'] },
    [
      'a.csv has not the columns that --map names: "Name"; the columns it may have are user_id, display_name; the header that was found, read with commas: "user_id"',
    ],
  ],
  [
    'both names',
    'forecasters',
    'a.csv',
    `user_id,display_name,Name\n${P},Ada,Eve\n`,
    { map: ['display_name=Name'], ignoreUnknown: true },
    [
      'a.csv has two columns for display_name, its own and the one that --map names: "display_name", "Name"; the columns it may have are user_id, display_name; the header that was found, read with commas: "user_id,display_name,Name"',
    ],
  ],
  [
    'unknown columns',
    'forecasters',
    'a.csv',
    `user_id,note\n${P},x\n`,
    {},
    [
      'a.csv has unknown "note"; the columns it may have are user_id, display_name; see --map and --ignore-unknown; the header that was found, read with commas: "user_id,note"',
    ],
  ],
  [
    'unknown columns, said',
    'forecasters',
    'a.csv',
    `user_id,"x""; DROP TABLE incoming; --",note,note\n${P},a,b,c\n`,
    { ignoreUnknown: true },
    ['forecasters: 1 of 1 rows added, 0 known already'],
  ],
  [
    'an unknown field',
    'forecasters',
    'a.ndjson',
    `{"user_id":"${P}","a/b~'\\"":1}\n`,
    {},
    [
      'a.ndjson has unknown "a/b~\'\\""; the columns it may have are user_id, display_name; see --map and --ignore-unknown',
    ],
  ],
  [
    'other and unknown fields, said',
    'forecasters',
    'a.ndjson',
    `{"per/s~'\\"on":"${P}","note":[1]}\n`,
    { map: [`user_id=per/s~'"on`], ignoreUnknown: true },
    ['forecasters: 1 of 1 rows added, 0 known already'],
  ],
  [
    'a column twice',
    'forecasters',
    'a.csv',
    `user_id,user_id\n${P},${P}\n`,
    {},
    [
      'a.csv repeats "user_id"; the columns it may have are user_id, display_name; the header that was found, read with commas: "user_id,user_id"',
    ],
  ],
  [
    'the header twice',
    'forecasts',
    'a.csv',
    forecasts(forecast('0.5'), FORECASTS, forecast('0.6', '2026-01-06T00:00:00Z')),
    {},
    ['a.csv: 1 bad row; nothing was imported', 'line 3: the header a second time'],
  ],
  [
    'a header in a quote that does not end',
    'forecasters',
    'a.csv',
    `user_id,"display_name\n${P},Ada\n`,
    {},
    ['a.csv has a quote in its header that does not end: "\\"display_name"'],
  ],
  [
    'a header of a hundred thousand bytes',
    'forecasters',
    'a.csv',
    `user_id,${'x'.repeat(100_000)}\n`,
    {},
    ['a.csv has a first line of more than 65535 bytes'],
  ],
  [
    'ten thousand columns',
    'forecasters',
    'a.csv',
    `user_id${',x'.repeat(10_000)}\n`,
    { ignoreUnknown: true },
    ['a.csv has more than 1000 columns'],
  ],
  [
    'bytes of zero',
    'forecasters',
    'a.csv',
    `user_id,display_name\n${P},A\0da\n`,
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: display_name must not have the character U+0000, a control, format, private-use, unassigned or invisible one',
    ],
  ],
  [
    'a web address with a control character',
    'questions',
    'a.csv',
    `question_id,title,opened_at,closes_at,url\n${QUESTION},https://x/\x1b[31m\n`,
    {},
    ['a.csv: 1 bad row; nothing was imported', 'line 2: url has a control character'],
  ],
  [
    'a line of three megabytes',
    'forecasters',
    'a.csv',
    `user_id,display_name\n${P},${'x'.repeat(3_000_000)}\n`,
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: Maximum line size of 2000000 bytes exceeded. Actual Size:3000037 bytes',
    ],
  ],
  [
    'brackets in brackets',
    'forecasters',
    'a.ndjson',
    `{"user_id":${'['.repeat(400_000)}\n`,
    {},
    ['a.ndjson: 1 bad row; nothing was imported', 'line 1: not JSON'],
  ],
  [
    'nothing',
    'forecasters',
    'a.csv',
    '',
    {},
    [
      'a.csv lacks "user_id"; the columns it may have are user_id, display_name; see --map; the header that was found, read with commas: ""',
    ],
  ],
  [
    'more values than names',
    'forecasters',
    'a.csv',
    `user_id,display_name\n${P},Lovelace, Ada\n`,
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: Expected Number of Columns: 2 Found: 3; a value that has the delimiter in it, such as a decimal comma, must be in quotes',
    ],
  ],
  [
    'a value that colours a terminal',
    'forecasters',
    'a.csv',
    `user_id\n\x1b[31m\n`,
    {},
    [
      'a.csv: 1 bad row; nothing was imported',
      'line 2: user_id is "\u001b[31m", not a UUID; an id of your own? see --ids',
    ],
  ],
  [
    'a line of two megabytes of JSON',
    'forecasters',
    'a.ndjson',
    `{"user_id":"${P}","display_name":"${'x'.repeat(2_000_000)}"}\n`,
    {},
    [
      'a.ndjson: 1 bad row; nothing was imported',
      'line 1: Maximum line size of 1048576 bytes exceeded. Actual Size:2000068 bytes',
    ],
  ],
  [
    'a line of forty megabytes between others',
    'forecasters',
    'a.csv',
    `user_id,display_name\n${P},Ada\n${uuidOf(2, 2)},${'x'.repeat(40_000_000)}\n${uuidOf(2, 3)},Eve\n`,
    {},
    ['a.csv has more than 16,000,000 bytes in line 3'],
  ],
]

test.for(UGLY)('%s', async ([, kind, name, content, options, expected]) => {
  expect((await said(kind, name, content, options)).split('\n')).toEqual(expected)
})

async function rowsOf(table: string): Promise<Record<string, unknown>[]> {
  using database = await components.openDatabase()
  await attachAll(database, components.local, await currentVersions(components.store))
  return await database.rows(`SELECT * EXCLUDE (recorded_at) FROM ${table} ORDER BY ALL`)
}

describe('what was meant', () => {
  test('of percentages, zones and texts is what the tables have', async () => {
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
  })

  test('of questions that have nothing to do with each other is that each is an event of its own', async () => {
    const times = '2026-01-01T00:00:00Z,2026-02-01T00:00:00Z'
    const eventsOf = async () =>
      (await rowsOf('questions'))
        .filter(({ title }) => title === 'Alone?' || title === 'Together?')
        .map(({ title, question_id, event_id }) => [title, event_id === question_id ? 'own' : event_id])
    const withEvents = [
      'question_id,title,event_id,opened_at,closes_at',
      `q 1,Alone?,,${times}`,
      `q 2,Together?,a series,${times}`,
    ]
    const without = ['question_id,title,opened_at,closes_at', `q 3,Alone?,${times}`]
    const options = { ids: 'text', namespace: NAMESPACE, events: 'own' }
    for (const rows of [withEvents, without]) {
      const text = `${rows.join('\n')}\n`
      expect(await said('questions', 'a.csv', text, options)).toMatch(/rows added, 0 known already/)
      expect(await said('questions', 'a.csv', text, options)).toMatch(/^questions: 0 of \d rows added/)
    }
    const events = await eventsOf()
    expect(events).toHaveLength(3)
    expect(events.filter(([title]) => title === 'Alone?')).toEqual([
      ['Alone?', 'own'],
      ['Alone?', 'own'],
    ])
    expect(events).toContainEqual(['Together?', 'a series'])
    // An id is written in small letters, and so is the event.
    const upper = `00000000-0000-4000-8000-00000000ABCD,Alone?,${times}`
    await said('questions', 'a.csv', questions(upper), { events: 'own' })
    expect((await eventsOf()).filter(([, event]) => event === 'own')).toHaveLength(3)
    // Without the option a file without events keeps it, and an empty cell takes it back.
    await said('questions', 'a.csv', questions(upper))
    expect((await eventsOf()).filter(([, event]) => event === null)).toHaveLength(0)
    const emptied = `question_id,title,opened_at,closes_at,event_id\n${upper},\n`
    await said('questions', 'a.csv', emptied)
    expect((await eventsOf()).filter(([, event]) => event === null)).toHaveLength(1)
  })

  test('of a wall clock is known around every change of it, in any zone', async () => {
    // The zone, a time before a change, one that is skipped or comes twice, and one after it.
    const changes = [
      ['Australia/Lord_Howe', '2025-10-05 01:59:00', '2025-10-05 02:15:00', '2025-10-05 02:30:00', /skip/],
      ['Australia/Lord_Howe', '2026-04-05 01:29:00', '2026-04-05 01:45:00', '2026-04-05 02:00:00', /twice/],
      ['America/New_York', '2025-11-02 00:59:00', '2025-11-02 01:00:00', '2025-11-02 02:00:00', /twice/],
      ['Pacific/Apia', '2011-12-29 23:59:00', '2011-12-30 12:00:00', '2011-12-31 00:00:00', /skip/],
    ] as const
    for (const [timezone, before, during, after, fault] of changes) {
      const rows = [before, during, after].map(
        (at, index) => `${uuidOf(1, index)},Will it?,${at},2199-01-01 00:00`,
      )
      const text = await said('questions', 'a.csv', questions(...rows), { timezone })
      expect(text.split('\n').slice(1), `${timezone} ${during}`).toEqual([expect.stringMatching(fault)])
      expect(text).toContain(`line 3: opened_at is "${during}"`)
    }
  })
})

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
  test('is unpacked only to a bound, and leaves nothing behind', async () => {
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
    [{ outcomes: 'yes=1,no=1' }, 'resolutions', '--outcomes has "1" twice'],
    [{ outcomes: 'yes=1|' }, 'resolutions', '--outcomes gives yes an empty text'],
  ])('%j for %s are refused', ([given, kind, message]) => {
    expect(() => parseOptions(kind, given)).toThrow(new ServiceError('invalid', message))
  })
})

describe('a dry run', () => {
  async function tried(kind: ImportKind, content: string) {
    const path = join(components.directory, 'a.csv')
    await writeFile(path, content)
    const before = await contentOf(components.store)
    const report = await runTrial(components, kind, path)
    expect(await contentOf(components.store)).toEqual(before)
    return report
  }

  test('counts what is bad by its reason, and names the first', async () => {
    await importRows(components, 'forecasts', forecasts(forecast('0.5')))
    const bad = Array.from({ length: 30 }, (_, index) =>
      index % 3 === 0 ? forecast('0.5', '') : forecast(String(index + 2)),
    )
    const { ok, text, json } = await tried(
      'forecasts',
      forecasts(forecast('0.5'), forecast('0.6', '2026-01-06T00:00:00Z'), ...bad),
    )
    expect(ok).toBe(false)
    expect(text.split('\n').slice(0, 5)).toEqual([
      'forecasts, dry run: of 32 rows 1 are new, 1 known already, 30 bad; nothing was imported',
      '  20  probability is not a number from 0 to 1',
      '  10  forecast_at is missing',
      'the first 20:',
      '  line 4: forecast_at is missing',
    ])
    expect(json).toMatchObject({
      dry_run: true,
      rows: 32,
      added: 1,
      unchanged: 1,
      bad: 30,
      reasons: [
        { reason: 'probability is not a number from 0 to 1', count: 20 },
        { reason: 'forecast_at is missing', count: 10 },
      ],
    })
  })

  test('counts lines that cannot be read, before anything else', async () => {
    const { ok, text } = await tried('forecasters', `user_id,display_name\n${P}\nx,y,z\nx,y,z\n`)
    expect(ok).toBe(false)
    expect(text.split('\n').slice(0, 3)).toEqual([
      'forecasters, dry run: of 3 rows 0 are new, 0 known already, 3 bad; nothing was imported',
      '  2  more values than the header has names',
      '  1  fewer values than the header has names',
    ])
  })

  test('of a good file is what the import then does', async () => {
    const other = forecast('0.6', '2026-01-06T00:00:00Z')
    const content = forecasts(forecast('0.5'), forecast('0.5'), other)
    const { ok, text } = await tried('forecasts', content)
    expect(ok).toBe(true)
    expect(text).toBe(
      'forecasts, dry run: of 3 rows 2 are new, 1 known already (1 repeated in the file), 0 bad; nothing was imported',
    )
    expect(await importRows(components, 'forecasts', content)).toMatchObject({ added: 2, unchanged: 1 })
  })

  test('counts the rows of agents', async () => {
    const rows = [1, 2].map((day) => `agent,${P},${Q},0.5,2026-01-0${day}T00:00:00Z`)
    const { ok, text } = await tried('forecasts', forecasts(forecast('0.5'), ...rows))
    expect(ok).toBe(false)
    expect(text.split('\n').slice(0, 2)).toEqual([
      'forecasts, dry run: of 3 rows 1 are new, 0 known already, 2 bad; nothing was imported',
      '  2  entity_type is agent, whose forecasts come by its own API alone',
    ])
  })
})

test('the templates can be imported, one after the other', async () => {
  for (const kind of IMPORTS) {
    expect(await said(kind, 'a.csv', reportTemplate(kind).text), kind).toMatch(
      new RegExp(`^${kind}: 1 of 1 rows added`),
    )
  }
})
