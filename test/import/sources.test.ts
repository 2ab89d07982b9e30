// Files of platforms, as each gives them: the report, the rows that are imported, and the scores that a
// platform publishes. A folder of `sources/` is a case. `npx vitest run --project unit FILE -u` writes the
// goldens anew.
// @module-tag slow
import { readFileSync } from 'node:fs'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { v5 as uuidv5 } from 'uuid'
import { describe, expect, test } from 'vitest'
import { runImportFrom } from '../../jobs/import/import-from.ts'
import { runImport } from '../../jobs/import/import.ts'
import { parseOptions } from '../../pipeline/import/options.ts'
import { SOURCES } from '../../pipeline/import/sources.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { contentOf } from '../support/store-content.ts'
import { CASES, filesOf, rowsOf, sourceOf } from '../support/worlds/source-cases.ts'
import { zipOf } from '../support/zip.ts'

const folder = await suiteFolder()
const clock = new Clock('2026-11-26T12:00:00.000Z')
const fresh = () => testComponents({ store: new MemoryStore(), clock, folder })

interface Sums {
  read: number
  taken: number
  repeated: number
  left_out: number
  reasons: { reason: string; count: number; examples: string[] }[]
}

test('every source has a case', async () => {
  expect((await readdir(CASES)).toSorted()).toEqual(SOURCES.map(({ name }) => name).toSorted())
})

test.each(SOURCES.map(({ name }) => name))('%s: each row is taken, repeated or left out', async (name) => {
  const components = await fresh()
  const paths = await filesOf(name)
  const { ok, text, json } = await runImportFrom(components, sourceOf(name), paths, { check: true })
  expect(ok).toBe(true)
  await expect(`${text}\n`).toMatchFileSnapshot(join(CASES, name, 'report.txt'))
  await expect(await rowsOf(components)).toMatchFileSnapshot(join(CASES, name, 'rows.txt'))
  const { files } = json as { files: Sums[] }
  for (const { read, taken, repeated, left_out, reasons } of files) {
    expect(taken + repeated + left_out).toBe(read)
    expect(reasons.reduce((sum, { count }) => sum + count, 0)).toBe(left_out)
    for (const { count, examples } of reasons) {
      expect(examples.length).toBeGreaterThan(0)
      expect(examples.length).toBeLessThanOrEqual(Math.min(count, 3))
    }
  }
  const again = await runImportFrom(components, sourceOf(name), paths.toReversed())
  const { imported } = again.json as { imported: { added: number; changed: number }[] }
  expect(imported.every(({ added, changed }) => added === 0 && changed === 0)).toBe(true)
})

test('an id is the version 5 UUID of the text in the namespace of its source, as with --ids text', async () => {
  const components = await fresh()
  const { namespace } = sourceOf('manifold')
  await runImportFrom(components, sourceOf('manifold'), await filesOf('manifold'))
  expect(await rowsOf(components)).toContain(
    `"question_id":"${uuidv5('aB1', namespace)}","title":"Will it rain on Monday?"`,
  )
  const path = join(components.directory, 'forecasters.csv')
  await writeFile(path, 'user_id\nu1\n')
  const options = parseOptions('forecasters', { ids: 'text', namespace })
  expect((await runImport(components, 'forecasters', path, options)).json).toMatchObject({
    unchanged: 1,
    added: 0,
  })
})

test('a dry run looks at forecasts on questions of the same command, and writes nothing', async () => {
  const components = await fresh()
  const { ok, json } = await runImportFrom(components, sourceOf('manifold'), await filesOf('manifold'), {
    dryRun: true,
  })
  expect(ok).toBe(true)
  expect(json).toMatchObject({
    dry_run: true,
    imported: [
      { kind: 'questions', added: 4 },
      { kind: 'resolutions', added: 3 },
      { kind: 'forecasters' },
      { kind: 'forecasts', added: 4, bad: 0, too_late: 1 },
    ],
  })
  expect(await contentOf(components.store)).toEqual({})
})

test('forecasts may be on questions that an earlier command imported, and come in any number of commands', async () => {
  const [bets, markets] = await filesOf('manifold')
  const [apart, together] = [await fresh(), await fresh()]
  await runImportFrom(apart, sourceOf('manifold'), [markets!])
  await runImportFrom(apart, sourceOf('manifold'), [bets!])
  await runImportFrom(together, sourceOf('manifold'), [bets!, markets!])
  expect(await rowsOf(apart)).toBe(await rowsOf(together))
})

