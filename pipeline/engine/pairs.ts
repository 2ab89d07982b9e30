// Makes the pairs of a world: from all forecasts, or from those that something has touched and the pairs of
// the last release.
import type { PipelineComponents } from '../components.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import type { Database } from '../duckdb.ts'
import { PAIR_COLUMNS } from '../scoring/pairs.ts'
import type { ResolvedQuestion } from '../scoring/question.ts'
import { type KnownEntity, type Voices, voicesOf } from '../scoring/voices.ts'
import { HELD_PAIRS, attachCarried, createHeld, sweptIsAll } from './carried.ts'
import { type AskedQuestion, KEPT_COLUMNS, KeptPairs, voiceRuleOf } from './circumstances.ts'
import { forecastsByQuestion } from './forecasts.ts'
import { VOICE, createCounted, createTable, keep } from './queries.ts'
import { type Since, createTouchedForecasts } from './since.ts'
import { SWEPT_QUESTION, createTold, questionsInto } from './swept-questions.ts'
import { sweepQuestions } from './sweep.ts'

type SweepContext = Pick<PipelineComponents, 'methodology' | 'database'> &
  Partial<Pick<PipelineComponents, 'log'>>

export interface Swept {
  kept: KeptPairs
  /** As in the table `voice`. */
  voices: Voices
  voiceRule: VoiceRule
}

export async function sweepAll(
  context: SweepContext,
  entities: readonly KnownEntity[],
  questions: readonly (ResolvedQuestion & AskedQuestion)[],
): Promise<Swept> {
  const { methodology, database } = context
  await database.run(`CREATE OR REPLACE TEMP VIEW swept_forecasts AS FROM counted`)
  await sweptIsAll(database)
  const sweepBy = async (rule: VoiceRule) => {
    const voices = await keepVoices(database, entities, rule)
    return { voices, kept: await sweep(context, voices, questions) }
  }
  const { voices, kept } = await sweepBy('recorded')
  const voiceRule = voiceRuleOf(methodology, voices, questions, kept)
  return { ...(voiceRule === 'recorded' ? { voices, kept } : await sweepBy(voiceRule)), voiceRule }
}

/**
 * Takes the pairs of the questions that nothing has touched from the files of `since`, and sweeps the others.
 * Undefined where another voice rule holds than for that release.
 */
export async function sweepTouched(
  context: SweepContext,
  entities: readonly KnownEntity[],
  questions: readonly (ResolvedQuestion & AskedQuestion)[],
  since: Since,
): Promise<Swept | undefined> {
  const { methodology, database, log } = context
  const { voiceRule } = since
  await attachCarried(database, since.carried)
  const voices = await keepVoices(database, entities, voiceRule)
  await createHeld(database)
  await database.run(
    `CREATE OR REPLACE TABLE swept AS SELECT question, question_id FROM question ANTI JOIN held USING (question)`,
  )
  await createTouchedForecasts(database)
  await createCounted(database, 'touched_forecasts', 'swept_forecasts')
  // Pairs that are held are read again where they are needed, which costs less than to keep them.
  const kept = await sweep(context, voices, questions, HELD_PAIRS)
  if (voiceRuleOf(methodology, voicesOf(entities, 'recorded'), questions, kept) === voiceRule) {
    return { kept, voices, voiceRule }
  }
  log?.('sweeps every question', { reason: `the voice rule is no longer ${voiceRule}` })
  return undefined
}

/**
 * Sweeps the view `swept_forecasts` into the table `swept_pair`, makes the view `pair` of these pairs and of
 * others, and the table `told`, and keeps what circumstances depend on of all pairs.
 */
async function sweep(
  { methodology, database }: SweepContext,
  voices: Voices,
  questions: readonly (ResolvedQuestion & AskedQuestion)[],
  others?: string,
): Promise<KeptPairs> {
  await database.run(createTable('swept_pair', PAIR_COLUMNS))
  const appender = await database.appender('swept_pair', PAIR_COLUMNS)
  const kept = new KeptPairs(appender)
  if (others) {
    const needed = `SELECT ${Object.keys(KEPT_COLUMNS).join(', ')} FROM (${others})`
    for await (const block of database.columns(needed, KEPT_COLUMNS)) kept.take(block)
  }
  await database.run(createTable('swept_question', SWEPT_QUESTION))
  const told = await database.appender('swept_question', SWEPT_QUESTION)
  const forecasts = forecastsByQuestion(database, methodology)
  await sweepQuestions(methodology, voices, questions, forecasts, kept, questionsInto(told))
  appender.close()
  told.close()
  await createTold(database, others !== undefined)
  const swept = 'FROM swept_pair'
  await database.run(`CREATE OR REPLACE TEMP VIEW pair AS ${others ? `${swept} UNION ALL ${others}` : swept}`)
  return kept
}

async function keepVoices(
  database: Database,
  entities: readonly KnownEntity[],
  rule: VoiceRule,
): Promise<Voices> {
  const voices = voicesOf(entities, rule)
  await keep(database, 'voice', VOICE, { entity: Array.from(voices.keys()), own: voices })
  return voices
}
