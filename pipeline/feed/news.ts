// Finds the events between two states of the feed: from new rows, from the passing of time, and from a
// release.
import { ServiceError } from '../../schemas/errors.ts'
import type { FeedState, NewEvent } from '../../schemas/feed.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { attachAwards } from '../release/compare.ts'
import { QUESTION_TABLES, type QuestionVersions, attachCompared, newsInTurn } from '../tables/compare.ts'
import type { PipelineComponents } from '../components.ts'
import { type Database, literal } from '../duckdb.ts'
import { readManifest } from '../release/read.ts'
import type { Store } from '../store/store.ts'
import { instantText } from '../tables/columns.ts'
import { versionIn } from '../tables/delta-log.ts'
import type { TablesRead } from '../tables/delta.ts'
import { attachTable, currentColumns, currentRows } from '../tables/views.ts'

type NewsContext = Pick<PipelineComponents, 'store' | 'local' | 'directory'> & { database: Database }

/** Yields the events between two states. Their releases must be the same, or one the next of the other. */
export async function* newsBetween(
  context: NewsContext,
  tables: QuestionVersions,
  from: FeedState,
  to: FeedState,
): AsyncIterable<NewEvent> {
  const { database, local, store } = context
  const now = versionsIn(tables, await readIn(store, to))
  await attachCompared(database, local, now, await readIn(store, from))
  yield* rowEvents(database, from.until)
  await attachTable(database, local, now.questions, 0, 'known_rows')
  yield* passedEvents(database, from.until, to.until)
  if (to.release > from.release) yield* releaseEvents(context, to.release)
}

/**
 * Returns the first instant after a state at which a known question opens or closes; undefined if there is
 * none.
 */
export async function nextPassing(
  { database, local, store }: NewsContext,
  tables: QuestionVersions,
  state: FeedState,
): Promise<string | undefined> {
  const { questions } = versionsIn(tables, await readIn(store, state))
  await attachTable(database, local, questions, 0, 'known_rows')
  const [row] = await database.rows<{ at: string | null }>(
    `SELECT ${instantText('min("at")')} AS "at" FROM (${PASSINGS}) WHERE "at" > ${instantOf(state.until)}`,
  )
  return row?.at ?? undefined
}

/**
 * Returns the tables as a state has read them. The feed shows that an import is undone only once a release
 * does.
 */
async function readIn(store: Store, { questions, resolutions, release }: FeedState): Promise<TablesRead> {
  const manifest = release === 0 ? undefined : await readManifest(store, release)
  return { tables: { questions, resolutions }, undone_imports: manifest?.undone_imports }
}

function versionsIn({ questions, resolutions }: QuestionVersions, read: TablesRead): QuestionVersions {
  return { questions: versionIn(read, questions), resolutions: versionIn(read, resolutions) }
}

const TOLD = {
  questions: currentColumns('questions').filter(
    (name) => !['question_id', 'reason', 'recorded_at'].includes(name),
  ),
  resolutions: ['outcome', 'resolved_at'],
}

/** A row of one of the two tables, and the row before it. */
interface NewsRow {
  isOutcome: boolean
  question_id: string
  /** The current title of the question. */
  title: string
  at: string
  reason: string | null
  texts: (string | null)[]
  earlier: (string | null)[] | null
  is_gone: boolean
  was_gone: boolean
}

async function* rowEvents(database: Database, until: string): AsyncIterable<NewEvent> {
  const rows = QUESTION_TABLES.map(
    (table) => `SELECT *, ${table === 'resolutions'} AS "isOutcome" FROM (${newsInTurn(table, TOLD[table])})`,
  )
  const touched = `(FROM row_of_questions WHERE question_id IN
    (SELECT question_id FROM news_questions UNION SELECT question_id FROM news_resolutions))`
  const found = database.rowBlocks<NewsRow>(
    `SELECT news.*, title, ${instantText('news.recorded_at')} AS "at"
     FROM (${rows.join(' UNION ALL ')}) news JOIN (${currentRows('questions', touched)}) USING (question_id)
     ORDER BY news.recorded_at, "isOutcome", question_id, nth`,
  )
  for await (const block of found) {
    for (const row of block) yield* row.isOutcome ? outcomeEvents(row) : questionEvents(row, until)
  }
}

