// What a node reads of the questions' tables: each data file once, and later commits on top of earlier ones.
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { QuestionBook } from '../../../api/questions/book.ts'
import type { Components } from '../../../jobs/components/components.ts'
import { LocalFiles } from '../../../pipeline/store/local-files.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { deltaLogPath } from '../../../pipeline/store/paths.ts'
import type { ListedQuestion } from '../../../schemas/answers.ts'
import type { UndoneImport } from '../../../schemas/manifests.ts'
import { type Call, FaultStore } from '../../support/faults/fault-store.ts'
import { LyingStore } from '../../support/faults/lying-store.ts'
import { Clock, importRows, testComponents } from '../../support/http/service.ts'
import { uuidOf } from '../../support/worlds/world.ts'

const id = (number: number) => uuidOf(4, number)
const clock = new Clock('2026-03-01T00:00:00.000Z')

let before: ((call: Call) => void) | undefined
let store: FaultStore
let components: Components
let minutes = 0
beforeEach(async () => {
  before = undefined
  store = new FaultStore(new MemoryStore(), { before: (call) => before?.(call) })
  components = await testComponents({ store, clock })
})

/** The book of another node, with a cache of its own. */
const newBook = () => {
  const local = new LocalFiles(store, join(components.directory, components.newId()))
  return new QuestionBook({ ...components, local, now: clock.now })
}

/** Later imports are recorded later. */
function pass(): void {
  minutes += 1
  clock.set(new Date(Date.UTC(2026, 2, 1, 0, minutes)).toISOString())
}

async function importQuestions(
  ...questions: [number: number, title: string, closes: string][]
): Promise<void> {
  pass()
  const lines = questions.map(
    ([number, title, closes]) => `${id(number)},${title},2026-01-01T00:00:00Z,${closes}`,
  )
  await importRows(components, 'questions', ['question_id,title,opened_at,closes_at', ...lines].join('\n'))
}

async function resolve(number: number, outcome: string): Promise<void> {
  pass()
  const line = `${id(number)},${outcome},2026-02-01T00:00:00Z`
  await importRows(components, 'resolutions', `question_id,outcome,resolved_at\n${line}\n`)
}

const everything = (book: QuestionBook): ListedQuestion[] =>
  book.page({ status: undefined, limit: 1000, cursor: undefined, now: clock.now() }).questions

/** The data files that were read since the last call. */
function filesRead(): string[] {
  const paths = store.calls.flatMap(({ operation, path }) =>
    operation === 'range' && path.endsWith('.parquet') ? [path] : [],
  )
  store.calls.length = 0
  return [...new Set(paths)]
}

