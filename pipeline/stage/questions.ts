// `fvs stage publish questions`: reads what was forecast on settled questions in the end, in order, and puts
// files.
import { ServiceError } from '../../schemas/errors.ts'
import type { QuestionSummary } from '../../schemas/payloads.ts'
import { Rows } from '../engine/rows.ts'
import { type EntityNamed, QUESTIONS_PER_FILE, questionFile, questionSummary } from '../release/questions.ts'
import type { ReleaseContext } from '../release/state.ts'
import { LAST_COLUMNS } from '../scoring/last-forecasts.ts'
import { type Fields, type Input, NULL, formatOf, isSet, linesIn, wholeOf, wholeOrNull } from './lines.ts'
import { planned } from './planned.ts'
import { entityTypeOf } from './tally.ts'

const COLUMNS = [
  'number',
  'asked',
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
const LAST = formatOf('an entity and a settled question', COLUMNS, { number: 'number', entity: 'number' })
const AT = LAST.at

/** Puts files of questions. Yields a line for each. */
export async function* questionLines(
  context: ReleaseContext,
  release: number,
  input: Input,
): AsyncIterable<string> {
  const { provenance, put } = await planned(context, release)
  const files = new QuestionFiles()
  const printed = (done: Done) =>
    put(questionFile(done.file, done.questions, provenance), { asked: done.asked })
  for await (const lines of linesIn(input, LAST)) {
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
  asked: number
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
    if (this.#first && this.#first[AT.number] !== fields[AT.number]) {
      if (fileOf(this.#first) === fileOf(fields)) this.#endQuestion()
      else done = this.end()
    }
    this.#first ??= fields
    const { columns, row } = this.#rows
    columns.question[row] = wholeOf(fields[AT.question]!)
    columns.entity[row] = this.#named.length
    this.#named.push({ entityType: entityTypeOf(fields[AT.entity_type]!), entityId: fields[AT.entity_id]! })
    columns.ppm[row] = wholeOf(fields[AT.ppm]!)
    columns.coverage[row] = wholeOf(fields[AT.coverage]!)
    columns.voice[row] = isSet(fields[AT.voice]!) ? 1 : 0
    columns.listed[row] = isSet(fields[AT.listed]!) ? 1 : 0
    this.#rows.next()
    return done
  }

  /** Ends the file under way. */
  end(): Done | undefined {
    const last = this.#first
    if (!last) return undefined
    this.#endQuestion()
    const [file, asked, questions] = [fileOf(last), wholeOf(last[AT.asked]!), this.#questions]
    this.#questions = []
    const expected = Math.min(QUESTIONS_PER_FILE, asked - file * QUESTIONS_PER_FILE)
    if (questions.length === expected) return { file, asked, questions }
    throw new ServiceError(
      'invalid',
      `file ${file} of questions has ${questions.length} of ${expected} questions`,
    )
  }

  #endQuestion(): void {
    const text = (name: keyof typeof AT) => this.#first![AT[name]]!
    const course = text('course')
    const asked = {
      questionId: text('question_id'),
      outcome: isSet(text('outcome')) ? 1 : 0,
      course: course === NULL ? null : course,
      crowds: wholeOf(text('crowds')),
      surprising: wholeOrNull(text('surprising')),
    } as const
    const named = this.#named
    this.#questions.push(questionSummary(asked, this.#rows, (entity) => named[entity]!))
    this.#rows.clear()
    this.#named = []
    this.#first = undefined
  }
}

function fileOf(fields: Fields): number {
  return Math.floor(wholeOf(fields[AT.number]!) / QUESTIONS_PER_FILE)
}
