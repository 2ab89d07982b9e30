// Finds the events of one step of the feed: of one version of a table, of a release, or of the time that has
// passed. A large step is told a part at a time.
import type { PipelineComponents } from '../components.ts'
import { type FeedState, type FeedStep, type NewEvent, stateAfter } from '../../schemas/events.ts'
import type { ReleaseManifest, UndoneImport } from '../../schemas/manifests.ts'
import { type Database, literal, parquet } from '../duckdb.ts'
import { readManifest } from '../release/read.ts'
import { entitiesOf } from '../release/summary.ts'
import { type ChangedTable, CHANGED_TABLES } from '../tables/changes.ts'
import { instantText } from '../tables/columns.ts'
import { versionAt } from '../tables/delta-log.ts'
import type { TableVersion } from '../tables/delta.ts'
import { isAmong, withoutUndone } from '../tables/undone.ts'
import { attachTable, currentColumns, currentRows } from '../tables/views.ts'
import { ServiceError } from '../../schemas/errors.ts'

export type FeedContext = Pick<PipelineComponents, 'store' | 'local'> & { database: Database }
export type KnownTables = Record<ChangedTable, TableVersion>

/** A part of the events of a step, and the place at which the rest begins; null if there is no rest. */
export interface Told {
  events: NewEvent[]
  rest: string | null
}

/** The most questions or entities of one part, which is read and stored as a whole. */
export const MOST_AT_ONCE = 2_000

/** The events of a step that begins in a state, from a place in it on. */
export async function eventsOf(
  context: FeedContext,
  tables: KnownTables,
  state: FeedState,
  step: FeedStep,
  from: string | null,
): Promise<Told> {
  if (step.until !== undefined) return passedEvents(context, tables, state, step.until, from)
  if (step.release !== undefined) return releaseEvents(context, tables, state, step.release, from)
  const table = step.questions === undefined ? 'resolutions' : 'questions'
  const undone = await undoneIn(context, state.release)
  const before = statesOf(tables, state, undone)
  const after = statesOf(tables, stateAfter(state, step), undone)
  const files = tables[table].files.filter(({ version }) => version === step[table])
  await attachTable(context.database, context.local, { ...tables[table], files }, 0, 'touched_rows')
  return questionEvents(context, before, after, state.until, 'touched_rows', from)
}

/** The first instant after another at which a known question opens or closes; undefined if there is none. */
export async function nextPassing(
  context: FeedContext,
  tables: KnownTables,
  state: FeedState,
): Promise<string | undefined> {
  const { questions } = statesOf(tables, state, await undoneIn(context, state.release))
  await attachTable(context.database, context.local, questions, 0, 'known_rows')
  const [row] = await context.database.rows<{ at: string | null }>(
    `SELECT ${instantText('min("at")')} AS "at" FROM (${passings('known_rows')}) WHERE "at" > ${instantOf(state.until)}`,
  )
  return row?.at ?? undefined
}

const instantOf = (text: string) => `${literal(text)}::TIMESTAMPTZ`

async function undoneIn({ store }: FeedContext, release: number): Promise<readonly UndoneImport[]> {
  if (release === 0) return []
  return (await readManifest(store, release))?.undone_imports ?? []
}

function statesOf(tables: KnownTables, state: FeedState, undone: readonly UndoneImport[]): KnownTables {
  const at = (table: ChangedTable) => withoutUndone(versionAt(tables[table], state[table]), undone)
  return { questions: at('questions'), resolutions: at('resolutions') }
}

/** Grain: one row per opening and one per close of a question. */
function passings(rows: string): string {
  const current = `(${currentRows('questions', rows)})`
  return `SELECT opened_at AS "at", 'question.opened' AS type, * FROM ${current}
    UNION ALL SELECT closes_at AS "at", 'question.closed' AS type, * FROM ${current}`
}

/** Tells which questions have opened and closed up to an instant. */
async function passedEvents(
  context: FeedContext,
  tables: KnownTables,
  state: FeedState,
  until: string,
  from: string | null,
): Promise<Told> {
  const { questions } = statesOf(tables, state, await undoneIn(context, state.release))
  await attachTable(context.database, context.local, questions, 0, 'known_rows')
  // The order of the texts is that of time.
  const rows = await context.database.rows<Passing & { place: string }>(
    `SELECT *, "at" || ' ' || question_id || ' ' || type AS place FROM (
       SELECT ${instantText('"at"')} AS "at", type, question_id, title, category, ${instantText('closes_at')} AS closes_at
       FROM (${passings('known_rows')}) WHERE "at" > ${instantOf(state.until)} AND "at" <= ${instantOf(until)})
     WHERE place > ${literal(from ?? '')} ORDER BY place LIMIT ${MOST_AT_ONCE + 1}`,
  )
  return partOf(
    rows,
    ({ place }) => place,
    ({ type, at, question_id, title, category, closes_at }) =>
      type === 'question.opened'
        ? [{ type, at, question_id, title, category, closes_at }]
        : [{ type, at, question_id, title }],
  )
}

interface Passing {
  type: 'question.opened' | 'question.closed'
  at: string
  question_id: string
  title: string
  category: string | null
  closes_at: string
}

