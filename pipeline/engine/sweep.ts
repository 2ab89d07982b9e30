// Sweeps every question that scores, in the order of its forecasts, into the table `pair`.
import type { Database, RowAppender } from '../duckdb.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { type ForecastColumns, QuestionSweep, type ResolvedQuestion } from '../scoring/question.ts'
import {
  FORECASTS_IN_ORDER,
  FORECAST_COLUMNS,
  PAIR_COLUMNS,
  QUESTIONS,
  QUESTION_KINDS,
  TIED_FORECASTS,
  TIED_KINDS,
  createTable,
} from './queries.ts'

/** Returns the rows of `pair`. `entityCount` is how many entities there are. */
export async function sweepQuestions(
  methodology: Methodology,
  database: Database,
  entityCount: number,
): Promise<number> {
  const questions = await readQuestions(database)
  const sweep = new QuestionSweep(methodology, entityCount)
  await database.run(createTable('pair', PAIR_COLUMNS))
  await database.run(createTable('tied', TIED_KINDS))
  const pairs = await database.appender('pair', PAIR_COLUMNS)
  const tied = await database.appender('tied', TIED_KINDS)
  let pairCount = 0
  let tiedCount = 0
  const score = (question: number, events: ForecastColumns) => {
    pairCount += sweepInto(pairs, sweep, questions, question, events)
  }
  for await (const { question, events } of eventsByQuestion(database, FORECASTS_IN_ORDER)) {
    if (isTied(events)) {
      tied.columns.question[tied.row] = question
      tied.next()
      tiedCount += 1
    } else score(question, events)
  }
  tied.close()
  if (tiedCount > 0) {
    for await (const { question, events } of eventsByQuestion(database, TIED_FORECASTS))
      score(question, events)
  }
  pairs.close()
  return pairCount
}

/** Up to so many forecasts a sum over the standing ones is a whole number below 2^53, in whatever order it is made. */
const EXACT_FORECASTS = Math.floor(2 ** 53 / 1e12)

/**
 * Whether the order of forecast_ids could matter to the question: METHODOLOGY orders by them what happens in the
 * same millisecond. Among different entities that changes no bit as long as sums over them are exact. The
 * events are in the order (time, entity).
 */
function isTied({ count, atMs, entity }: ForecastColumns): boolean {
  for (let row = 1; row < count; row++) {
    if (atMs[row] !== atMs[row - 1]) continue
    if (entity[row] === entity[row - 1] || count > EXACT_FORECASTS) return true
  }
  return false
}

/** The events of one question after another. The columns are the same every time, with others in them. */
async function* eventsByQuestion(
  database: Database,
  sql: string,
): AsyncIterable<{ question: number; events: ForecastColumns }> {
  const events = newForecastColumns()
  let current = -1
  for await (const { rowCount, columns } of database.columns(sql, FORECAST_COLUMNS)) {
    const [question, entity, atMs, ppm, imported] = columns
    for (let index = 0; index < rowCount; index++) {
      if (question[index] !== current) {
        if (events.count > 0) yield { question: current, events }
        events.count = 0
        current = question[index]!
      }
      const at = events.count
      if (at === events.atMs.length) grow(events)
      events.entity[at] = entity[index]!
      events.atMs[at] = atMs[index]!
      events.ppm[at] = ppm[index]!
      events.imported[at] = imported[index]!
      events.count = at + 1
    }
  }
  if (events.count > 0) yield { question: current, events }
}

function sweepInto(
  pairs: RowAppender<typeof PAIR_COLUMNS>,
  sweep: QuestionSweep,
  questions: readonly ResolvedQuestion[],
  question: number,
  events: ForecastColumns,
): number {
  const { columns } = pairs
  let count = 0
  sweep.run(questions[question]!, events, (pair) => {
    const { row } = pairs
    columns.question[row] = question
    columns.entity[row] = pair.entity
    columns.forecasts[row] = pair.forecasts
    columns.imported[row] = pair.imported
    columns.closingPpm[row] = pair.closingPpm
    columns.coverage[row] = pair.coverage
    columns.brier[row] = pair.brier
    columns.referenceBrier[row] = pair.referenceBrier
    columns.logScore[row] = pair.logScore
    columns.baselineScore[row] = pair.baselineScore
    columns.peerScore[row] = pair.peerScore
    columns.conviction[row] = pair.conviction
    columns.weightedBrier[row] = pair.weightedBrier
    columns.weightedReference[row] = pair.weightedReference
    columns.weightedLog[row] = pair.weightedLog
    columns.movedPpm[row] = pair.movedPpm
    columns.towardPpm[row] = pair.towardPpm
    columns.flipFlop[row] = pair.flipFlop
    pairs.next()
    count += 1
  })
  return count
}

async function readQuestions(database: Database): Promise<ResolvedQuestion[]> {
  const questions: ResolvedQuestion[] = []
  for await (const { rowCount, columns } of database.columns(QUESTIONS, QUESTION_KINDS)) {
    const [openedMs, closesMs, resolvedMs, yes] = columns
    for (let index = 0; index < rowCount; index++) {
      questions.push({
        openedAtMs: openedMs[index]!,
        closesAtMs: closesMs[index]!,
        resolvedAtMs: resolvedMs[index]!,
        outcome: yes[index] === 1 ? 1 : 0,
      })
    }
  }
  return questions
}

function newForecastColumns(): ForecastColumns {
  const capacity = 4096
  return {
    count: 0,
    entity: new Int32Array(capacity),
    atMs: new Float64Array(capacity),
    ppm: new Int32Array(capacity),
    imported: new Uint8Array(capacity),
  }
}

function grow(columns: ForecastColumns): void {
  const capacity = 2 * columns.atMs.length
  const { entity, atMs, ppm, imported } = columns
  columns.entity = new Int32Array(capacity)
  columns.atMs = new Float64Array(capacity)
  columns.ppm = new Int32Array(capacity)
  columns.imported = new Uint8Array(capacity)
  columns.entity.set(entity)
  columns.atMs.set(atMs)
  columns.ppm.set(ppm)
  columns.imported.set(imported)
}
