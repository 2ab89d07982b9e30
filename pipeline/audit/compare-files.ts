// Compares the files of a release with its manifest and, where they were derived, with the derived ones. An
// auditor inside sees every file, one outside those that are published.
import type { PipelineComponents } from '../components.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { DerivedRelease } from '../release/derive.ts'
import { GatheredTrees } from '../release/trees.ts'
import { manifestPath } from '../store/paths.ts'
import { recordBytes } from '../store/records.ts'
import { everything } from '../store/store.ts'
import { type ExpectedFile, checkFile } from './file-check.ts'
import { type AuditReport, checkStatements } from './report.ts'
import type { ThinnedFiles } from './thinned-files.ts'

type Found = Pick<ReleaseManifest, 'files' | 'trees'>

export interface Sight extends Pick<PipelineComponents, 'store'> {
  /** The secrets that check signatures. */
  secrets: readonly string[]
  /** Whether the auditor sees a file, by its path in the release; all if left out. */
  isSeen?: (path: string) => boolean
}

/**
 * @param derived undefined: the files are compared with the manifest alone.
 * @returns the members that the manifest must have by these files. An unseen file has the manifest's own.
 */
async function compareFiles(
  { isSeen = everything, ...sight }: Sight,
  manifest: ReleaseManifest,
  derived: DerivedRelease | undefined,
  thinned: ThinnedFiles,
  report: AuditReport,
): Promise<Found> {
  const entries = new Map(manifest.files.map((file) => [file.path, file]))
  const expected: AsyncIterable<ExpectedFile> | readonly ExpectedFile[] =
    derived?.files(() => null) ?? manifest.files
  const gathered = new GatheredTrees()
  const files: ManifestFile[] = []
  for await (const file of expected) {
    const entry = entries.get(file.path)
    if (!isSeen(file.path)) continue
    entries.delete(file.path)
    gathered.take(file)
    files.push(await checkFile(sight, manifest, file, entry, thinned, report))
  }
  const unseen = [...entries.values()].filter(({ path }) => !isSeen(path))
  const { forecasts } = unseen.length > 0 ? manifest.trees : gathered.trees
  return { files: [...files, ...unseen], trees: { ...gathered.trees, forecasts } }
}

/**
 * Compares a release with what is derived again, if anything is, and its manifest with the files.
 *
 * @param derived the release, and the members of its manifest that follow from what it is derived from.
 */
export async function compareRelease(
  sight: Sight,
  manifest: ReleaseManifest,
  derived: { release: DerivedRelease; stated: Partial<ReleaseManifest> } | undefined,
  thinned: ThinnedFiles,
  report: AuditReport,
): Promise<void> {
  if (derived) checkStatements(manifest, derived.stated, report)
  const { files, trees } = await compareFiles(sight, manifest, derived?.release, thinned, report)
  if (derived) checkStatements(manifest, { trees }, report)
  const path = manifestPath(manifest.release)
  const stored = await sight.store.get(path)
  if (stored && Buffer.compare(stored, recordBytes(path, { ...manifest, files })) === 0) return
  report.faults.push(`manifest.json: is not the manifest of the ${derived ? 'derived' : 'stored'} files`)
}

/** Returns the members of a manifest that the tables of a release give. */
export function statedBy(derived: DerivedRelease) {
  const { counts, corrections, erasures, questionsAt, pools, voiceRule: voice_rule } = derived
  return { counts, corrections, erasures, ...questionsAt, pools, voice_rule }
}
