// What a file says and leaves unsaid: columns that it lacks, words for missing values, ids that look alike,
// sources, and forecasts that contradict each other or count no longer.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { v5 as uuidv5 } from 'uuid'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { runImport, runTrial } from '../../jobs/import.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { type GivenOptions, parseOptions } from '../../pipeline/import/options.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, testComponents } from '../support/http/service.ts'
import { namesOf } from '../support/people.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { NOW } from '../support/worlds/world.ts'

const NAMESPACE = '6ba7b812-9dad-11d1-80b4-00c04fd430c8'
const OTHER_NAMESPACE = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
const IDS = { ids: 'text', namespace: NAMESPACE }
const OPEN = '2026-01-01T00:00:00Z,2026-02-01T00:00:00Z'
const FORECASTS = 'entity_type,entity_id,question_id,probability,forecast_at'
const forecast = (who: string, probability: string, at = '2026-01-05T00:00:00Z') =>
  `forecaster,${who},q1,${probability},${at}`
const lines = (...texts: string[]) => `${texts.join('\n')}\n`

const folder = await suiteFolder()
let prepared: MemoryStore
let components: Components

/** A store with a question, and a copy of it for each test. */
beforeAll(async () => {
  prepared = new MemoryStore()
  components = await testComponents({ store: prepared, clock: new Clock(NOW), folder })
  await said('questions', 'q.csv', lines('question_id,title,opened_at,closes_at', `q1,Will it?,${OPEN}`))
})
beforeEach(async () => {
  components = await testComponents({ store: copyOf(prepared), clock: new Clock(NOW), folder })
})

async function written(name: string, content: string): Promise<string> {
  const path = join(components.directory, name)
  await writeFile(path, content)
  return path
}

/** The report of an import, or the message and faults of a refusal that wrote nothing. */
async function said(kind: ImportKind, name: string, content: string, options: GivenOptions = IDS) {
  const path = await written(name, content)
  const before = await contentOf(components.store)
  try {
    const { text } = await runImport(components, kind, path, parseOptions(kind, options))
    // The clock of these tests stands still, and the number of the import is of no interest.
    return text.split('\n').filter((line) => !/^(note: the clock|import )/.test(line))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    expect(error.kind).toBe('invalid')
    expect(await contentOf(components.store)).toEqual(before)
    return error.faults.map(({ pointer, detail }) => `${pointer}: ${detail}`)
  }
}

async function tried(kind: ImportKind, name: string, content: string, options: GivenOptions = IDS) {
  const path = await written(name, content)
  const before = await contentOf(components.store)
  const { json, text } = await runTrial(components, kind, path, parseOptions(kind, options))
  expect(await contentOf(components.store)).toEqual(before)
  return { json, text: text.split('\n') }
}

async function rows(select: string): Promise<Record<string, unknown>[]> {
  using database = await components.openDatabase()
  await attachAll(database, components.local, await currentVersions(components.store))
  return await database.rows(select)
}

const forecasters = async () =>
  (await rows('SELECT user_id FROM forecasters')).map((row) => String(row['user_id'])).toSorted()