test('a row that was taken and is refused refuses all files, by its place in its file', async () => {
  const components = await fresh()
  const ours =
    'question_id,title,source,source_id,opened_at,closes_at\n0198c1a0-0000-7000-8000-000000000001,Other,manifold,aB1,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z\n'
  await importRows(components, 'questions', ours)
  const before = await contentOf(components.store)
  await expect(
    runImportFrom(components, sourceOf('manifold'), await filesOf('manifold')),
  ).rejects.toMatchObject({
    kind: 'invalid',
    message: 'the questions of manifold: 1 bad row; nothing was imported',
    faults: [
      {
        pointer: 'markets.json item 1',
        detail: expect.stringContaining('is that of question 0198c1a0') as string,
      },
    ],
  })
  expect(await contentOf(components.store)).toEqual(before)
})

test('freeze values of markets are forecasts of one forecaster where they are asked for', async () => {
  const components = await fresh()
  const market = (id: string, freeze_datetime_value: string) => ({
    id,
    source: 'manifold',
    question: `Will ${id} happen?`,
    resolution_criteria: 'N/A',
    market_info_close_datetime: '2026-01-01T04:59:00+00:00',
    freeze_datetime: '2025-10-16T00:00:00+00:00',
    freeze_datetime_value,
    resolution_dates: 'N/A',
  })
  const data = { ...market('EXPINF30YR', '2.41'), source: 'fred', resolution_dates: ['2025-11-25'] }
  const path = join(components.directory, '2025-10-26-llm.json')
  const questions = [market('m1', '0.25'), market('m2', '0.75'), market('m3', 'N/A'), data]
  await writeFile(path, JSON.stringify({ forecast_due_date: '2025-10-26', questions }))
  const plain = await runImportFrom(components, sourceOf('forecastbench'), [path], { dryRun: true })
  expect(plain.text).not.toContain('freeze')
  const { text } = await runImportFrom(components, sourceOf('forecastbench'), [path], { withFreeze: true })
  expect(text).toContain(`  freeze-value: 1 read = 1 taken + 0 repeated + 0 left out
  freeze values: 4 read = 2 taken + 0 repeated + 2 left out
    1  a question about data, whose freeze value is no probability (item 4)
    1  the probability is not a number from 0 to 1 (item 3)
`)
  const { namespace } = sourceOf('forecastbench')
  const rows = await rowsOf(components)
  for (const [id, probability] of [
    ['m1', '0.25'],
    ['m2', '0.75'],
  ] as const) {
    const row = rows.split('\n').find((line) => line.includes(`"probability":${probability}`))!
    expect(row).toContain(uuidv5('freeze-value', namespace))
    expect(row).toContain(uuidv5(`manifold/${id}/2025-10-26`, namespace))
    expect(row).toContain('2025-10-16T00:00:00.000Z')
  }
  await expect(
    runImportFrom(components, sourceOf('manifold'), await filesOf('manifold'), { withFreeze: true }),
  ).rejects.toThrow('--with-freeze is not for manifold: its files have no freeze values')
})

