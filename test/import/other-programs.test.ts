// Options for files that other programs made: constants, chosen rows, first rows, days, numbers as times, and
// texts that are made fit.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { runImport } from '../../jobs/import.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { type GivenOptions, parseOptions } from '../../pipeline/import/options.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { suiteFolder } from '../support/folder.ts'
import { namesOf } from '../support/people.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const [Q, R, P] = [uuidOf(1, 1), uuidOf(1, 2), uuidOf(2, 1)]
const NAMESPACE = '6ba7b812-9dad-11d1-80b4-00c04fd430c8'
const folder = await suiteFolder()
const clock = new Clock(NOW)
let components: Components

beforeEach(async () => {
  components = await testComponents({ store: new MemoryStore(), clock, folder })
  const times = '2026-01-01T00:00:00Z,2026-02-01T00:00:00Z'
  const rows = `question_id,title,opened_at,closes_at\n${Q},One?,${times}\n${R},Two?,${times}\n`
  await importRows(components, 'questions', rows)
})

async function imported(kind: ImportKind, name: string, content: string, options: GivenOptions) {
  const path = join(components.directory, name)
  await writeFile(path, content)
  return runImport(components, kind, path, parseOptions(kind, options))
}

async function rowsOf(sql: string): Promise<object[]> {
  using database = await components.openDatabase()
  await attachAll(database, components.local, await currentVersions(components.store))
  return await database.rows(sql)
}

const FORECASTS = [
  ['who', 'question', 'p', 'at', 'type'],
  [P, Q, '0.3', '1767600000', 'binary'],
  [P, Q, '0.4', '1767600000', 'binary'],
  [P, R, '12', '1767600000', 'numeric'],
  [P, R, '0.5', '1767600000', 'binary'],
] as const
const [names, ...values] = FORECASTS
const asObjects = values.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])))
const OPTIONS: GivenOptions = {
  map: ['entity_id=who', 'question_id=question', 'probability=p', 'forecast_at=at'],
  set: ['entity_type=forecaster'],
  where: ['type=binary'],
  firstOfRepeats: true,
  epoch: 's',
}

test.each([
  ['a table', 'a.csv', FORECASTS.map((row) => row.join(',')).join('\n')],
  ['lines of JSON', 'a.ndjson', asObjects.map((row) => JSON.stringify(row)).join('\n')],
  ['a list of JSON', 'a.json', JSON.stringify(asObjects, undefined, 2)],
  ['an object with a list of JSON', 'a.json', JSON.stringify({ of: 'nobody', rows: asObjects })],
])('%s is read with constants, chosen rows, first rows and seconds', async (_, name, content) => {
  const { text } = await imported('forecasts', name, content, { ...OPTIONS, ignoreUnknown: true })
  expect(text).toContain(
    'forecasts: 2 of 3 rows added, 1 known already (1 repeated in the file), 1 forecasters met for the first time\n1 further rows were left out by --where',
  )
  expect(await rowsOf('SELECT probability, forecast_at FROM forecasts ORDER BY probability')).toEqual([
    { probability: 0.3, forecast_at: new Date('2026-01-05T08:00:00.000Z') },
    { probability: 0.5, forecast_at: new Date('2026-01-05T08:00:00.000Z') },
  ])
})

test('a bad row among the chosen ones is named by its line', async () => {
  const content = [...FORECASTS.map((row) => row.join(',')), `${P},${R},1.5,1767600000,binary`].join('\n')
  await expect(imported('forecasts', 'a.csv', content, OPTIONS)).resolves.toMatchObject({ ok: true })
  await expect(
    imported('forecasts', 'a.csv', content, { ...OPTIONS, firstOfRepeats: false, where: ['type=numeric'] }),
  ).rejects.toMatchObject({ faults: [{ pointer: 'line 4' }] })
})

test('members around a list of JSON are also those of columns that a file may lack', async () => {
  const rows = [
    {
      question_id: uuidOf(1, 9),
      title: 'Nine?',
      opened_at: '2024-05-01T00:00:00Z',
      closes_at: '2024-05-02T00:00:00Z',
    },
  ]
  await imported('questions', 'a.json', JSON.stringify({ category: 'sport', rows }), {})
  expect(await rowsOf(`SELECT category FROM questions WHERE title = 'Nine?'`)).toEqual([
    { category: 'sport' },
  ])
})

test('one column of the file may be two of ours', async () => {
  const options = { map: ['user_id=name', 'display_name=name'], ids: 'text', namespace: NAMESPACE }
  await imported('forecasters', 'a.csv', 'name\nAda\n', options)
  const [person] = (await rowsOf('SELECT user_id FROM forecasters')) as { user_id: string }[]
  expect(await namesOf(components.store, [person!.user_id])).toEqual(['Ada'])
})

