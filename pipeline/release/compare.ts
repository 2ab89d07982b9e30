// Compares two releases: changed awards, further counted questions, replaced outcomes.
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../../schemas/errors.ts'
import type {
  Correction,
  ReleaseManifest,
  ReplacedOutcome,
  TitleChange,
  TitleChanges,
} from '../../schemas/manifests.ts'
import { TITLES } from '../../schemas/payloads.ts'
import type { PipelineComponents } from '../components.ts'
import { type Database, literal, parquet, withDatabase } from '../duckdb.ts'
import { LocalFiles } from '../store/local-files.ts'
import { releasePrefix } from '../store/paths.ts'
import { ENTITIES_FOLDER } from './parts.ts'

type ComparisonContext = Pick<PipelineComponents, 'store' | 'directory'>
type Previous = ReleaseManifest | undefined

/**
 * Makes the view `award_change` from the files of entities of two releases. Grain: one row per entity of
 * either, with its awards `from` and `to`; NULL if a release lacks the entity. The view reads copies of its
 * own until the caller disposes of the result, because another process may delete shared copies.
 *
 * @param previous undefined for the first release.
 * @returns `isKnown` is false, and there is no view, if retention has deleted files of either release.
 */
export async function attachAwards(
  { store, directory }: ComparisonContext,
  database: Database,
  manifest: ReleaseManifest,
  previous: Previous,
): Promise<AsyncDisposable & { isKnown: boolean }> {
  const copies = await mkdtemp(join(directory, 'awards-'))
  const remove = () => rm(copies, { recursive: true, force: true })
  try {
    const local = new LocalFiles(store, copies)
    const [now, before] = [await awardsIn(local, manifest), await awardsIn(local, previous)]
    await database.run(
      `CREATE OR REPLACE TEMP VIEW award_change AS
       SELECT entity_type, entity_id, before.award AS "from", now.award AS "to"
       FROM (${now}) now FULL JOIN (${before}) before USING (entity_type, entity_id)`,
    )
    return { isKnown: true, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    if (!(error instanceof ServiceError && error.kind === 'notFound')) throw error
    return { isKnown: false, [Symbol.asyncDispose]: remove }
  }
}

/** Runs a query over `award_change`. Returns undefined if the view cannot be made. */
async function overAwards<Row extends object>(
  context: ComparisonContext & Pick<PipelineComponents, 'openDatabase'>,
  manifest: ReleaseManifest,
  previous: Previous,
  query: string,
): Promise<Row[] | undefined> {
  return withDatabase(context.openDatabase, async (database) => {
    await using awards = await attachAwards(context, database, manifest, previous)
    return awards.isKnown ? await database.rows<Row>(query) : undefined
  })
}

/** The files of entities of a release, by their paths in the store. */
function entitiesOf(manifest: Previous): ReleaseManifest['files'] {
  if (!manifest) return []
  const own = manifest.files.filter(({ path }) => path.startsWith(ENTITIES_FOLDER))
  return own.map((file) => ({ ...file, path: releasePrefix(manifest.release) + file.path }))
}

/** Selects the awards of a release. @throws ServiceError `notFound` if its files have been deleted. */
async function awardsIn(local: LocalFiles, manifest: Previous): Promise<string> {
  const paths: string[] = []
  for (const { path, sha256, size_bytes: sizeBytes } of entitiesOf(manifest))
    paths.push(await local.path(path, { sha256, sizeBytes }))
  if (paths.length === 0) return `SELECT '' AS entity_type, '' AS entity_id, '' AS award WHERE false`
  return `SELECT entity_type, entity_id, award FROM ${parquet(paths)}`
}

export interface ReleaseSummary {
  /** The questions with a known outcome of yes or no. */
  scored: number
  /** How many more of them have closed than in the release before. */
  settled: number
  /** The entities that have a certificate and had none in the release before. */
  certified: number
  /** The entities that had a certificate in the release before and have none. */
  lost: number
  /** The changes of questions and their outcomes that the release lists. */
  corrected: number
  /** The people whose forecasts were erased since the release before. */
  erased: number
  /** All settled questions and all entities with a certificate in the release. */
  all: { settled: number; certified: number }
}

/** Sums up the changes of a release; undefined if retention has deleted files that show them. */
export async function summaryOf(
  context: ComparisonContext & Pick<PipelineComponents, 'openDatabase'>,
  manifest: ReleaseManifest,
  previous: Previous,
): Promise<ReleaseSummary | undefined> {
  const rows = await overAwards<Record<'certified' | 'newly' | 'lost', bigint>>(
    context,
    manifest,
    previous,
    `SELECT count(*) FILTER (has) AS certified, count(*) FILTER (has AND NOT had) AS newly,
       count(*) FILTER (had AND NOT has) AS lost
     FROM (SELECT coalesce("to" = 'certified', false) AS has, coalesce("from" = 'certified', false) AS had
       FROM award_change)`,
  )
  if (!rows) return undefined
  const { certified, newly, lost } = rows[0]!
  return {
    scored: manifest.counts.scored_questions,
    settled: settledIn(manifest) - settledIn(previous),
    certified: Number(newly),
    lost: Number(lost),
    corrected: manifest.corrections.length,
    erased: manifest.erasures?.length ?? 0,
    all: { settled: settledIn(manifest), certified: Number(certified) },
  }
}

/** Returns how many questions count in a release; 0 without one. */
export function settledIn(manifest: Previous): number {
  return manifest ? manifest.counts.scored_questions - manifest.questions.early : 0
}

/** The most changes of titles in an answer. */
const MOST_TOLD = 100

/** Returns the changes of titles in a release; undefined if retention has deleted files that show them. */
export async function titleChanges(
  context: ComparisonContext & Pick<PipelineComponents, 'openDatabase'>,
  manifest: ReleaseManifest,
  previous: Previous,
): Promise<TitleChanges | undefined> {
  const heightOf = (title: string) => `list_position([${TITLES.map(literal).join(', ')}], ${title})`
  const rows = await overAwards<TitleChange & { won: bigint; lost: bigint }>(
    context,
    manifest,
    previous,
    `WITH changed AS (
       SELECT entity_type, entity_id, "from", "to", ${heightOf('"from"')} AS height_before, ${heightOf('"to"')} AS height_now
       FROM (SELECT * REPLACE (coalesce("from", 'none') AS "from", coalesce("to", 'none') AS "to") FROM award_change)
       WHERE "from" <> "to")
     SELECT entity_type AS "entityType", entity_id AS "entityId", "from", "to",
       count(*) FILTER (height_now > height_before) OVER () AS won,
       count(*) FILTER (height_now < height_before) OVER () AS lost
     FROM changed
     ORDER BY height_now > height_before DESC, greatest(height_now, height_before) DESC, entity_type, entity_id
     LIMIT ${MOST_TOLD}`,
  )
  if (!rows) return undefined
  const { won, lost } = rows[0] ?? { won: 0n, lost: 0n }
  const first = rows.map(({ won: _won, lost: _lost, ...change }) => change)
  return { won: Number(won), lost: Number(lost), first }
}

/** Returns the questions whose outcome, or its time, differs after all corrections. */
export function replacedOutcomes(corrections: readonly Correction[]): ReplacedOutcome[] {
  const changed = ({ column }: Correction) => column === 'outcome' || column === 'resolved_at'
  const byQuestion = Map.groupBy(corrections.filter(changed), ({ question_id: id }) => id)
  return [...byQuestion].flatMap(([questionId, steps]) => {
    const [outcome, time] = (['outcome', 'resolved_at'] as const).map((name) => {
      const own = steps.filter(({ column }) => column === name)
      return { from: own[0]?.from ?? null, to: own.at(-1)?.to ?? null }
    })
    if (outcome!.from !== outcome!.to) return [{ questionId, ...outcome! }]
    return time!.from === time!.to ? [] : [{ questionId, from: null, to: null }]
  })
}