function textsOf(values: readonly (string | null)[]): Record<string, string | null> {
  return Object.fromEntries(TOLD.questions.map((name, index) => [name, values[index]!]))
}

function questionEvents(row: NewsRow, until: string): NewEvent[] {
  const { question_id, at, reason, texts, earlier, is_gone: isGone, was_gone: wasGone } = row
  const now = textsOf(texts)
  const about = { at, question_id, title: now['title']! }
  if (isGone) return [{ type: 'question.removed', ...about, reason }]
  const old = wasGone || !earlier ? undefined : textsOf(earlier)
  const events: NewEvent[] = []
  const changes = Object.entries(now).flatMap(([name, text]) =>
    old && old[name] !== text ? [[name, { from: old[name]!, to: text }] as const] : [],
  )
  if (changes.length > 0) {
    events.push({ type: 'question.changed', ...about, changes: Object.fromEntries(changes), reason })
  }
  const [wasOpen, isOpen] = [old, now].map(
    (state) => state && state['opened_at']! <= until && until < state['closes_at']!,
  )
  const { category, closes_at } = now
  if (isOpen && !wasOpen) {
    events.push({ type: 'question.opened', ...about, category: category!, closes_at: closes_at! })
  }
  if (wasOpen && closes_at! <= until) events.push({ type: 'question.closed', ...about })
  return events
}

function outcomeEvents({ question_id, title, at, reason, texts, earlier }: NewsRow): NewEvent[] {
  type Outcome = 'yes' | 'no' | 'annulled' | 'open'
  const [from, to] = [earlier?.[0] ?? 'open', texts[0]] as [Outcome, Outcome]
  const about = { at, question_id, title }
  if (from === to) return []
  if (from === 'open' && to !== 'open') {
    return [{ type: 'question.resolved', ...about, outcome: to, resolved_at: texts[1]! }]
  }
  return [{ type: 'question.corrected', ...about, from, to, reason }]
}

const instantOf = (text: string) => `${literal(text)}::TIMESTAMPTZ`

/** Grain: one row per opening and one per close of a question in the view `known_rows`. */
const PASSINGS = `SELECT unnest([opened_at, closes_at]) AS "at", unnest(['question.opened', 'question.closed']) AS type,
    question_id, title, category, closes_at
  FROM (${currentRows('questions', 'known_rows')})`

async function* passedEvents(database: Database, from: string, to: string): AsyncIterable<NewEvent> {
  const found = database.rowBlocks<NewEvent & { type: 'question.opened' }>(
    `SELECT ${instantText('"at"')} AS "at", type, question_id, title, category, ${instantText('closes_at')} AS closes_at
     FROM (${PASSINGS}) passing WHERE passing."at" > ${instantOf(from)} AND passing."at" <= ${instantOf(to)}
     ORDER BY passing."at", question_id, type`,
  )
  for await (const block of found) {
    for (const row of block) {
      const { type, at, question_id, title } = row
      yield (type as string) === 'question.opened' ? row : { type: 'question.closed', at, question_id, title }
    }
  }
}

/** Awards come last, so that the other events stay the same when retention has deleted the awards. */
async function* releaseEvents(context: NewsContext, release: number): AsyncIterable<NewEvent> {
  const { database, store } = context
  const manifest = await manifestOf(store, release)
  const previous = release === 1 ? undefined : await manifestOf(store, release - 1)
  const at = manifest.as_of
  await using awards = await attachAwards(context, database, manifest, previous)
  yield { type: 'release.published', at, release, certifications_known: awards.isKnown }
  if (!awards.isKnown) return
  const found = database.rowBlocks<
    Omit<NewEvent & { type: 'certification.changed' }, 'type' | 'at' | 'release'>
  >(`FROM award_change WHERE "from" IS DISTINCT FROM "to" ORDER BY entity_type, entity_id`)
  for await (const block of found) {
    for (const row of block) yield { type: 'certification.changed', at, release, ...row }
  }
}

async function manifestOf(store: Store, release: number): Promise<ReleaseManifest> {
  const manifest = await readManifest(store, release)
  if (manifest) return manifest
  throw new ServiceError('unavailable', `the store does not show the manifest of release ${release}`)
}
