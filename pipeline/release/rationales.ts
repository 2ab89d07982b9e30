// Publishes the rationales of agents, once the outcome of the question is known. Follows the tables: each run
// looks at the outcomes and agents with rows recorded since the run before.
import pMap from 'p-map'
import { z } from 'zod'
import { type QuestionRationales, questionRationales } from '../../schemas/answers.ts'
import type { RationaleRow } from '../../schemas/tables.ts'
import type { PipelineComponents } from '../components.ts'
import { type Database, withDatabase } from '../duckdb.ts'
import { RATIONALES_STATE_PATH, rationalesPath } from '../store/paths.ts'
import { hasWaiting } from './changes.ts'
import { recordAt, records } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { compact } from '../tables/compact.ts'
import { TableLog, currentVersions, firstFileAfter } from '../tables/delta-log.ts'
import { RESOLVED, attachCurrent, attachTable } from '../tables/views.ts'

/** The most published rationales of a question. */
const MOST_SHOWN = 200
const WRITES_AT_ONCE = 16

type RationalesContext = Pick<
  PipelineComponents,
  'store' | 'local' | 'openDatabase' | 'now' | 'wait' | 'directory'
>

const recordsOf = (store: Store) => records(store, rationalesPath, questionRationales)

const version = z.number().int().min(-1)
const publishedState = z.strictObject({ resolutions: version, agents: version, rationales: version })
type State = z.infer<typeof publishedState>
const NEVER: State = { resolutions: -1, agents: -1, rationales: -1 }

/** Returns for how many questions it published rationales, for the first time or anew. */
export async function publishRationales(context: RationalesContext): Promise<number> {
  const { store, local, openDatabase } = context
  if (await hasWaiting(store, 'rationales', 1)) {
    await withDatabase(openDatabase, (database) => compact({ ...context, database }, 'rationales'))
  }
  const rationales = await new TableLog(store, 'rationales').readTo()
  if (rationales.files.length === 0) return 0
  const stored = recordAt(store, RATIONALES_STATE_PATH, publishedState)
  const done = (await stored.get()) ?? NEVER
  const tables = { ...(await currentVersions(store)), rationales }
  const names = Object.keys(NEVER) as (keyof State)[]
  const now = Object.fromEntries(names.map((name) => [name, tables[name].version])) as State
  if (names.every((name) => done[name] === now[name])) return 0
  const count = await local.reading(() =>
    withDatabase(openDatabase, async (database) => {
      await attachTable(database, local, rationales)
      await attachCurrent(database, local, { ...tables.resolutions, table: 'resolutions' })
      await attachCurrent(database, local, { ...tables.agents, table: 'agents' })
      for (const name of names) {
        const from = firstFileAfter(tables[name], done[name])
        await attachTable(database, local, tables[name], from, `later_${name}`)
      }
      return write(store, database)
    }),
  )
  await stored.replace(now)
  return count
}

/** Grain: one row per question with an outcome, if the question or one of its agents has a new row. */
const AFFECTED = `
  SELECT DISTINCT question_id FROM rationales SEMI JOIN ${RESOLVED} USING (question_id)
  WHERE question_id IN (SELECT question_id FROM later_resolutions)
    OR agent_id IN (SELECT agent_id FROM later_agents)
    OR question_id IN (SELECT question_id FROM later_rationales)
  ORDER BY question_id`

/**
 * Selects the last rationale of each agent on each question. An agent without a name is hidden. Grain: one
 * row per question and agent.
 */
const SHOWN_RATIONALES = `
  SELECT forecast_id, agent_id, question_id, probability, forecast_at, rationale
  FROM rationales SEMI JOIN affected USING (question_id)
    SEMI JOIN (FROM current_agents WHERE name <> '') USING (agent_id)
  QUALIFY row_number() OVER (
    PARTITION BY question_id, agent_id ORDER BY forecast_at DESC, forecast_id DESC, recorded_at) = 1
  ORDER BY question_id, forecast_at, forecast_id`

async function write(store: Store, database: Database): Promise<number> {
  await database.run(`CREATE TEMP TABLE affected AS ${AFFECTED}`)
  const affected = await database.rows<{ question_id: string }>('FROM affected ORDER BY question_id')
  const rows = await database.rows<Omit<RationaleRow, 'recorded_at'>>(SHOWN_RATIONALES)
  const byQuestion = Map.groupBy(rows, ({ question_id }) => question_id)
  await pMap(
    affected,
    async ({ question_id }) => {
      const all = byQuestion.get(question_id) ?? []
      const record: QuestionRationales = {
        question_id,
        rationales: all.slice(0, MOST_SHOWN).map(({ question_id: _question, forecast_at, ...rationale }) => ({
          ...rationale,
          forecast_at: forecast_at.toISOString(),
        })),
        left_out: Math.max(0, all.length - MOST_SHOWN),
      }
      await recordsOf(store).replace(question_id, record)
    },
    { concurrency: WRITES_AT_ONCE },
  )
  return affected.length
}

/** Returns the rationales that were published on a question; none before its outcome was known. */
export async function readRationales(store: Store, questionId: string): Promise<QuestionRationales> {
  const found = await recordsOf(store).get(questionId)
  return found ?? { question_id: questionId, rationales: [], left_out: 0 }
}
