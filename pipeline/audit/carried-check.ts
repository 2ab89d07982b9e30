// Audits the pairs that a release carries for the next ones: compares the files with its manifest, and the
// newest pairs of each question with the derived ones.
import type { PipelineComponents } from '../components.ts'
import type { CarriedFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { wronglyCarried } from '../engine/carried.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { releasePrefix } from '../store/paths.ts'
import { rowsOf } from '../tables/quarantine.ts'
import { type AuditReport, unlessCorrupt } from './report.ts'
import { carriedPaths } from '../release/carried.ts'
import type { ThinnedFiles } from './thinned-files.ts'

type CheckContext = Pick<PipelineComponents, 'store' | 'local' | 'database'>

const key = (file: CarriedFile) => sha256Hex(canonical(file))

/**
 * Checks the carried files, and adds faults to the report. If the numbers were derived, the database must
 * hold them. Returns the entries that the manifest should have for the files.
 */
export async function checkCarried(
  context: CheckContext,
  { release, carried }: Pick<ReleaseManifest, 'release' | 'carried'>,
  previous: Pick<ReleaseManifest, 'carried'> | undefined,
  thinned: ThinnedFiles,
  report: AuditReport,
): Promise<Pick<ReleaseManifest, 'carried'>> {
  if (!carried) return {}
  if (previous) {
    const before = new Set((previous.carried ?? []).map(key))
    for (const file of carried.filter((one) => one.release !== release && !before.has(key(one)))) {
      report.faults.push(`${nameOf(file)}: is carried, which the release before does not do`)
    }
  }
  const faults = report.faults.length
  const found: CarriedFile[] = []
  let gone = 0
  for (const file of carried) {
    const bytes = await context.store.get(nameOf(file))
    if (!bytes) {
      if ((await thinned.at()) !== undefined) gone += 1
      else report.faults.push(`${nameOf(file)}: is missing`)
      found.push(file)
      continue
    }
    if (sha256Hex(bytes) !== file.sha256) {
      report.faults.push(`${nameOf(file)}: its SHA-256 is not the manifest's`)
    }
    const rows = rowsOf(bytes) ?? file.rows
    found.push({ ...file, rows, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) })
  }
  if (gone > 0) report.notes.push('retention has deleted pairs that it carried, so these were not checked')
  if (report.derived && gone === 0 && carried.length > 0 && report.faults.length === faults) {
    await unlessCorrupt(checkPairs(context, carried, report), report)
  }
  return { carried: found }
}

async function checkPairs(
  { database, local }: CheckContext,
  carried: readonly CarriedFile[],
  report: AuditReport,
): Promise<void> {
  const wrong = await wronglyCarried(database, await carriedPaths(local, carried))
  if (wrong !== undefined) {
    report.faults.push(`pairs: what is carried of question ${wrong} is not what is derived`)
  }
}

function nameOf({ release, path }: CarriedFile): string {
  return releasePrefix(release) + path
}
