// The first step of an engine: makes pairs from the forecasts and prices of one question, one for each entity
// that took part.
import type { RowSink } from '../../schemas/columns.ts'
import type { Methodology } from '../scoring/methodology.ts'
import type { PAIR_COLUMNS } from '../scoring/pairs.ts'
import type { PriceColumns } from '../scoring/prices.ts'
import type { Voices } from '../scoring/voices.ts'
import { type ForecastColumns, QuestionSweep, type ResolvedQuestion } from '../scoring/question.ts'
import type { SweptQuestion } from './swept-questions.ts'

export interface ForecastQuestion {
  /** The question's number: its index in the list of questions. */
  question: number
  /** In the order (time, forecast_id). They are valid only until the next question is requested. */
  forecasts: ForecastColumns
  /** In the order of time, valid as long. */
  prices: PriceColumns
}

/**
 * Sweeps the questions of `forecasts` in any order. `takeQuestion` gets the course and the references of
 * each, valid until it returns.
 */
export async function sweepQuestions(
  methodology: Methodology,
  voices: Voices,
  questions: readonly ResolvedQuestion[],
  forecasts: AsyncIterable<ForecastQuestion>,
  pairs: RowSink<typeof PAIR_COLUMNS>,
  takeQuestion: (question: number, swept: SweptQuestion) => void,
): Promise<void> {
  const sweep = new QuestionSweep(methodology, voices)
  for await (const { question, forecasts: columns, prices } of forecasts) {
    sweep.run(question, questions[question]!, columns, pairs, prices)
    takeQuestion(question, sweep)
  }
}
