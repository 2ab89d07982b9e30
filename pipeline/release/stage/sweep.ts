// `fvs stage sweep`: reads the forecasts and prices of questions in order, and prints pairs.
import type { ColumnKinds } from '../../../schemas/columns.ts'
import { Rows } from '../../engine/rows.ts'
import { textsOf } from '../../engine/swept-questions.ts'
import type { Methodology } from '../../scoring/methodology.ts'
import { PAIR_COLUMNS, PAIR_METRIC_NAMES } from '../../scoring/pairs.ts'
import { QuestionSweep } from '../../scoring/question.ts'
import { type Fields, type Input, NULL, formatOf, isSet, lineOfFields, linesIn, wholeOf } from './lines.ts'

const EVENT = [
  'question',
  'opened_ms',
  'closes_ms',
  'ends_ms',
  'divisor',
  'outcome',
  'at_ms',
  'forecast_id',
  'recorded_ms',
  'entity',
  'own_voice',
  'ppm',
  'witnessed',
] as const
const EVENT_LINES = formatOf(
  'an event',
  EVENT,
  {
    question: 'number',
    at_ms: 'number',
    forecast_id: 'text',
    recorded_ms: 'number',
    entity: 'number',
    ppm: 'number',
  },
  { mayRepeat: true },
)
const EVENT_AT = EVENT_LINES.at

/** How many nulls the line of a question has before and after its number of forecasts. */
const BEFORE_FORECASTS = PAIR_METRIC_NAMES.indexOf('forecasts')
const AFTER_FORECASTS = PAIR_METRIC_NAMES.length - BEFORE_FORECASTS - 1

const FORECASTS = {
  entity: 'int32',
  atMs: 'double',
  ppm: 'int32',
  witnessed: 'int32',
} as const satisfies ColumnKinds

const PRICES = { atMs: 'double', ppm: 'int32' } as const satisfies ColumnKinds

const NONE = -1

/** The texts of a question without a forecast of a known entity. */
const NO_TEXTS = { course: null, referenceScores: null }

/** Yields a line for each pair, and one for each question with the number of its forecasts and its texts. */
export async function* sweepLines(methodology: Methodology, input: Input): AsyncIterable<string> {
  const stage = new SweepStage(methodology)
  for await (const events of linesIn(input, EVENT_LINES)) {
    const lines = events.map((event) => stage.take(event)).join('')
    if (lines !== '') yield lines
  }
  yield stage.end()
}

/** Holds the forecasts of one question, and numbers the entities that made them and their own voices. */
class SweepStage {
  readonly #methodology: Methodology
  #voices = new Int32Array(64)
  #sweep: QuestionSweep
  readonly #pairs = new Rows(PAIR_COLUMNS)
  /** The forecasts of the question under way. */
  readonly #forecasts = new Rows(FORECASTS)
  readonly #prices = new Rows(PRICES)
  readonly #entities = new Map<string, number>()
  #first: Fields | undefined
  #lastId = ''
  #count = 0

  constructor(methodology: Methodology) {
    this.#methodology = methodology
    this.#sweep = new QuestionSweep(methodology, this.#voices)
  }

  /**
   * Takes a forecast, or a price, which has no id. If it is the first of another question, returns the pairs
   * of the question before.
   */
  take(event: Fields): string {
    const done = this.#first && this.#first[EVENT_AT.question] !== event[EVENT_AT.question] ? this.end() : ''
    this.#first ??= event
    const id = event[EVENT_AT.forecast_id]!
    const [atMs, ppm] = [wholeOf(event[EVENT_AT.at_ms]!), wholeOf(event[EVENT_AT.ppm]!)]
    if (id === NULL) {
      const { columns, row } = this.#prices
      columns.atMs[row] = atMs
      columns.ppm[row] = ppm
      this.#prices.next()
      return done
    }
    const entity = event[EVENT_AT.entity]!
    // Two rows with one id are one forecast. The row recorded first counts, and it comes first.
    if (id === this.#lastId) return done
    this.#lastId = id
    this.#count += 1
    if (entity === NULL) return done
    const { columns, row } = this.#forecasts
    columns.entity[row] = this.#numberOf(entity, event[EVENT_AT.own_voice]!)
    columns.atMs[row] = atMs
    columns.ppm[row] = ppm
    columns.witnessed[row] = isSet(event[EVENT_AT.witnessed]!) ? 1 : 0
    this.#forecasts.next()
    return done
  }

  /** Ends the question under way, and returns its pairs. */
  end(): string {
    if (!this.#first) return ''
    const first = this.#first
    const question = first[EVENT_AT.question]!
    const resolved = {
      openedAtMs: wholeOf(first[EVENT_AT.opened_ms]!),
      closesAtMs: wholeOf(first[EVENT_AT.closes_ms]!),
      endsAtMs: wholeOf(first[EVENT_AT.ends_ms]!),
      divisor: wholeOf(first[EVENT_AT.divisor]!),
      outcome: isSet(first[EVENT_AT.outcome]!) ? 1 : 0,
    } as const
    const { rowCount: count, columns: forecasts } = this.#forecasts
    const prices = { count: this.#prices.rowCount, ...this.#prices.columns }
    this.#sweep.run(wholeOf(question), resolved, { count, ...forecasts }, this.#pairs, prices)
    const entities = [...this.#entities.keys()]
    const { columns } = this.#pairs
    const nulls = (size: number) => Array.from({ length: size }, () => null)
    const { course, referenceScores } = count === 0 ? NO_TEXTS : textsOf(this.#sweep)
    let lines = lineOfFields([
      question,
      null,
      ...nulls(BEFORE_FORECASTS),
      this.#count,
      ...nulls(AFTER_FORECASTS),
      course,
      referenceScores,
    ])
    for (let row = 0; row < this.#pairs.rowCount; row++) {
      const entity = entities[columns.entity[row]!]!
      const numbers = PAIR_METRIC_NAMES.map((name) => columns[name][row]!)
      lines += lineOfFields([question, entity, ...numbers, null, null])
    }
    this.#pairs.clear()
    this.#forecasts.clear()
    this.#prices.clear()
    this.#entities.clear()
    this.#first = undefined
    this.#lastId = ''
    this.#count = 0
    return lines
  }

  #numberOf(entity: string, ownVoice: string): number {
    const known = this.#entities.get(entity)
    if (known !== undefined) return known
    wholeOf(entity)
    const number = this.#entities.size
    this.#entities.set(entity, number)
    if (number === this.#voices.length) this.#grow()
    const own = ownVoice === NULL ? NONE : this.#numberOf(ownVoice, ownVoice)
    this.#voices[number] = own
    return number
  }

  #grow(): void {
    const voices = new Int32Array(2 * this.#voices.length)
    voices.set(this.#voices)
    this.#voices = voices
    this.#sweep = new QuestionSweep(this.#methodology, this.#voices)
  }
}
