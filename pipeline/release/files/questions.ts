// Settled questions with a summary of their forecasts.
import { ServiceError } from '../../../schemas/errors.ts'
import type { ManifestFile } from '../../../schemas/manifests.ts'
import type { QuestionSummary } from '../../../schemas/payloads.ts'
import type { Database } from '../../duckdb.ts'
import {
  type AnsweredQuestion,
  answeredBetween,
  createAnswered,
  lastForecastsOf,
} from '../../engine/answered-questions.ts'
import { Rows, runsOf } from '../../engine/rows.ts'
import { LAST_COLUMNS } from '../../scoring/last-forecasts.ts'
import { padded } from '../../store/paths.ts'
import { listFile } from '../list-file.ts'
import type { OutputFile } from '../output.ts'
import type { Provenance } from '../payloads.ts'
import { type EntityNamed, questionSummary } from '../question-summary.ts'
import {
  type Fields,
  type Input,
  NULL,
  formatOf,
  isSet,
  linesIn,
  wholeOf,
  wholeOrNull,
} from '../stage/lines.ts'
import type { Publishing } from '../stage/publishing.ts'
import { stagedRows } from '../stage/staged-files.ts'
import { entityTypeOf } from '../stage/tally.ts'
import type { ScoredKind } from './kind.ts'

const QUESTIONS_FOLDER = 'questions/'
const QUESTIONS_PER_FILE = 256

/** The path of a file, by its number from 0. */
export function questionsPath(number: number): string {
  return `${QUESTIONS_FOLDER}${padded(number, 3)}.json`
}

/** Returns the file that would hold a settled question: the last that starts at or before it. */
export function questionsFile(files: readonly ManifestFile[], questionId: string): ManifestFile | undefined {
  return files.findLast(
    ({ path, first_id: first }) => path.startsWith(QUESTIONS_FOLDER) && first! <= questionId,
  )
}

/** Yields all files, in order of question id. The database must hold the ordered pairs. */
export async function* questionFiles(
  database: Database,
  named: EntityNamed,
  provenance: Provenance,
): AsyncIterable<OutputFile> {
  const count = await createAnswered(database)
  for (let from = 0; from < count; from += QUESTIONS_PER_FILE) {
    const answered = await database.rows<AnsweredQuestion>(answeredBetween(from, from + QUESTIONS_PER_FILE))
    const forecasts = database.columns(
      lastForecastsOf(answered[0]!.question, answered.at(-1)!.question),
      LAST_COLUMNS,
    )
    const summaries: QuestionSummary[] = []
    for await (const { rows } of runsOf(forecasts, LAST_COLUMNS, 'question')) {
      summaries.push(questionSummary(answered[summaries.length]!, rows, named))
    }
    yield questionFile(from / QUESTIONS_PER_FILE, summaries, provenance)
  }
}

function questionFile(
  number: number,
  questions: readonly QuestionSummary[],
  provenance: Provenance,
): OutputFile {
  return {
    ...listFile(questionsPath(number), 'questions', questions, { ...provenance }),
    first_id: questions[0]!.question_id,
  }
}

const QUESTION_LINE_COLUMNS = [
  'number',
  'answered',
  'question',
  'question_id',
  'outcome',
  'course',
  'crowds',
  'surprising',
  'entity',
  'entity_type',
  'entity_id',
  'ppm',
  'coverage',
  'voice',
  'listed',
] as const
const QUESTION_LINES = formatOf('an entity and a settled question', QUESTION_LINE_COLUMNS, {
  number: 'number',
  entity: 'number',
})
const QUESTION_AT = QUESTION_LINES.at

/** Reads the last forecasts on settled questions, and puts the files. */
async function* publish({ provenance, put }: Publishing, input: Input): AsyncIterable<string> {
  const files = new QuestionFiles()
  const printed = ({ file, questions, answered }: Done) =>
    put(questionFile(file, questions, provenance), { counts: { answered } })
  for await (const lines of linesIn(input, QUESTION_LINES)) {
    for (const fields of lines) {
      const done = files.take(fields)
      if (done) yield await printed(done)
    }
  }
  const last = files.end()
  if (last) yield await printed(last)
}

interface Done {
  file: number
  /** How many questions all files have. */
  answered: number
  questions: QuestionSummary[]
}

/** Gathers the lines of a question, and the questions of a file. */
class QuestionFiles {
  #first: Fields | undefined
  readonly #rows = new Rows(LAST_COLUMNS)
  #named: ReturnType<EntityNamed>[] = []
  #questions: QuestionSummary[] = []

  /** Takes a line. If it is the first of another file, returns the file before. */
  take(fields: Fields): Done | undefined {
    let done: Done | undefined
    if (this.#first && this.#first[QUESTION_AT.number] !== fields[QUESTION_AT.number]) {
      if (fileOf(this.#first) === fileOf(fields)) this.#endQuestion()
      else done = this.end()
    }
    this.#first ??= fields
    const { columns, row } = this.#rows
    columns.question[row] = wholeOf(fields[QUESTION_AT.question]!)
    columns.entity[row] = this.#named.length
    this.#named.push({
      entityType: entityTypeOf(fields[QUESTION_AT.entity_type]!),
      entityId: fields[QUESTION_AT.entity_id]!,
    })
    columns.ppm[row] = wholeOf(fields[QUESTION_AT.ppm]!)
    columns.coverage[row] = wholeOf(fields[QUESTION_AT.coverage]!)
    columns.voice[row] = isSet(fields[QUESTION_AT.voice]!) ? 1 : 0
    columns.listed[row] = isSet(fields[QUESTION_AT.listed]!) ? 1 : 0
    this.#rows.next()
    return done
  }

  /** Ends the file under way. */
  end(): Done | undefined {
    const last = this.#first
    if (!last) return undefined
    this.#endQuestion()
    const [file, answered, questions] = [fileOf(last), wholeOf(last[QUESTION_AT.answered]!), this.#questions]
    this.#questions = []
    const expected = Math.min(QUESTIONS_PER_FILE, answered - file * QUESTIONS_PER_FILE)
    if (questions.length === expected) return { file, answered, questions }
    throw new ServiceError(
      'invalid',
      `file ${file} of questions has ${questions.length} of ${expected} questions`,
    )
  }

  #endQuestion(): void {
    const text = (name: keyof typeof QUESTION_AT) => this.#first![QUESTION_AT[name]]!
    const course = text('course')
    const question = {
      questionId: text('question_id'),
      outcome: isSet(text('outcome')) ? 1 : 0,
      course: course === NULL ? null : course,
      crowds: wholeOf(text('crowds')),
      surprising: wholeOrNull(text('surprising')),
    } as const
    const named = this.#named
    this.#questions.push(questionSummary(question, this.#rows, (entity) => named[entity]!))
    this.#rows.clear()
    this.#named = []
    this.#first = undefined
  }
}

function fileOf(fields: Fields): number {
  return Math.floor(wholeOf(fields[QUESTION_AT.number]!) / QUESTIONS_PER_FILE)
}

export const QUESTIONS: ScoredKind = {
  name: 'questions',
  places: [QUESTIONS_FOLDER],
  make: ({ context, ranked, provenance }) =>
    questionFiles(context.database, (entity) => ranked[entity]!, provenance),
  sizes: { questions_per_file: QUESTIONS_PER_FILE },
  publish,
  arrange(staged) {
    const files = staged.takeNumbered(questionsPath)
    staged.assertEqual(QUESTIONS_FOLDER, 'rows', stagedRows(files), files[0]?.counts?.['answered'] ?? 0)
    return files
  },
}