describe('a question book', () => {
  test(
    'shows the event of a question, as it was said last, also with its outcome',
    { tags: ['slow'] },
    async () => {
      const book = newBook()
      const importEvent = (event: string) => {
        pass()
        const line = `${id(1)},one,${event},2026-01-01T00:00:00Z,2027-01-01T00:00:00Z`
        return importRows(
          components,
          'questions',
          `question_id,title,event_id,opened_at,closes_at\n${line}\n`,
        )
      }
      for (const event of ['a series', 'another one', '']) {
        await importEvent(event)
        await book.refresh()
        expect(everything(book)).toMatchObject([{ event_id: event === '' ? null : event, outcome: null }])
      }
      await importEvent('a series')
      await resolve(1, 'yes')
      await book.refresh()
      expect(everything(book)).toMatchObject([{ event_id: 'a series', outcome: 'yes' }])
    },
  )

  test(
    'shows a question whose resolution was withdrawn as one that never had any',
    { tags: ['slow'] },
    async () => {
      const book = newBook()
      await importQuestions([1, 'one', '2027-01-01T00:00:00Z'], [2, 'two', '2026-02-15T00:00:00Z'])
      await book.refresh()
      const first = everything(book)
      expect(first.map(({ status }) => status)).toEqual(['closed', 'open'])
      for (const number of [1, 2]) await resolve(number, 'yes')
      await book.refresh()
      expect(everything(book).map(({ status }) => status)).toEqual(['resolved', 'resolved'])
      for (const number of [1, 2]) await resolve(number, 'open')
      await book.refresh()
      const last = everything(book)
      expect(last).toEqual(first.map((shown, index) => ({ ...shown, updated_at: last[index]!.updated_at })))
      expect(last.map(({ updated_at }, index) => updated_at > first[index]!.updated_at)).toEqual([true, true])
      // The one that has closed takes no forecasts again.
      expect(book.reopened).toBe(1)
      const open = book.page({ status: 'open', limit: 9, cursor: undefined, now: clock.now() })
      expect(open.questions).toEqual([last[1]])
    },
  )

  test(
    'tells each change of a question and of its outcome, also those that came before it was read',
    { tags: ['slow'] },
    async () => {
      const book = newBook()
      await importQuestions([1, 'one', '2027-01-01T00:00:00Z'], [2, 'two', '2026-02-15T00:00:00Z'])
      await book.refresh()
      const changes = async (of: QuestionBook, number: number) => {
        const found = await of.changesOf({ question_id: id(number) })
        return found.map(({ column, from, to }) => `${column}: ${from} → ${to}`)
      }
      expect(await changes(book, 2)).toEqual([])
      for (const outcome of ['yes', 'annulled', 'yes', 'open']) {
        await resolve(2, outcome)
        await book.refresh()
      }
      await importQuestions([2, 'another title', '2026-02-16T00:00:00Z'])
      await book.refresh()
      const told = (await changes(book, 2)).filter((text) => !text.startsWith('resolved_at'))
      expect(told).toEqual([
        'outcome: yes → annulled',
        'outcome: annulled → yes',
        'outcome: yes → open',
        'closes_at: 2026-02-15T00:00:00.000Z → 2026-02-16T00:00:00.000Z',
      ])
      expect(await changes(book, 1)).toEqual([])
      const later = newBook()
      await later.refresh()
      expect(await changes(later, 2)).toEqual(await changes(book, 2))
    },
  )

  test('reads the data files of new commits alone', { tags: ['slow'] }, async () => {
    await importQuestions([1, 'one', '2027-01-01T00:00:00Z'])
    await importQuestions([2, 'two', '2027-01-02T00:00:00Z'])
    await resolve(1, 'yes')
    const book = newBook()
    filesRead()
    await book.refresh()
    expect(filesRead()).toHaveLength(3)
    await importQuestions([3, 'three', '2027-01-03T00:00:00Z'])
    filesRead()
    await book.refresh()
    expect(filesRead()).toEqual([expect.stringMatching(/^tables\/questions\//)])
    await resolve(2, 'no')
    filesRead()
    await book.refresh()
    expect(filesRead()).toEqual([expect.stringMatching(/^tables\/resolutions\//)])
    await book.refresh()
    expect(filesRead()).toEqual([])
  })

  test('knows after any number of changes what one that begins now knows', { tags: ['slow'] }, async () => {
    const following = newBook()
    const steps = [
      () => importQuestions([1, 'one', '2027-01-01T00:00:00Z'], [2, 'two', '2027-01-01T00:00:00Z']),
      () => importQuestions([1, 'one again', '2027-05-01T00:00:00Z'], [3, 'three', '2027-01-01T00:00:00Z']),
      () => resolve(2, 'yes'),
      () => resolve(2, 'open'),
      () => resolve(2, 'annulled'),
      () => resolve(3, 'no'),
      () => resolve(3, 'open'),
      () => importQuestions([2, 'two after its outcome', '2027-02-01T00:00:00Z']),
      async () => {
        await resolve(1, 'no')
        await importQuestions([1, 'one at last', '2026-02-01T00:00:00Z'])
      },
    ]
    for (const step of steps) {
      await step()
      await following.refresh()
      const fresh = newBook()
      await fresh.refresh()
      expect(everything(following)).toEqual(everything(fresh))
      for (const question of everything(fresh)) {
        expect(await following.find(question.question_id)).toEqual(await fresh.find(question.question_id))
      }
    }
    expect(everything(following).map(({ title, status, outcome }) => [title, status, outcome])).toEqual([
      ['one at last', 'resolved', 'no'],
      ['three', 'open', null],
      ['two after its outcome', 'resolved', 'annulled'],
    ])
  })

  test('keeps an outcome that shows before its question', { tags: ['slow'] }, async () => {
    const lying = new LyingStore()
    components = await testComponents({ store: lying, clock })
    await importQuestions([1, 'one', '2027-01-01T00:00:00Z'])
    await resolve(1, 'yes')
    const book = new QuestionBook({ ...components, now: clock.now })
    lying.freezeListings({ without: deltaLogPath('questions', 1) })
    lying.hidden.add(deltaLogPath('questions', 1))
    await book.refresh()
    expect(everything(book)).toEqual([])
    lying.tellTheTruth()
    await book.refresh()
    expect(everything(book)).toMatchObject([{ title: 'one', status: 'resolved', outcome: 'yes' }])
  })

  describe('reads at length what a question asks', () => {
    const importTexts = (...rows: [number: number, criteria: string, background: string][]) => {
      pass()
      const lines = rows.map(
        ([number, criteria, background]) =>
          `${id(number)},t,2026-01-01T00:00:00Z,2027-01-01T00:00:00Z,${criteria},${background}`,
      )
      const header = 'question_id,title,opened_at,closes_at,resolution_criteria,background'
      return importRows(components, 'questions', [header, ...lines].join('\n'))
    }
    const textsOf = async (book: QuestionBook, number: number) => {
      const [texts] = await book.textsOf([await book.find(id(number))])
      return [texts?.resolution_criteria, texts?.background]
    }

    test(
      'as it was said last, whichever version said it, also after its outcome',
      { tags: ['slow'] },
      async () => {
        const book = newBook()
        await importTexts([1, 'one', 'first'], [2, '', ''], [3, 'three', ''])
        await importQuestions([4, 'four', '2027-01-01T00:00:00Z'])
        await book.refresh()
        expect(await textsOf(book, 1)).toEqual(['one', 'first'])
        const early = await book.find(id(1))
        await importTexts([1, 'one', 'second'], [5, 'five', ''])
        await resolve(1, 'yes')
        for (const reader of [book, newBook()]) {
          await reader.refresh()
          const texts = await Promise.all([1, 2, 3, 4, 5, 1].map((number) => textsOf(reader, number)))
          expect(texts).toEqual([
            ['one', 'second'],
            [null, null],
            ['three', null],
            [null, null],
            ['five', null],
            ['one', 'second'],
          ])
        }
        // One that was found before the change is shown with what it said then.
        expect(await book.textsOf([early])).toEqual([{ resolution_criteria: 'one', background: 'first' }])
        await importTexts([1, '', ''])
        await book.refresh()
        expect(await textsOf(book, 1)).toEqual([null, null])
      },
    )

    test(
      'among many commits, in the one file that has it, and once for all who ask',
      { tags: ['slow'] },
      async () => {
        for (let number = 1; number <= 12; number++) await importTexts([number, `criteria ${number}`, ''])
        await importTexts([7, 'changed', ''], [13, 'last', ''])
        const book = newBook()
        await book.refresh()
        let opened = 0
        const { openDatabase } = components
        const counting = new QuestionBook({
          ...components,
          now: clock.now,
          openDatabase: () => {
            opened += 1
            return openDatabase()
          },
        })
        await counting.refresh()
        opened = 0
        const numbers = [...Array.from({ length: 13 }, (_, index) => index + 1), 1, 7]
        const texts = await Promise.all(numbers.map((number) => textsOf(counting, number)))
        expect(texts.map(([criteria]) => criteria)).toEqual(
          numbers.map((number) => (number === 7 ? 'changed' : number === 13 ? 'last' : `criteria ${number}`)),
        )
        expect(opened).toBe(1)
        await textsOf(counting, 12)
        expect(opened).toBe(1)
      },
    )

    test('and does not take a damaged file for one', async () => {
      await importTexts([1, 'one', 'first'])
      const directory = join(components.directory, components.newId())
      const book = new QuestionBook({
        ...components,
        local: new LocalFiles(store, directory),
        now: clock.now,
      })
      filesRead()
      await book.refresh()
      const [object] = filesRead()
      await truncate(join(directory, object!), 100)
      expect(await textsOf(book, 1)).toEqual(['one', 'first'])
      expect(filesRead()).toEqual([object])
    })
  })

  test('has another version once an import is undone, because titles may be others', async () => {
    await importQuestions([1, 'first', '2027-01-01T00:00:00Z'])
    await importQuestions([1, 'second', '2027-01-01T00:00:00Z'])
    const at = clock.now().toISOString()
    let undone: UndoneImport[] = []
    const book = new QuestionBook({ ...components, now: clock.now, undone: () => undone })
    await book.refresh()
    const { version } = book
    undone = [{ table: 'questions', version: 2, rows: 1, recorded_at: at, undone_at: at, reason: 'a test' }]
    await book.refresh()
    expect(book.known(id(1))).toMatchObject({ title: 'first' })
    expect(book.version).not.toBe(version)
  })

  test('is as it was after a read that failed, and reads the same again', { tags: ['slow'] }, async () => {
    await importQuestions([1, 'one', '2027-01-01T00:00:00Z'])
    const book = newBook()
    await book.refresh()
    await importQuestions([1, 'changed', '2027-01-01T00:00:00Z'], [2, 'two', '2027-01-02T00:00:00Z'])
    before = ({ operation, path }) => {
      if (operation === 'range' && path.startsWith('tables/')) throw new Error('injected')
    }
    await expect(book.refresh()).rejects.toThrow('injected')
    expect(everything(book).map(({ title }) => title)).toEqual(['one'])
    before = undefined
    await book.refresh()
    expect(everything(book).map(({ title }) => title)).toEqual(['changed', 'two'])
  })

  test('fetches a local copy anew that was damaged since this process checked it', async () => {
    await importQuestions([1, 'one', '2027-01-01T00:00:00Z'])
    const directory = join(components.directory, components.newId())
    const local = new LocalFiles(store, directory)
    filesRead()
    await new QuestionBook({ ...components, local, now: clock.now }).refresh()
    const [object] = filesRead()
    await truncate(join(directory, object!), 100)
    const book = new QuestionBook({ ...components, local, now: clock.now })
    await book.refresh()
    expect(everything(book).map(({ title }) => title)).toEqual(['one'])
    expect(filesRead()).toEqual([object])
  })
})