describe('a day', () => {
  const day = (opens: string, closes: string) =>
    `question_id,title,opened_at,closes_at\n${uuidOf(1, 9)},Nine?,${opens},${closes}\n`
  const times = `SELECT opened_at, closes_at FROM questions WHERE title = 'Nine?'`

  test('begins as an opening and ends as a close, in UTC', async () => {
    await imported('questions', 'a.csv', day('2024-05-01', '2024-05-01'), { days: true })
    expect(await rowsOf(times)).toEqual([
      { opened_at: new Date('2024-05-01T00:00:00.000Z'), closes_at: new Date('2024-05-01T23:59:59.999Z') },
    ])
  })

  test('is one of the zone that is said, beside times', async () => {
    const options = { days: true, timezone: 'America/New_York' }
    await imported('questions', 'a.csv', day('2024-05-01', '2024-05-03T12:00:00'), options)
    expect(await rowsOf(times)).toEqual([
      { opened_at: new Date('2024-05-01T04:00:00.000Z'), closes_at: new Date('2024-05-03T16:00:00.000Z') },
    ])
  })

  test('is refused where it is not said that a time may be one', async () => {
    await expect(imported('questions', 'a.csv', day('2024-05-01', '2024-05-02'), {})).rejects.toMatchObject({
      faults: [{ detail: expect.stringContaining('a day? see --days, or write which time of it') as string }],
    })
  })
})

test.each([
  ['s', '1767600000.25', '2026-01-05T08:00:00.250Z'],
  ['ms', '1767600000250', '2026-01-05T08:00:00.250Z'],
  ['us', '1767600000250999', '2026-01-05T08:00:00.250Z'],
])('in %s since 1970 a time is %s', async (epoch, at, instant) => {
  const row = `question_id,outcome,resolved_at\n${Q},yes,${at}\n`
  await imported('resolutions', 'a.csv', row, { epoch })
  expect(await rowsOf('SELECT resolved_at FROM resolutions')).toEqual([{ resolved_at: new Date(instant) }])
})

test('texts are made fit: lines, white space, control characters, and titles that are too long', async () => {
  const row = {
    question_id: uuidOf(1, 9),
    title: `Will\r\n it\u200b be ${'x'.repeat(2000)}?`,
    background: 'one\r\ntwo\u0085',
    category: 'cafe\u0301',
    opened_at: '2024-05-01T00:00:00Z',
    closes_at: '2024-05-02T00:00:00Z',
  }
  await expect(imported('questions', 'a.ndjson', JSON.stringify(row), {})).rejects.toThrow('1 bad row')
  const { text } = await imported('questions', 'a.ndjson', JSON.stringify(row), { normalizeText: true })
  expect(text).toContain('texts were made fit to be shown: title 1, background 1, category 1')
  expect(
    await rowsOf(
      `SELECT left(title, 12) AS title, length(title)::INTEGER AS length, resolution_criteria, background, category FROM questions WHERE length(title) > 9`,
    ),
  ).toEqual([
    {
      title: 'Will it be x',
      length: 2000,
      resolution_criteria: `${'x'.repeat(11)}?`,
      background: 'one\ntwo',
      category: 'café',
    },
  ])
})

test.each<[GivenOptions, string]>([
  [{ set: ['entity_type'] }, '--set is "entity_type", not of the form column=Text'],
  [
    { set: ['kind=a'] },
    '--set kind=a: forecasts have no column "kind", only entity_type, entity_id, question_id, probability, withdrawn, forecast_at',
  ],
  [{ set: ['entity_id=a', 'entity_id=b'] }, '--set gives entity_id two texts'],
  [{ set: ['entity_id=a'], map: ['entity_id=b'] }, '--set and --map both say what entity_id is'],
  [{ where: ['=a'] }, '--where is "=a", not of the form column=Text'],
  [{ epoch: 'h' }, '--epoch is "h", not one of s, ms and us'],
])('%j is refused', (options, message) => {
  expect(() => parseOptions('forecasts', options)).toThrow(message)
})

test('a file without the column that --where names is refused, and one with a column that --set gives', async () => {
  const content = 'user_id,display_name\n'
  await expect(imported('forecasters', 'a.csv', content, { where: ['type=a'] })).rejects.toThrow(
    'a.csv has not the columns that --where names: "type"',
  )
  await expect(imported('forecasters', 'a.csv', content, { set: ['display_name=a'] })).rejects.toThrow(
    'a.csv has unknown "display_name"',
  )
})
