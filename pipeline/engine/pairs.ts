// Makes the pairs of a world from all forecasts.
import type { PipelineComponents } from '../components.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import { parquet } from '../duckdb.ts'
import { PAIR_COLUMNS, PAIR_METRIC_NAMES } from '../scoring/pairs.ts'
import type { ResolvedQuestion } from '../scoring/question.ts'
import { type KnownEntity, type Voices, voicesOf } from '../scoring/voices.ts'
import { type TimedQuestion, KEPT_COLUMNS, KeptPairs, voiceRuleOf } from './circumstances.ts'
import { forecastsByQuestion } from './forecasts.ts'
import { VOICE, createTable, keep, sqlType } from './queries.ts'
import { SWEPT_QUESTION, createTold, questionsInto } from './swept-questions.ts'
import { sweepQuestions } from './sweep.ts'

type SweepContext = Pick<PipelineComponents, 'methodology' | 'database'>

export interface Swept {
  kept: KeptPairs
  /** As in the table `voice`. */
  voices: Voices
  voiceRule: VoiceRule
}

/**
 * Makes the view `pair` of all pairs and the table `told`. `furtherPairs` is a Parquet file of pairs without
 * forecasts in the tables: the id of the question and of the entity, and every metric.
 */
export async function sweepAll(
  context: SweepContext,
  entities: readonly KnownEntity[],
  questions: readonly (ResolvedQuestion & TimedQuestion)[],
  furtherPairs: string | undefined,
): Promise<Swept> {
  const { methodology, database } = context
  const sweepBy = async (rule: VoiceRule) => {
    const voices = voicesOf(entities, rule)
    await keep(database, 'voice', VOICE, { entity: Array.from(voices.keys()), own: voices })
    return { voices, kept: await sweep(context, voices, questions, furtherPairs) }
  }
  const { voices, kept } = await sweepBy('recorded')
  const voiceRule = voiceRuleOf(methodology, voices, questions, kept)
  return { ...(voiceRule === 'recorded' ? { voices, kept } : await sweepBy(voiceRule)), voiceRule }
}

const CAST_METRICS = PAIR_METRIC_NAMES.map(
  (name) => `${name}::${sqlType(PAIR_COLUMNS[name])} AS ${name}`,
).join(', ')

async function sweep(
  { methodology, database }: SweepContext,
  voices: Voices,
  questions: readonly (ResolvedQuestion & TimedQuestion)[],
  furtherPairs: string | undefined,
): Promise<KeptPairs> {
  await database.run(createTable('swept_pair', PAIR_COLUMNS))
  const appender = await database.appender('swept_pair', PAIR_COLUMNS)
  const kept = new KeptPairs(appender)
  const further =
    furtherPairs &&
    `SELECT question, entity, ${CAST_METRICS} FROM ${parquet([furtherPairs])}
     JOIN question USING (question_id) JOIN entity USING (entity_type, entity_id)`
  if (further) {
    const needed = `SELECT ${Object.keys(KEPT_COLUMNS).join(', ')} FROM (${further})`
    for await (const block of database.columns(needed, KEPT_COLUMNS)) kept.take(block)
  }
  await database.run(createTable('swept_question', SWEPT_QUESTION))
  const told = await database.appender('swept_question', SWEPT_QUESTION)
  const forecasts = forecastsByQuestion(database, methodology)
  await sweepQuestions(methodology, voices, questions, forecasts, kept, questionsInto(told))
  appender.close()
  told.close()
  await createTold(database)
  const pairs = further ? `FROM swept_pair UNION ALL ${further}` : 'FROM swept_pair'
  await database.run(`CREATE OR REPLACE TEMP VIEW pair AS ${pairs}`)
  return kept
}