describe('several fills of a bettor in one millisecond', () => {
  const market = {
    id: 'm1',
    question: 'Will it?',
    outcomeType: 'BINARY',
    createdTime: 1735776000000,
    closeTime: 1751284800000,
    resolution: 'YES',
    resolutionTime: 1751300000000,
  }
  const fill = (id: string, probBefore: number, probAfter: number) => ({
    id,
    userId: 'u1',
    contractId: 'm1',
    createdTime: 1736000000000,
    probBefore,
    probAfter,
    amount: 10,
  })
  const imported = async (fills: readonly object[]) => {
    const components = await fresh()
    const path = (name: string) => join(components.directory, name)
    await writeFile(path('markets.json'), JSON.stringify([market]))
    await writeFile(path('bets.json'), JSON.stringify(fills))
    const paths = [path('markets.json'), path('bets.json')]
    const { json } = await runImportFrom(components, sourceOf('manifold'), paths, { check: true })
    const { files } = json as { files: (Sums & { rows: string })[] }
    const forecasts = (await rowsOf(components)).split('\n').filter((line) => line.includes('"probability"'))
    return {
      taken: forecasts.map((line) => (JSON.parse(line) as { probability: number }).probability),
      reasons: files.find(({ rows }) => rows === 'forecasts')!.reasons.map(({ reason }) => reason),
    }
  }
  const chain = [fill('b1', 0.5, 0.6), fill('b2', 0.6, 0.55), fill('b3', 0.55, 0.65)]

  test.each([
    ['as they were', chain],
    ['backwards', chain.toReversed()],
    ['with one of them twice', [chain[1]!, chain[2]!, chain[0]!, chain[1]!]],
  ])('are the price after the last of their chain, %s', async (_, fills) => {
    expect(await imported(fills)).toEqual({
      taken: [0.65],
      reasons: ['a fill before the last one of its millisecond'],
    })
  })

  test('that form no chain with one end are left out', async () => {
    const circle = [fill('b1', 0.5, 0.6), fill('b2', 0.6, 0.5)]
    expect(await imported(circle)).toEqual({
      taken: [],
      reasons: ['one of several fills of a millisecond, and their prices do not say which was the last'],
    })
  })
})

test('a check compares with the files, and not with what was taken of them', async () => {
  const components = await fresh()
  const path = join(components.directory, 'mlb_games.csv')
  const check = async (header: string, rows: string) => {
    await writeFile(path, `${header}\n${rows}`)
    const options = { check: true, dryRun: true }
    return (await runImportFrom(components, sourceOf('fivethirtyeight'), [path], options)).text
  }
  const games = '2022-10-05,Orioles,Blue Jays,0.4,0,0\n2022-10-05,Orioles,Blue Jays,0.4,1,1\n'
  const lost = await check('date,team1,team2,prob1,prob1_outcome,dh_unknown', games)
  expect(lost).toContain(
    'check: Brier score of FiveThirtyEight mlb 0.160000 over 1 question, 0.100 from the mean over the 2 forecasts of the files',
  )
  const whole = await check('date,team1,team2,prob1,prob1_outcome,dh', games)
  expect(whole).toMatch(/ 0\.260000 over 2 questions, \S+ from the mean over the 2 forecasts of the files/)
})

test('a report goes to a file as one object a line', async () => {
  const components = await fresh()
  const report = join(components.directory, 'report.ndjson')
  await runImportFrom(components, sourceOf('gjp'), await filesOf('gjp'), { report })
  const lines = (await readFile(report, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  expect(lines[0]).toEqual({
    source: 'gjp',
    file: 'ifps.csv',
    rows: 'questions',
    read: 6,
    taken: 3,
    repeated: 0,
    left_out: 3,
    altered: {},
  })
  expect(lines).toContainEqual({
    source: 'gjp',
    file: 'ifps.csv',
    rows: 'questions',
    reason: 'a conditional question',
    count: 1,
    examples: ['line 6'],
  })
  expect(lines).toContainEqual(expect.objectContaining({ source: 'gjp', imported: 'questions', added: 3 }))
  await expect(
    runImportFrom(components, sourceOf('gjp'), await filesOf('gjp'), { report: join(folder, 'none/report') }),
  ).rejects.toThrow('/none/report cannot be written')
})

const UNKNOWN =
  'polymarket: api_markets have id, question, endDate, outcomes, outcomePrices, closed; markets have market_id, market_question, start_date, end_date, resolved_outcome, closed_time'
test.each([
  ['another table', 'a.csv', 'id,title\n1,a\n', `a.csv has not the columns of any file of ${UNKNOWN}`],
  ['another list', 'a.json', '[{"id": 1}]', `a.json has not the columns of any file of ${UNKNOWN}`],
  ['a list of nothing', 'a.json', '[]', `a.json has not the columns of any file of ${UNKNOWN}`],
  [
    'an object without a list',
    'a.json',
    '{"id": 1}',
    'a.json is an object with no list, and not one with one list of rows; see --rows',
  ],
  [
    'an object of two lists',
    'a.json',
    '{"a": [], "b": []}',
    'a.json is an object with the lists a, b, and not one with one list of rows; see --rows',
  ],
  ['no JSON', 'a.json', '[{"id": ]', /^a\.json cannot be read: .*JSON in file "a\.json"/],
  [
    'a pointer of Git LFS',
    'a.json',
    'version https://git-lfs.github.com/spec/v1\noid sha256:0\n',
    /a\.json is a pointer of Git LFS/,
  ],
  [
    'a row that cannot be read',
    'a.csv',
    'market_id,market_question,start_date,end_date,resolved_outcome,closed_time\n1,a\n',
    'a.csv: 1 row cannot be read; nothing was imported',
  ],
])('%s is refused', async (_, name, content, message) => {
  const components = await fresh()
  const path = join(components.directory, name)
  await writeFile(path, content)
  await expect(runImportFrom(components, sourceOf('polymarket'), [path])).rejects.toThrow(message)
  expect(await contentOf(components.store)).toEqual({})
})

test('a zip gives what its files give, and names the members that are not read', async () => {
  const [zipped, plain] = [await fresh(), await fresh()]
  const paths = await filesOf('metaculus')
  const members = Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path.slice(CASES.length), await readFile(path)] as const)),
  )
  const archive = join(zipped.directory, 'data.zip')
  await writeFile(
    archive,
    zipOf({ ...members, 'README.md': 'read me', 'comment_data.csv': 'Post ID,Comment Text\n1,a\n' }),
  )
  const { text } = await runImportFrom(zipped, sourceOf('metaculus'), [archive])
  await runImportFrom(plain, sourceOf('metaculus'), paths)
  expect(await rowsOf(zipped)).toBe(await rowsOf(plain))
  expect(text).toContain('data.zip/question_data.csv: 5 rows\n')
  expect(text).toContain('not read: data.zip/comment_data.csv\n')
})