describe('a column that a file lacks', () => {
  const full = lines(
    'question_id,title,category,event_id,source,source_id,background,opened_at,closes_at',
    `k1,Will it?,politics,ev1,metaculus,5,a text,${OPEN}`,
  )
  const standing = async () =>
    (
      await rows(`SELECT said.* EXCLUDE (question_id, title, url, resolution_criteria, opened_at, recorded_at) FROM current_questions current
        JOIN questions said USING (question_id, recorded_at) WHERE question_id = '${uuidv5('k1', NAMESPACE)}'`)
    )[0]
  const kept = {
    category: 'politics',
    event_id: 'ev1',
    source: 'metaculus',
    source_id: '5',
    background: 'a text',
    reason: null,
  }

  test('keeps what stands, and the report says which columns changed', async () => {
    await said('questions', 'q.csv', full)
    const fewer = lines(
      'question_id,title,opened_at,closes_at',
      'k1,Will it?,2026-01-01T00:00:00Z,2026-03-01T00:00:00Z',
      `k2,Another?,${OPEN}`,
      `q1,Will it?,${OPEN}`,
    )
    const { text, json } = await tried('questions', 'q.csv', fewer)
    expect(text).toEqual([
      'questions, dry run: of 3 rows 1 are new, 1 changed (closes_at 1), 1 known already, 0 bad; nothing was imported',
    ])
    expect(json).toMatchObject({ added: 1, changed: 1, changed_columns: { closes_at: 1 }, unchanged: 1 })
    expect(await said('questions', 'q.csv', fewer)).toEqual([
      'questions: 1 of 3 rows added, 1 changed (closes_at 1), 1 known already',
    ])
    expect(await standing()).toEqual({ ...kept, closes_at: new Date('2026-03-01T00:00:00Z') })
    expect(await said('questions', 'q.csv', fewer)).toEqual(['questions: 0 of 3 rows added, 3 known already'])
  })

  test('is not an empty cell, which empties it', async () => {
    await said('questions', 'q.csv', full)
    const emptied = lines('question_id,title,category,event_id,opened_at,closes_at', `k1,Will it?,,,${OPEN}`)
    expect(await said('questions', 'q.csv', emptied)).toEqual([
      'questions: 0 of 1 rows added, 1 changed (category 1, event_id 1), 0 known already',
    ])
    expect(await standing()).toMatchObject({ ...kept, category: null, event_id: null })
  })

  test('may be a member of one line of JSON only', async () => {
    await said('questions', 'q.csv', full)
    const [opened_at, closes_at] = OPEN.split(',')
    const line = (more: object) =>
      JSON.stringify({ question_id: 'k1', title: 'Will it?', opened_at, closes_at, ...more })
    expect(await said('questions', 'q.ndjson', lines(line({ category: 'sports' })))).toEqual([
      'questions: 0 of 1 rows added, 1 changed (category 1), 0 known already',
    ])
    expect(await said('questions', 'q.ndjson', lines(line({ event_id: null })))).toEqual([
      'questions: 0 of 1 rows added, 1 changed (event_id 1), 0 known already',
    ])
    expect(await standing()).toMatchObject({ ...kept, category: 'sports', event_id: null })
  })

  test('keeps the names of forecasters', async () => {
    await said('forecasters', 'f.csv', lines('user_id,display_name', 'ada,Ada', 'eve,Eve'))
    expect(await said('forecasters', 'f.csv', lines('user_id', 'ada', 'bob'))).toEqual([
      'forecasters: 1 of 2 rows added, 1 known already',
    ])
    expect(await said('forecasters', 'f.csv', lines('user_id,display_name', 'ada,'))).toEqual([
      'forecasters: 0 of 1 rows added, 1 changed (display_name 1), 0 known already',
    ])
    expect(new Set(await namesOf(components.store, await forecasters()))).toEqual(new Set(['Eve', null]))
  })
})

