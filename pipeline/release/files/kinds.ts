// All kinds of files of a release, in the order of the manifest.
import type { ReleaseManifest } from '../../../schemas/manifests.ts'
import type { LargeFile, OutputFile } from '../output.ts'
import type { StagedFile } from '../stage/staged-file.ts'
import type { StagedFiles } from '../stage/staged-files.ts'
import { CATEGORIES } from './categories.ts'
import { ENTITIES } from './entities.ts'
import { FORECASTS_TREE } from './forecasts-tree.ts'
import type { FileCheck, FileKind, ScoredKind, ScoredRelease, TableKind } from './kind.ts'
import { LEADERBOARDS } from './leaderboards.ts'
import { METHOD } from './method.ts'
import { OWNERS } from './owners.ts'
import { QUESTIONS } from './questions.ts'
import { REFERENCES } from './references.ts'
import { SCORES } from './scores.ts'
import { SHARDS } from './shards.ts'

export const FILE_KINDS: readonly FileKind[] = [
  SHARDS,
  OWNERS,
  LEADERBOARDS,
  CATEGORIES,
  REFERENCES,
  QUESTIONS,
  ENTITIES,
  SCORES,
  METHOD,
  FORECASTS_TREE,
]

export const SCORED_KINDS = FILE_KINDS.filter((kind): kind is ScoredKind => 'make' in kind)
export const TABLE_KINDS = FILE_KINDS.filter((kind): kind is TableKind => 'makeFromTables' in kind)

/** Yields every file of a release but its manifest, in the order of the manifest. */
export async function* releaseFiles(release: ScoredRelease): AsyncIterable<OutputFile | LargeFile> {
  for (const kind of FILE_KINDS) {
    yield* 'make' in kind ? kind.make(release) : kind.makeFromTables(release)
    release.context.log?.(`made ${kind.name}`, {})
  }
}

/**
 * Returns the staged files in the order of the manifest.
 *
 * @throws ServiceError `invalid` for a file that is missing, does not fit the others or is of no kind.
 */
export function arranged(staged: StagedFiles): StagedFile[] {
  const files = FILE_KINDS.flatMap((kind) => kind.arrange(staged))
  staged.assertAllTaken()
  return files
}

function kindOf(path: string): FileKind | undefined {
  return FILE_KINDS.find(({ places }) =>
    places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place)),
  )
}

/** Whether a file of a release or a snapshot has payloads with signatures. */
export function isSigned(path: string): boolean {
  const kind = kindOf(path)
  return kind !== undefined && 'isSigned' in kind && kind.isSigned
}

const CHECKED_KINDS = SCORED_KINDS.filter(({ check }) => check)

/**
 * Returns a function that finds the check of a file of a release by its path; undefined if the hash is
 * enough. A check returns the faults of bytes with the hash in the manifest.
 */
export function fileChecks(
  manifest: ReleaseManifest,
): (path: string) => ((bytes: Uint8Array) => string[]) | undefined {
  const checks = new Map<FileKind, ReturnType<FileCheck['files']>>(
    CHECKED_KINDS.map((kind) => [kind, kind.check!.files(manifest)]),
  )
  return (path) => {
    const kind = kindOf(path)
    const check = kind && checks.get(kind)
    return check && ((bytes) => check(path, bytes))
  }
}

/** Returns the faults of a manifest that its hashes cannot show. */
export function manifestFaults(manifest: ReleaseManifest): string[] {
  return CHECKED_KINDS.flatMap(({ check }) => check!.manifest(manifest))
}