/** The forecasts and scores have the columns of a download. Their README says where they are from. */
test.for([
  ['without a secret', {}],
  ['with IDS_SECRET', { IDS_SECRET: 'a secret of at least thirty-two bytes' }],
] as const)(
  'peer and baseline scores of 47 pairs are those that Metaculus published, within 1e-6, %s',
  async ([, settings]) => {
    const components = await testComponents({ store: new MemoryStore(), clock, folder, settings })
    const rows = (file: string) =>
      readFileSync(new URL(`../vectors/metaculus-q3-2024/${file}`, import.meta.url), 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(','))
    const write = async (name: string, lines: readonly string[]) => {
      await writeFile(join(components.directory, name), `${lines.join('\n')}\n`)
      return join(components.directory, name)
    }
    const time = (at: string) => at.replace('T', ' ').replace('Z', '+00:00')
    const question = (id: string, opens: string, closes: string) =>
      `${id},Question ${id},${id},binary,${time(opens)},${time(closes)},${time(closes)},yes,${time(closes)}`
    const paths = await Promise.all([
      write('question_data.csv', [
        'Question ID,Question Title,Post ID,Question Type,Open Time,Scheduled Close Time,Actual Close Time,Resolution,Resolution Known Time',
        question('25520', '2024-06-20T11:00:00Z', '2024-07-04T11:00:00Z'),
        question('25970', '2024-07-08T14:30:00Z', '2024-07-11T14:30:00Z'),
      ]),
      write('forecast_data.csv', [
        'Question ID,Forecaster ID,Forecaster Username,Start Time,End Time,Probability Yes',
        ...rows('forecasts.csv').map(([id, who, at, p]) => `${id},${who},${who},${time(at!)},,${p}`),
      ]),
      write('score_data.csv', [
        'Question ID,User ID,User Username,Score Type,Score,Coverage',
        ...rows('scores.csv').flatMap(([id, who, baseline, peer]) => [
          `${id},${who},${who},baseline,${baseline},1`,
          `${id},${who},${who},peer,${peer},1`,
          `${id},${who},${who},spot_peer,0,1`,
        ]),
      ]),
    ])
    const { json } = await runImportFrom(components, sourceOf('metaculus'), paths, {
      check: true,
      dryRun: true,
    })
    const { check } = json as {
      check: { scores: { pairs: number; largestDifference: number; notScored: number }[] }
    }
    expect(check.scores).toMatchObject([
      { score: 'baseline_score', pairs: 47, notScored: 0 },
      { score: 'peer_score', pairs: 47, notScored: 0 },
    ])
    for (const { largestDifference } of check.scores) expect(largestDifference).toBeLessThanOrEqual(1e-6)
  },
)