describe('a Parquet time without a zone', () => {
  const naive = async () => {
    const path = join(components.directory, 'naive.parquet')
    using database = await components.openDatabase()
    await database.run(
      `COPY (SELECT 'forecaster' AS entity_type, 'ada' AS entity_id, 'q1' AS question_id, 0.3 AS probability,
         TIMESTAMP '2026-01-05 12:00:00' AS forecast_at) TO '${path}' (FORMAT parquet)`,
    )
    return path
  }

  test('is a time of --timezone', async () => {
    const options = parseOptions('forecasts', { ...IDS, timezone: 'Europe/Paris' })
    await runImport(components, 'forecasts', await naive(), options)
    expect(await rows('SELECT forecast_at FROM forecasts')).toEqual([
      { forecast_at: new Date('2026-01-05T11:00:00Z') },
    ])
  })

  test('is refused without it', async () => {
    await expect(
      runImport(components, 'forecasts', await naive(), parseOptions('forecasts', IDS)),
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
})

describe('a word for a missing value', () => {
  test('is missing in a text, and counted', async () => {
    const [opened_at, closes_at] = OPEN.split(',')
    const line = (id: string, category: string) =>
      `{"question_id":"${id}","title":"Will it?","category":${category},"event_id":NaN,"opened_at":"${opened_at}","closes_at":"${closes_at}"}`
    const json = lines(line('n1', 'NaN'), line('n2', '"NA"'), line('n3', 'null'), line('n4', '-Infinity'))
    expect(await said('questions', 'q.ndjson', json)).toEqual([
      'questions: 4 of 4 rows added, 0 known already',
      'cells with a word such as NaN were taken as missing: category 2, event_id 4',
    ])
    const csv = lines(
      'question_id,title,category,opened_at,closes_at',
      ...['NaN', 'NA', 'N/A', 'null', 'Infinity', 'nullable'].map(
        (word, at) => `c${at},Will it?,${word},${OPEN}`,
      ),
    )
    const { json: report } = await tried('questions', 'q.csv', csv)
    expect(report).toMatchObject({ missing_words: { category: 5 } })
    await said('questions', 'q.csv', csv)
    expect(await rows('SELECT DISTINCT category FROM current_questions ORDER BY ALL')).toEqual([
      { category: 'NA' },
      { category: 'nullable' },
      { category: null },
    ])
  })

  test('is an error in another column', async () => {
    const word = 'a word for a missing value'
    const questions = lines('question_id,title,opened_at,closes_at', `NaN,Will it?,${OPEN}`, `a,N/A,${OPEN}`)
    expect(await said('questions', 'q.csv', questions)).toEqual([
      `line 2: question_id is "NaN", ${word}`,
      `line 3: title is "N/A", ${word}`,
    ])
    // In a file of one column too, where a blank line is no row.
    expect(await said('forecasters', 'f.csv', lines('user_id', 'NA', '', 'ada'))).toEqual([
      `line 2: user_id is "NA", ${word}`,
    ])
    const rowsOf = [forecast('ada', 'NaN'), forecast('ada', '0.5', 'null'), forecast('null', '0.5')]
    expect(await said('forecasts', 'f.csv', lines(FORECASTS, ...rowsOf))).toEqual([
      'line 2: probability is "NaN", not a number from 0 to 1',
      'line 3: forecast_at is "null", not a time with an offset such as 2026-01-31T12:00:00Z',
      `line 4: entity_id is "null", ${word}`,
    ])
  })
})

describe('an id that is text', () => {
  test('has one form: NFC, with single spaces inside and none around', async () => {
    const ids = ['Zoë', 'Zoe\u0308', ' Zoë\u00a0', 'Zoë\u2003']
    const names = ['a b', 'a \u2009 b', 'a\u00a0b']
    const all = [...ids, ...names].map((who) => forecast(who, '0.5'))
    expect(await said('forecasts', 'f.csv', lines(FORECASTS, ...all))).toEqual([
      'forecasts: 2 of 7 rows added, 5 known already (5 repeated in the file), 2 forecasters met for the first time',
    ])
    expect(await forecasters()).toEqual([uuidv5('Zoë', NAMESPACE), uuidv5('a b', NAMESPACE)].toSorted())
  })

  test('keeps its meaning, also without a letter', async () => {
    const ids = ['ada', 'Ada', '#1', '🦉', '–', 'می\u200cخواهم']
    await said('forecasters', 'f.csv', lines('user_id,display_name', ...ids.map((id) => `${id},x`)))
    expect(await forecasters()).toEqual(ids.map((id) => uuidv5(id, NAMESPACE)).toSorted())
  })

  test('has no invisible character', async () => {
    const marks = ['\u200b', '\u00ad', '\ufeff', '\u200e', '\u2060', '\u0007']
    const all = marks.map((mark) => forecast(`bob${mark}`, '0.5'))
    expect(await said('forecasts', 'f.csv', lines(FORECASTS, ...all))).toEqual(
      marks.map((mark, at) => {
        const code = mark.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
        return `line ${at + 2}: entity_id must not have the character U+${code}, a control, format, private-use, unassigned or invisible one`
      }),
    )
  })

  test('of an event and of a source has one form too', async () => {
    const header = 'question_id,title,event_id,source,source_id,opened_at,closes_at'
    await said('questions', 'q.csv', lines(header, `k1,Will it?, World\u00a0 Cup ,a  b, 5 ,${OPEN}`))
    expect(
      await rows('SELECT event_id, source, source_id FROM current_questions WHERE source IS NOT NULL'),
    ).toEqual([{ event_id: 'World Cup', source: 'a b', source_id: '5' }])
    expect(await said('questions', 'q.csv', lines(header, `k1,Will it?,World Cup,a b,5,${OPEN}`))).toEqual([
      'questions: 0 of 1 rows added, 1 known already',
    ])
    expect(await said('questions', 'q.csv', lines(header, `k2,Will it?,,a b,5\u200b,${OPEN}`))).toEqual([
      expect.stringMatching(/^line 2: source_id must not have the character U\+200B/),
    ])
  })
})

describe('the source of a question', () => {
  const header = 'question_id,title,source,source_id,opened_at,closes_at'
  const asked = (platform: string, id = '100') => lines(header, `100,Will it?,${platform},${id},${OPEN}`)
  const known = 'line 2: source is "platform-b", but question_id "100" is a question of "platform-a"'

  test('is not changed by a file of another platform with the same ids', async () => {
    await said('questions', 'a.csv', asked('platform-a'))
    expect(await said('questions', 'b.csv', asked('platform-b'))).toEqual([expect.stringContaining(known)])
    const { text } = await tried('questions', 'b.csv', asked('platform-b'))
    expect(text.at(-1)).toContain(known)
    // Each platform has a namespace of its own, or a source that was wrong is taken away first.
    const other = {
      ids: 'text',
      namespace: [OTHER_NAMESPACE, OTHER_NAMESPACE],
    }
    expect(await said('questions', 'b.csv', asked('platform-b', '7'), other)).toEqual([
      'questions: 1 of 1 rows added, 0 known already',
    ])
    await said('questions', 'a.csv', asked('', ''))
    expect(await said('questions', 'b.csv', asked('platform-b'))).toEqual([
      'questions: 0 of 1 rows added, 1 changed (source 1, source_id 1), 0 known already',
    ])
  })

  test('stays for files that do not say it', async () => {
    await said('questions', 'a.csv', asked('platform-a'))
    expect(
      await said(
        'questions',
        'a.csv',
        lines('question_id,title,source_id,opened_at,closes_at', `100,Will it?,101,${OPEN}`),
      ),
    ).toEqual(['questions: 0 of 1 rows added, 1 changed (source_id 1), 0 known already'])
  })
})

describe('a dry run', () => {
  test('goes on after a line that cannot be read, in CSV', async () => {
    const text = lines(
      'question_id,title,opened_at,closes_at',
      `a,A?,${OPEN}`,
      'b,B?',
      `c,"C\n?",${OPEN}`,
      `d,D?,${OPEN},x`,
      `e,E?,2026-01-01,2026-02-01T00:00:00Z`,
      `f,F?,${OPEN}`,
      `f,F?,${OPEN}`,
    )
    const { text: report, json } = await tried('questions', 'q.csv', text)
    expect(report[0]).toBe(
      'questions, dry run: of 7 rows 2 are new, 0 known already, 5 bad; nothing was imported',
    )
    expect(report.slice(-5)).toEqual(
      [
        'line 3: Expected Number of Columns: 4 Found: 2',
        'line 4: title must not have the character U',
        'line 6: Expected Number of Columns: 4 Found: 5',
        'line 7: opened_at is "2026-01-01", not a time',
        'line 9: question_id "f" appears a second time',
      ].map((beginning) => expect.stringContaining(`  ${beginning}`) as string),
    )
    expect(json).toMatchObject({ rows: 7, added: 2, bad: 5 })
  })

  test('goes on after lines that cannot be read, in NDJSON', async () => {
    const line = (id: string, closes = '2026-02-01T00:00:00Z') =>
      JSON.stringify({ question_id: id, title: 'A?', opened_at: '2026-01-01T00:00:00Z', closes_at: closes })
    const long = `{"question_id":"${'x'.repeat(1_100_000)}"}`
    const { json } = await tried(
      'questions',
      'q.ndjson',
      lines(line('a'), 'not json', '', long, line('b'), line('c', 'soon'), '[1]', line('d')),
    )
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

  test('of a file without a header asks for it', async () => {
    const path = await written('f.csv', lines(forecast('ada', '0.5')))
    await expect(runTrial(components, 'forecasts', path, parseOptions('forecasts', IDS))).rejects.toThrow(
      '; no header? the first line must have the names of the columns',
    )
  })
})

describe('two forecasts of the same instant', () => {
  const moment = 'for the same forecaster and question at the same millisecond'

  test('contradict each other in a file, which names both lines', async () => {
    const rowsOf = [
      forecast('ada', '0.5'),
      forecast('eve', '0.5'),
      forecast('ada', '0.50'),
      forecast('ada', '0.6', '2026-01-05T01:00:00.0009+01:00'),
      forecast('ada', 'withdrawn'),
      forecast('ada', '0.6', '2026-01-05T00:00:00.001Z'),
    ]
    const expected = [
      `line 5: probability is 0.6, but line 2 has 0.5 ${moment}`,
      `line 6: probability is withdrawn, but line 2 has 0.5 ${moment}`,
    ]
    expect(await said('forecasts', 'f.csv', lines(FORECASTS, ...rowsOf))).toEqual(expected)
    const { json } = await tried('forecasts', 'f.csv', lines(FORECASTS, ...rowsOf))
    expect(json).toMatchObject({ rows: 6, added: 3, unchanged: 1, repeats: 1, bad: 2 })
  })

  test('contradict each other against the table, and exact repeats do not', async () => {
    await said('forecasts', 'f.csv', lines(FORECASTS, forecast('ada', '0.5')))
    const [known] = await rows('SELECT forecast_id FROM forecasts')
    const later = lines(FORECASTS, forecast('ada', '0.5'), forecast('ada', '0.4'), forecast('eve', '0.4'))
    expect(await said('forecasts', 'f.csv', later)).toEqual([
      `line 3: probability is 0.4, but the known forecast ${String(known!['forecast_id'])} has 0.5 ${moment}`,
    ])
    const repeats = lines(FORECASTS, forecast('ada', '0.5'), forecast('eve', '0.4'), forecast('eve', '0.4'))
    expect(await said('forecasts', 'f.csv', repeats)).toEqual([
      'forecasts: 1 of 3 rows added, 2 known already (1 repeated in the file), 1 forecasters met for the first time',
    ])
  })
})

describe('a withdrawal', () => {
  const HEADER = `${FORECASTS},withdrawn`
  const later = '2026-01-06T00:00:00Z'
  const probabilities = async () =>
    (await rows('SELECT probability FROM forecasts ORDER BY forecast_at, entity_id')).map(
      (row) => row['probability'],
    )
  const object = (members: object) =>
    JSON.stringify({
      entity_type: 'forecaster',
      entity_id: 'ada',
      question_id: 'q1',
      forecast_at: '2026-01-05T00:00:00Z',
      ...members,
    })

  test('is an empty probability, the word, or said by its own column, and is counted', async () => {
    const file = lines(
      HEADER,
      `${forecast('ada', '0.5')},`,
      `${forecast('eve', '0.5')},False`,
      `${forecast('ada', '', later)},`,
      `${forecast('eve', '', later)},TRUE`,
      `${forecast('joe', 'Withdrawn', later)},`,
    )
    const { text, json } = await tried('forecasts', 'f.csv', file)
    expect(text[1]).toBe('3 of the rows withdraw a forecast')
    expect(json).toMatchObject({ rows: 5, added: 5, withdrawals: 3, bad: 0 })
    expect((await said('forecasts', 'f.csv', file))[1]).toBe('3 of the rows withdraw a forecast')
    expect(await probabilities()).toEqual([0.5, 0.5, null, null, null])
  })

  test('is the same row however it is said, and the column changes no id', async () => {
    const plain = lines(FORECASTS, forecast('ada', '0.5'), forecast('ada', 'withdrawn', later))
    expect((await said('forecasts', 'f.csv', plain))[0]).toMatch(/^forecasts: 2 of 2 rows added/)
    const marked = lines(HEADER, `${forecast('ada', '0.5')},false`, `${forecast('ada', '', later)},true`)
    expect(await said('forecasts', 'f.csv', marked)).toEqual([
      'forecasts: 0 of 2 rows added, 2 known already',
      '1 of the rows withdraws a forecast',
    ])
    expect((await said('forecasts', 'f.csv', lines(FORECASTS, forecast('ada', '', later))))[0]).toBe(
      'forecasts: 0 of 1 rows added, 1 known already',
    )
  })

  test('may be a null or a boolean of JSON, and not a member that the line lacks', async () => {
    const file = lines(
      object({ probability: null }),
      object({ entity_id: 'eve', probability: null, withdrawn: true }),
      object({ entity_id: 'joe', probability: 0.5, withdrawn: false }),
      object({ entity_id: 'kim', withdrawn: true }),
      object({ entity_id: 'lee', probability: true }),
      object({ entity_id: 'max', probability: 0.5, withdrawn: [true] }),
    )
    const { json } = await tried('forecasts', 'f.ndjson', file)
    expect(json).toMatchObject({
      added: 3,
      withdrawals: 2,
      errors: [
        { pointer: 'line 4', detail: 'probability is missing; null would withdraw the forecast' },
        { pointer: 'line 5', detail: 'probability is "true", not a number from 0 to 1' },
        { pointer: 'line 6', detail: 'withdrawn is neither text nor a number' },
      ],
    })
  })

  test('may be said of all rows around a list of JSON', async () => {
    const file = JSON.stringify({ probability: null, withdrawn: true, rows: [JSON.parse(object({}))] })
    await said('forecasts', 'f.json', file)
    expect(await probabilities()).toEqual([null])
  })

  test('may be a null or a boolean of Parquet', async () => {
    const path = join(components.directory, 'f.parquet')
    using database = await components.openDatabase()
    await database.run(
      `COPY (SELECT 'forecaster' AS entity_type, 'ada' AS entity_id, 'q1' AS question_id, unnest([0.5, NULL, NULL]) AS probability,
         unnest([false, true, NULL]) AS withdrawn, unnest(['2026-01-05T00:00:00Z', '2026-01-06T00:00:00Z', '2026-01-07T00:00:00Z']) AS forecast_at)
       TO '${path}' (FORMAT parquet)`,
    )
    const { json } = await runImport(components, 'forecasts', path, parseOptions('forecasts', IDS))
    expect(json).toMatchObject({ added: 3, withdrawals: 2 })
    expect(await probabilities()).toEqual([0.5, null, null])
  })

  test('that its row contradicts makes the row bad, and so does a word for a missing value', async () => {
    const file = lines(
      HEADER,
      `${forecast('ada', '0.5')},true`,
      `${forecast('ada', 'withdrawn')},true`,
      `${forecast('ada', '')},false`,
      `${forecast('ada', 'withdrawn')},FALSE`,
      `${forecast('ada', '0.5')},yes`,
      `${forecast('ada', 'NaN')},`,
      `${forecast('ada', 'null')},true`,
    )
    expect(await said('forecasts', 'f.csv', file)).toEqual([
      'line 2: withdrawn is "true", but probability is "0.5"; leave it empty',
      'line 3: withdrawn is "true", but probability is "withdrawn"; leave it empty',
      'line 4: withdrawn is "false", but probability is empty',
      'line 5: withdrawn is "FALSE", but probability is "withdrawn"',
      'line 6: withdrawn is "yes", not one of true, false',
      'line 7: probability is "NaN", not a number from 0 to 1',
      'line 8: probability is "null", not a number from 0 to 1',
    ])
    const { json } = await tried('forecasts', 'f.csv', file)
    expect(json).toMatchObject({ withdrawals: 0 })
  })

  test('needs the column of probabilities', async () => {
    const file = lines(
      'entity_type,entity_id,question_id,forecast_at,withdrawn',
      `forecaster,ada,q1,${later},true`,
    )
    const path = await written('f.csv', file)
    await expect(
      runImport(components, 'forecasts', path, parseOptions('forecasts', IDS)),
    ).rejects.toMatchObject({ message: expect.stringMatching(/lacks "probability"/) as string })
  })
})

describe('forecasts that no longer count', () => {
  const note = (count: number, entities: number) =>
    `${count} known forecasts of ${entities} entities no longer count: by this file their question had closed, or its outcome was known, when they were made`
  const days = [2, 10, 20, 30].map((day) => `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`)

  beforeEach(async () => {
    const all = ['ada', 'eve'].flatMap((who) => days.map((at) => forecast(who, '0.5', at)))
    await said(
      'forecasts',
      'f.csv',
      lines(FORECASTS, ...all, forecast('eve', 'withdrawn', '2026-01-31T00:00:00Z')),
    )
  })
  const resolution = (at: string, outcome = 'yes') =>
    lines('question_id,outcome,resolved_at', `q1,${outcome},${at}`)

  test('are counted when an outcome was known earlier', async () => {
    const { text, json } = await tried('resolutions', 'r.csv', resolution('2026-01-20T00:00:00Z'))
    expect(text[1]).toBe(note(4, 2))
    expect(json).toMatchObject({ made_void: { forecasts: 4, entities: 2 } })
    expect((await said('resolutions', 'r.csv', resolution('2026-01-20T00:00:00Z')))[1]).toBe(note(4, 2))
    // Only those that counted until then.
    expect((await said('resolutions', 'r.csv', resolution('2026-01-05T00:00:00Z')))[1]).toBe(note(2, 2))
    expect(await said('resolutions', 'r.csv', resolution('2026-01-25T00:00:00Z'))).toHaveLength(1)
    expect(await said('resolutions', 'r.csv', resolution('2026-01-03T00:00:00Z', 'open'))).toHaveLength(1)
  })

  test('are counted when a close is moved before them', async () => {
    const moved = lines(
      'question_id,title,opened_at,closes_at',
      'q1,Will it?,2026-01-01T00:00:00Z,2026-01-25T00:00:00Z',
    )
    expect((await tried('questions', 'q.csv', moved)).text[1]).toBe(note(2, 2))
    expect((await said('questions', 'q.csv', moved))[1]).toBe(note(2, 2))
  })

  test('because the outcome was known before the opening are refused', async () => {
    expect(await said('resolutions', 'r.csv', resolution('2025-12-31T23:59:59.999Z'))).toEqual([
      'line 2: resolved_at is "2025-12-31T23:59:59.999Z", before the question opened at 2026-01-01T00:00:00.000Z',
    ])
    await said('resolutions', 'r.csv', resolution('2026-01-01T00:00:00Z'))
    const later = lines(
      'question_id,title,opened_at,closes_at',
      'q1,Will it?,2026-01-02T00:00:00Z,2026-02-01T00:00:00Z',
    )
    expect(await said('questions', 'q.csv', later)).toEqual([
      'line 2: opened_at is "2026-01-02T00:00:00Z", after the outcome became known at 2026-01-01T00:00:00.000Z',
    ])
  })
})
