// A source's forms and columns may have any name, and an error of a source says where it is.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runImportFrom } from '../../jobs/import/import-from.ts'
import { type ImportSource, formTable, instant } from '../../pipeline/import/source.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, testComponents } from '../support/http/service.ts'
import { rowsOf } from '../support/worlds/source-cases.ts'

const folder = await suiteFolder()
const clock = new Clock('2026-11-26T12:00:00.000Z')
const fresh = () => testComponents({ store: new MemoryStore(), clock, folder })

/** A source of questions and of forecasts on them, with forms of these names. */
const sourceOf = (questions: string, forecasts: string): ImportSource => ({
  name: 'anywhere',
  namespace: '1b671a64-40d5-491e-99b0-da01ff1f3341',
  forms: {
    [questions]: { required: { order: 'Id', select: 'Title', from: 'Opens', to: 'Closes' } },
    [forecasts]: { required: { who: 'Who', on: 'On', p: 'P', at: 'At' } },
  },
  rows: [
    {
      kind: 'questions',
      form: questions,
      columns: {
        question_id: 'r."order"',
        title: 'r."select"',
        opened_at: instant('r."from"'),
        closes_at: instant('r."to"'),
      },
    },
    {
      kind: 'forecasts',
      form: forecasts,
      rest: `JOIN ${formTable(questions)} q ON q."order" = r."on"`,
      columns: {
        entity_id: 'r.who',
        question_id: 'r."on"',
        probability: 'r.p',
        forecast_at: instant('r.at'),
      },
    },
  ],
})

async function filesIn(directory: string): Promise<string[]> {
  const files = {
    'questions.csv': 'Id,Title,Opens,Closes\n1,Will it?,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z\n',
    'forecasts.csv': 'Who,On,P,At\nada,1,0.5,2026-01-05T00:00:00Z\n',
  }
  return Promise.all(
    Object.entries(files).map(async ([name, text]) => {
      await writeFile(join(directory, name), text)
      return join(directory, name)
    }),
  )
}

test.for([
  ['questions', 'forecasts'],
  ['current_questions', 'incoming'],
  ['texts', 'a name with "quotes"'],
] as const)('forms named %s and %s are read as any', { tags: ['slow'] }, async ([questions, forecasts]) => {
  const [components, plain] = [await fresh(), await fresh()]
  const files = await filesIn(components.directory)
  for (const repeat of [false, true]) {
    const { json } = await runImportFrom(components, sourceOf(questions, forecasts), files)
    const added = repeat ? 0 : 1
    expect(json).toMatchObject({
      imported: [
        { kind: 'questions', added },
        { kind: 'forecasts', added },
      ],
    })
  }
  await runImportFrom(plain, sourceOf('asked', 'answered'), files)
  expect(await rowsOf(components)).toBe(await rowsOf(plain))
})

const good = sourceOf('asked', 'answered')
const [questions, forecasts] = good.rows as [ImportSource['rows'][0], ImportSource['rows'][0]]
test.for<[string, ImportSource['rows'][0], RegExp]>([
  [
    'a column',
    { ...questions, columns: { ...questions.columns, closes_at: 'r.closing' } },
    /^the importer anywhere cannot make questions of the form asked, the column closes_at: .*closing/s,
  ],
  [
    'a value that cannot be read',
    { ...questions, columns: { ...questions.columns, opened_at: `'soon'::TIMESTAMPTZ` } },
    /^the importer anywhere cannot make questions of the form asked, the column opened_at: .*soon/s,
  ],
  [
    'a reason',
    { ...questions, leftOut: [['it is a duel', 'r.kind = 3']] },
    /^the importer anywhere cannot make questions of the form asked, the reason "it is a duel": .*kind/s,
  ],
  [
    'a join',
    { ...forecasts, rest: 'JOIN nowhere USING (who)' },
    /^the importer anywhere cannot make forecasts of the form answered, the rows: .*nowhere/s,
  ],
  [
    'a form that is none',
    { ...forecasts, form: 'answers' },
    /^the importer anywhere cannot make forecasts of the form answers, the rows: /s,
  ],
])('an error in %s names source, form and column', async ([, rows, message]) => {
  const components = await fresh()
  const files = await filesIn(components.directory)
  await expect(runImportFrom(components, { ...good, rows: [rows] }, files)).rejects.toMatchObject({
    kind: 'corrupt',
    message: expect.stringMatching(message) as string,
  })
})
