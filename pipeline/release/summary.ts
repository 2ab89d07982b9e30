// Tells how a release differs from the one before it, by both manifests and one query of their entities.
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { PipelineComponents } from '../components.ts'
import { type Database, parquet } from '../duckdb.ts'
import type { LocalFiles } from '../store/local-files.ts'
import { ENTITIES_FOLDER } from './parts.ts'
import { releasePrefix } from '../store/paths.ts'

export interface ReleaseSummary {
  /** The questions that score, those whose outcome is known to be yes or no. */
  scored: number
  /** By how many more of them have closed too than in the release before. */
  settled: number
  /** The entities that have a certificate and had none in the release before. */
  certified: number
  /** The entities that had a certificate in the release before and have none. */
  lost: number
  /** The changes of questions and their outcomes that the release lists. */
  corrected: number
  /** The people whose forecasts were erased since the release before. */
  erased: number
  /** The questions that count, and the entities with a certificate, whatever was before. */
  all: { settled: number; certified: number }
}

/**
 * It reads the files of entities of both releases, and only their columns of ids and awards.
 *
 * @param previous undefined for the first release.
 * @throws ServiceError `notFound` if files of the release before it have been deleted.
 */
export async function summaryOf(
  context: Pick<PipelineComponents, 'local'> & { database: Database },
  manifest: ReleaseManifest,
  previous: ReleaseManifest | undefined,
): Promise<ReleaseSummary> {
  const { certified, newly, lost } = await certificates(context, manifest, previous)
  return {
    scored: manifest.counts.scored_questions,
    settled: settledIn(manifest) - settledIn(previous),
    certified: newly,
    lost,
    corrected: manifest.corrections.length,
    erased: manifest.erasures?.length ?? 0,
    all: { settled: settledIn(manifest), certified },
  }
}

/** Returns how many questions count in a release; 0 without one. */
export function settledIn(manifest: ReleaseManifest | undefined): number {
  return manifest ? manifest.counts.scored_questions - manifest.questions.early : 0
}

async function certificates(
  { local, database }: Pick<PipelineComponents, 'local'> & { database: Database },
  manifest: ReleaseManifest,
  previous: ReleaseManifest | undefined,
): Promise<{ certified: number; newly: number; lost: number }> {
  const holdersIn = async (of: ReleaseManifest | undefined) =>
    `SELECT entity_type, entity_id, true AS held FROM (${await awardsIn(local, of)})
     WHERE award = 'certified'`
  const [row] = await database.rows<Record<'certified' | 'newly' | 'lost', bigint>>(
    `SELECT count(now.held) AS certified, count(*) FILTER (before.held IS NULL) AS newly,
       count(*) FILTER (now.held IS NULL) AS lost
     FROM (${await holdersIn(manifest)}) now FULL JOIN (${await holdersIn(previous)}) before
       USING (entity_type, entity_id)`,
  )
  // Only the next summary reads files of entities again, those of this release.
  await forgetEntities(local, previous)
  const { certified, newly, lost } = row!
  return { certified: Number(certified), newly: Number(newly), lost: Number(lost) }
}

/** Deletes the local copies of the files of entities of a release. */
export async function forgetEntities(
  local: LocalFiles,
  manifest: ReleaseManifest | undefined,
): Promise<void> {
  for (const { path } of entitiesOf(manifest)) await local.forget(path)
}

/** The files of entities of a release, by their paths in the store. */
function entitiesOf(manifest: ReleaseManifest | undefined): ManifestFile[] {
  if (!manifest) return []
  const own = manifest.files.filter(({ path }) => path.startsWith(ENTITIES_FOLDER))
  return own.map((file) => ({ ...file, path: releasePrefix(manifest.release) + file.path }))
}

/**
 * Selects the entities of a release with their awards; none of undefined.
 *
 * @throws ServiceError `notFound` if its files have been deleted.
 */
export async function awardsIn(local: LocalFiles, manifest: ReleaseManifest | undefined): Promise<string> {
  const paths = await Promise.all(
    entitiesOf(manifest).map(({ path, sha256, size_bytes: sizeBytes }) =>
      local.path(path, { sha256, sizeBytes }),
    ),
  )
  if (paths.length === 0) return `SELECT '' AS entity_type, '' AS entity_id, '' AS award WHERE false`
  return `SELECT entity_type, entity_id, award FROM ${parquet(paths)}`
}
