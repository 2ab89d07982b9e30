// Holds what an import says of the questions of one event against each other: the positions of an ordered
// one, and outcomes that its kind rules out.
import type { ImportKind } from './columns.ts'
import type { IncomingRows } from './read-file.ts'
import { NONE_REJECTED, type Rejected, SHOWN } from './rejected.ts'
import type { ImportContext } from './take-in.ts'

/** The rows of a table as they are with those of `fresh`. */
const after = (
  table: 'questions' | 'events' | 'resolutions',
  kind: ImportKind,
  id: string,
  columns: string,
) =>
  kind === table
    ? `(SELECT ${columns} FROM fresh UNION ALL SELECT ${columns} FROM current_${table} ANTI JOIN fresh USING (${id}))`
    : `(SELECT ${columns} FROM current_${table})`

/** The rows of `fresh` with the event that each is about. */
const EVENT_OF: Partial<Record<ImportKind, string>> = {
  questions: 'SELECT record, event_id FROM fresh WHERE event_id IS NOT NULL',
  events: 'SELECT record, event_id FROM fresh',
  resolutions: `SELECT record, event_id FROM fresh JOIN current_questions USING (question_id) WHERE event_id IS NOT NULL`,
}

const PAIR = (first: string, second: string) => `'"' || ${first} || '" and "' || ${second} || '"'`
const HELP = `'; correct an outcome, or the kind of the event'`

/** The faults of an event, each with the SQL of when and of the words for it. The first one counts. */
const FAULTS: readonly { summary: string; fails: string; detail: string }[] = [
  {
    summary: 'a question of an ordered event has no position',
    fails: `kind = 'ordered' AND unplaced IS NOT NULL`,
    detail: `'question "' || unplaced || '" has no position in the ordered event "' || event_id || '"; give each of its questions one, the lowest threshold the lowest'`,
  },
  {
    summary: 'two questions of an ordered event have one position',
    fails: `kind = 'ordered' AND len(placed) > len(list_distinct(placed))`,
    detail: `'two questions of the ordered event "' || event_id || '" have position ' || list_filter(placed, lambda p: len(list_filter(placed, lambda q: q = p)) > 1)[1] || '; give each one of its own'`,
  },
  {
    summary: 'two questions of an event end yes of which only one can',
    fails: `kind IN ('exclusive', 'at_most_one') AND len(yes) > 1`,
    detail: `'the questions ' || ${PAIR('yes[1]', 'yes[2]')} || ' of event "' || event_id || '" both end yes, and only one can, since its kind is ' || kind || ${HELP}`,
  },
  {
    summary: 'all questions of an event end no of which one must end yes',
    fails: `kind = 'exclusive' AND undecided = 0 AND len(yes) = 0 AND nos > 0`,
    detail: `'all ' || nos || ' questions of event "' || event_id || '" end no, and one must end yes, since its kind is exclusive; correct an outcome, or make the kind at_most_one'`,
  },
  {
    summary: 'a question of an ordered event ends yes above one that ends no',
    fails: `kind = 'ordered' AND highest_yes.position > lowest_no.position`,
    detail: `'question "' || highest_yes.question_id || '" ends yes at position ' || highest_yes.position || ', and "' || lowest_no.question_id || '" no at position ' || lowest_no.position || ' of the ordered event "' || event_id || '"' || ${HELP}`,
  },
]

/** Takes the rows out of `fresh` by which an event would be as it cannot be, and returns them as bad rows. */
export async function takeOutImpossible(
  { database }: ImportContext,
  kind: ImportKind,
  incoming: IncomingRows,
): Promise<Rejected> {
  const touched = EVENT_OF[kind]
  if (touched === undefined) return NONE_REJECTED
  if (kind !== 'events') {
    const [any] = await database.rows('SELECT 1 AS one FROM events LIMIT 1')
    if (!any) return NONE_REJECTED
  }
  const cases = (of: (fault: (typeof FAULTS)[number], index: number) => string) =>
    `CASE ${FAULTS.map((fault, index) => `WHEN ${fault.fails} THEN ${of(fault, index)}`).join('\n')} END`
  // Grain: one row per event as it would be.
  const events = `
    SELECT event_id, any_value(kind) AS kind, list(position ORDER BY position) FILTER (position IS NOT NULL) AS placed,
      min(question_id) FILTER (position IS NULL) AS unplaced, count(*) FILTER (outcome IS NULL) AS undecided,
      coalesce(list(question_id ORDER BY question_id) FILTER (outcome = 'yes'), []) AS yes, count(*) FILTER (outcome = 'no') AS nos,
      arg_max(struct_pack(position, question_id), position) FILTER (outcome = 'yes') AS highest_yes,
      arg_min(struct_pack(position, question_id), position) FILTER (outcome = 'no') AS lowest_no
    FROM ${after('questions', kind, 'question_id', 'question_id, event_id, position')}
      SEMI JOIN (${touched}) USING (event_id)
      JOIN ${after('events', kind, 'event_id', 'event_id, kind')} USING (event_id)
      LEFT JOIN (SELECT question_id, outcome FROM ${after('resolutions', kind, 'question_id', 'question_id, outcome')}
        WHERE outcome <> 'open') USING (question_id)
    GROUP BY event_id`
  await database.run(
    `CREATE OR REPLACE TEMP TABLE impossible AS
     SELECT record, failed, detail FROM (${touched})
     JOIN (SELECT event_id, ${cases((_, index) => String(index))} AS failed, ${cases(({ detail }) => detail)} AS detail
       FROM (${events})) USING (event_id)
     WHERE failed IS NOT NULL ORDER BY record`,
  )
  const counts = await database.rows<{ failed: number; count: bigint }>(
    'SELECT failed, count(*) AS count FROM impossible GROUP BY failed ORDER BY failed',
  )
  if (counts.length === 0) return NONE_REJECTED
  await database.run('CREATE OR REPLACE TEMP TABLE fresh AS FROM fresh ANTI JOIN impossible USING (record)')
  const shown = await database.rows<{ record: bigint; detail: string }>(
    `SELECT record, detail FROM impossible ORDER BY record LIMIT ${SHOWN}`,
  )
  const places = await incoming.placesOf(shown.map(({ record }) => Number(record)))
  const byReason = counts.map(({ failed, count }) => ({
    reason: FAULTS[failed]!.summary,
    count: Number(count),
  }))
  return {
    faults: shown.map(({ detail }, index) => ({ pointer: places[index]!, detail })),
    count: byReason.reduce((sum, { count }) => sum + count, 0),
    byReason,
  }
}