function partOf<Row>(
  rows: readonly Row[],
  placeOf: (row: Row) => string,
  eventsFor: (row: Row) => NewEvent[],
): Told {
  const own = rows.slice(0, MOST_AT_ONCE)
  return { events: own.flatMap(eventsFor), rest: rows.length > own.length ? placeOf(own.at(-1)!) : null }
}

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
async function questionEvents(
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

/** Tells of a release: its number, the questions whose imports it leaves out, and whose award has changed. */
async function releaseEvents(
  context: FeedContext,
  tables: KnownTables,
  state: FeedState,
  release: number,
  from: string | null,
): Promise<Told> {
  const { store } = context
  const [manifest, previous] = await Promise.all([
    readManifest(store, release),
    release === 1 ? undefined : readManifest(store, release - 1),
  ])
  if (!manifest || (release > 1 && !previous)) {
    throw new ServiceError('unavailable', `the store does not show the manifest of release ${release}`)
  }
  const [phase, place] =
    from === null ? ['undone', null] : (from.split(/ (.*)/s, 2) as [string, string | null])
  const now = manifest.undone_imports ?? []
  const fresh = now.filter((one) => !isAmong(previous?.undone_imports ?? [], one))
  const first: NewEvent[] = []
  const isKnown = await attachAwards(context, manifest, previous)
  if (from === null) {
    first.push({ type: 'release.published', at: manifest.as_of, release, certifications_known: isKnown })
  }
  if (phase === 'undone' && fresh.length > 0) {
    const { events, rest } = await undoneEvents(
      context,
      tables,
      state,
      previous?.undone_imports ?? [],
      now,
      fresh,
      place,
    )
    return {
      events: [...first, ...events],
      rest: rest === null ? (isKnown ? 'awards ' : null) : `undone ${rest}`,
    }
  }
  if (!isKnown) return { events: first, rest: null }
  const { events, rest } = await awardEvents(context, manifest, phase === 'awards' ? place : null)
  return { events: [...first, ...events], rest: rest === null ? null : `awards ${rest}` }
}

async function undoneEvents(
  context: FeedContext,
  tables: KnownTables,
  state: FeedState,
  before: readonly UndoneImport[],
  now: readonly UndoneImport[],
  fresh: readonly UndoneImport[],
  place: string | null,
): Promise<Told> {
  const { database, local } = context
  const rows: string[] = []
  for (const table of CHANGED_TABLES) {
    const files = versionAt(tables[table], state[table]).files.filter(({ version }) =>
      isAmong(fresh, { table, version }),
    )
    await attachTable(database, local, { ...tables[table], files }, 0, `gone_${table}`)
    rows.push(`SELECT question_id FROM gone_${table}`)
  }
  const [{ undone_at: at, reason }] = fresh.toSorted((one, other) =>
    one.undone_at < other.undone_at ? 1 : -1,
  ) as [UndoneImport]
  return questionEvents(
    context,
    statesOf(tables, state, before),
    statesOf(tables, state, now),
    state.until,
    `(${rows.join(' UNION ')})`,
    place,
    { at, reason },
  )
}

/** Makes the views of the awards of two releases. False if files of the release before are deleted. */
async function attachAwards(
  { database, local }: FeedContext,
  manifest: ReleaseManifest,
  previous: ReleaseManifest | undefined,
): Promise<boolean> {
  try {
    for (const [view, of] of [
      ['award_now', manifest],
      ['award_before', previous],
    ] as const) {
      const paths = await Promise.all(
        entitiesOf(of).map(({ path, sha256, size_bytes: sizeBytes }) =>
          local.path(path, { sha256, sizeBytes }),
        ),
      )
      // Version 2 of the service called the column of awards `title`.
      const rows =
        paths.length === 0
          ? `SELECT '' AS entity_type, '' AS entity_id, '' AS award WHERE false`
          : `SELECT entity_type, entity_id, COLUMNS('^(award|title)$') AS award FROM ${parquet(paths)}`
      await database.run(`CREATE OR REPLACE TEMP VIEW ${view} AS ${rows}`)
    }
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'notFound') return false
    throw error
  }
}

async function awardEvents(
  { database }: FeedContext,
  { release, as_of: at }: ReleaseManifest,
  place: string | null,
): Promise<Told> {
  const rows = await database.rows<{
    entity_type: 'agent' | 'forecaster'
    entity_id: string
    from: string | null
    to: string | null
  }>(
    `SELECT entity_type, entity_id, award_before.award AS "from", award_now.award AS "to"
     FROM award_now FULL JOIN award_before USING (entity_type, entity_id)
     WHERE coalesce(award_now.award, '') <> coalesce(award_before.award, '')
       AND entity_type || ' ' || entity_id > ${literal(place ?? '')}
     ORDER BY entity_type, entity_id LIMIT ${MOST_AT_ONCE + 1}`,
  )
  return partOf(
    rows,
    ({ entity_type, entity_id }) => `${entity_type} ${entity_id}`,
    (row) => [{ type: 'certification.changed', at, release, ...row }],
  )
}
