// Audits the public tables of a release: compares its files with the manifest, and the manifest with the
// files that follow from the tables.
import type { PublicTableFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { PipelineComponents } from '../components.ts'
import { type PublicInputs, publicFiles } from '../release/public-tables.ts'
import { releasePrefix } from '../store/paths.ts'
import { objectContent } from '../store/object-content.ts'
import type { AuditReport } from './report.ts'
import type { ThinnedFiles } from './thinned-files.ts'

type CheckContext = Pick<PipelineComponents, 'store' | 'local' | 'database' | 'directory'>

/**
 * Checks the files that the release wrote, and adds faults to the report. Returns the entries that the
 * manifest should have; undefined if they were not derived or the release has no public tables.
 */
export async function checkPublic(
  { store, ...context }: CheckContext,
  { release, public: named }: Pick<ReleaseManifest, 'release' | 'public'>,
  inputs: Omit<PublicInputs, 'sincePrevious'> | undefined,
  thinned: ThinnedFiles,
  report: AuditReport,
): Promise<PublicTableFile[] | undefined> {
  if (!named) return undefined
  for (const { path, sha256 } of named.filter((file) => file.release === release)) {
    const found = await objectContent(store, releasePrefix(release) + path)
    if (!found && (await thinned.at()) !== undefined) continue
    report.files_compared += 1
    if (!found) report.faults.push(`${path}: is missing`)
    else if (found.sha256 !== sha256) report.faults.push(`${path}: its SHA-256 is not the manifest's`)
  }
  if (!inputs) return undefined
  const derived: PublicTableFile[] = []
  for await (const { entry } of publicFiles(context, { ...inputs, sincePrevious: false })) derived.push(entry)
  return derived
}
