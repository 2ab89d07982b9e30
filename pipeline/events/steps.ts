// Finds the events of one step of the feed: of one version of a table, of a release, or of the time that has
// passed. A large step is told a part at a time.
import { type FeedState, type FeedStep, type NewEvent, stateAfter } from '../../schemas/events.ts'
import type { UndoneImport } from '../../schemas/manifests.ts'
import { literal } from '../duckdb.ts'
import { readManifest } from '../release/read.ts'
import { type ChangedTable, CHANGED_TABLES } from '../tables/changes.ts'
import { instantText } from '../tables/columns.ts'
import { versionAt } from '../tables/delta-log.ts'
import { isAmong, withoutUndone } from '../tables/undone.ts'
import { attachTable, currentRows } from '../tables/views.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { attachAwards, awardEvents } from './awards.ts'
import { type FeedContext, type KnownTables, MOST_AT_ONCE, type Told, partOf } from './part.ts'
import { questionEvents } from './question-events.ts'

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
