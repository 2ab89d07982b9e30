// Tells how questions differ between two states of the tables.
import type { NewEvent } from '../../schemas/events.ts'
import { literal } from '../duckdb.ts'
import { CHANGED_TABLES } from '../tables/changes.ts'
import { instantText } from '../tables/columns.ts'
import { attachTable, currentColumns, currentRows } from '../tables/views.ts'
import { type FeedContext, type KnownTables, MOST_AT_ONCE, type Told, partOf } from './part.ts'

/** The texts of a question, and of its outcome, in one state; null for a question that is not known. */
interface SaidQuestion {
  texts: Record<string, string | null>
  saidAt: string
  reason: string | null
  outcome: 'yes' | 'no' | 'annulled' | 'open'
  resolvedAt: string | null
  outcomeSaidAt: string | null
  outcomeReason: string | null
}

const TOLD_COLUMNS = currentColumns('questions').filter(
  (name) => !['question_id', 'reason', 'recorded_at'].includes(name),
)
const textOf = (name: string) => (name.endsWith('_at') ? instantText(name) : name)

/** Grain: one row per touched question that a state knows. */
function saidIn(state: string): string {
  const touched = (table: string) => `(FROM ${state}_${table} SEMI JOIN page USING (question_id))`
  const texts = TOLD_COLUMNS.map((name) => `${literal(name)}: ${textOf(name)}`).join(', ')
  return `SELECT question_id, {texts: {${texts}}, "saidAt": ${instantText('q.recorded_at')}, reason: q.reason,
      outcome: coalesce(outcome, 'open'), "resolvedAt": ${instantText('resolved_at')},
      "outcomeSaidAt": ${instantText('r.recorded_at')}, "outcomeReason": r.reason}::JSON AS said
    FROM (${currentRows('questions', touched('questions'))}) q
    LEFT JOIN (${currentRows('resolutions', touched('resolutions'))}) r USING (question_id)`
}

/** Compares the questions of `rows` in two states, and tells how they differ. */
export async function questionEvents(
  { database, local }: FeedContext,
  before: KnownTables,
  after: KnownTables,
  until: string,
  rows: string,
  from: string | null,
  undoing?: { at: string; reason: string },
): Promise<Told> {
  for (const table of CHANGED_TABLES) {
    await attachTable(database, local, before[table], 0, `before_${table}`)
    await attachTable(database, local, after[table], 0, `after_${table}`)
  }
  await database.run(
    `CREATE OR REPLACE TEMP TABLE page AS SELECT DISTINCT question_id FROM ${rows}
     WHERE question_id > ${literal(from ?? '')} ORDER BY question_id LIMIT ${MOST_AT_ONCE + 1}`,
  )
  const compared = await database.rows<{ question_id: string; old: string | null; now: string | null }>(
    `SELECT question_id, old.said::VARCHAR AS old, now.said::VARCHAR AS now
     FROM page LEFT JOIN (${saidIn('before')}) old USING (question_id) LEFT JOIN (${saidIn('after')}) now USING (question_id)
     ORDER BY question_id`,
  )
  return partOf(
    compared,
    ({ question_id: id }) => id,
    ({ question_id, old, now }) => differences(question_id, parsed(old), parsed(now), until, undoing),
  )
}

const parsed = (said: string | null) => (said === null ? null : (JSON.parse(said) as SaidQuestion))

function differences(
  question_id: string,
  old: SaidQuestion | null,
  now: SaidQuestion | null,
  until: string,
  undoing?: { at: string; reason: string },
): NewEvent[] {
  if (!now) {
    if (!old || !undoing) return []
    return [{ type: 'question.removed', question_id, title: old.texts['title']!, ...undoing }]
  }
  const { texts } = now
  const about = { question_id, title: texts['title']! }
  const saidAt = undoing?.at ?? now.saidAt
  const events: NewEvent[] = []
  const changes = Object.fromEntries(
    Object.entries(texts).flatMap(([name, to]) =>
      old && old.texts[name] !== to ? [[name, { from: old.texts[name]!, to }]] : [],
    ),
  )
  if (Object.keys(changes).length > 0) {
    const reason = undoing?.reason ?? now.reason
    events.push({ type: 'question.changed', at: saidAt, ...about, changes, reason })
  }
  if (isOpen(now, until) && !(old && old.texts['opened_at']! <= until && isOpen(old, until))) {
    const { category, closes_at } = texts
    events.push({ type: 'question.opened', at: saidAt, ...about, category: category!, closes_at: closes_at! })
  }
  if (old && isOpen(old, until) && texts['closes_at']! <= until) {
    events.push({ type: 'question.closed', at: saidAt, ...about })
  }
  return [...events, ...outcomeEvents(about, old, now, undoing)]
}

/** Whether its opening has come, and its close has not. */
const isOpen = ({ texts }: SaidQuestion, until: string) =>
  texts['opened_at']! <= until && until < texts['closes_at']!

function outcomeEvents(
  about: { question_id: string; title: string },
  old: SaidQuestion | null,
  { outcome, resolvedAt, outcomeSaidAt, outcomeReason }: SaidQuestion,
  undoing?: { at: string; reason: string },
): NewEvent[] {
  const from = old?.outcome ?? 'open'
  if (from === outcome) return []
  const at = undoing?.at ?? outcomeSaidAt!
  if (from === 'open' && outcome !== 'open') {
    return [{ type: 'question.resolved', at, ...about, outcome, resolved_at: resolvedAt! }]
  }
  const reason = undoing?.reason ?? outcomeReason
  return [{ type: 'question.corrected', at, ...about, from, to: outcome, reason }]
}
