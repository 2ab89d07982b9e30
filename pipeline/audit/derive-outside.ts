// Derives a release again from its public files, and compares every byte of it with what is published.
import { join } from 'node:path'
import type { PipelineComponents } from '../components.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import { Database, withDatabase } from '../duckdb.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { type DerivedRelease, deriveRelease } from '../release/derive.ts'
import { isSigned } from '../release/files/kinds.ts'
import { GatheredTrees } from '../release/trees.ts'
import { type LargeFile, type OutputFile, entryOf } from '../release/output.ts'
import { FileStore } from '../store/file.ts'
import { LocalFiles } from '../store/local-files.ts'
import { isPublished, releasePrefix } from '../store/paths.ts'
import { isScoresPath } from '../release/row-groups.ts'
import { erasedInPublic } from './erased-check.ts'
import type { Findings } from './findings.ts'
import type { Mirror } from './mirror.ts'
import {
  type AuditReport,
  checkStatements,
  compareMember,
  firstDifference,
  isDerivable,
  withoutSignatures,
} from './report.ts'
import { type SaidOfEntity, makeStandIns } from './stand-ins.ts'

export type DerivingContext = Pick<
  PipelineComponents,
  'methodology' | 'openDatabase' | 'directory' | 'service'
> & {
  /** Receives the name of each step that begins. */
  progress: (step: string) => void
}

/** A release of which the public files are on this machine, and what is found of it. */
export interface Checked {
  mirror: Mirror
  findings: Findings
  report: AuditReport
  manifest: ReleaseManifest
}

/** Members of a manifest that do not follow from what is public. */
const GIVEN = 'corrections, what erasures moved, inputs, the number and the tree of all forecasts'

export async function deriveOutside(
  context: DerivingContext,
  checked: Checked & { said: readonly SaidOfEntity[] },
): Promise<void> {
  const { report, manifest } = checked
  const { methodology, service, progress } = context
  const { engines, methodology_version: method } = manifest
  if (!isDerivable(manifest, context)) {
    report.notes.push(
      `the numbers were not derived again: version ${engines.service} of the service made this release, with method ${method} and DuckDB ${engines.duckdb}; this is version ${service}, with method ${methodology.version} and DuckDB ${Database.version}`,
    )
    return
  }
  report.derived = true
  progress('scoring everything again')
  try {
    await compareDerived(context, checked)
  } catch (error) {
    // The files have the hashes that were logged, and cannot be read as what they should be.
    if (!(error instanceof ServiceError && error.kind === 'corrupt')) throw error
    report.faults.push(error.message)
  }
  report.notes.push(
    `taken from the release as it says them, since they do not follow from what is public: ${GIVEN}; scores on questions that are not settled; and of each entity the time of its last forecast and the numbers of its open and overdue ones`,
  )
}

async function compareDerived(
  context: DerivingContext,
  checked: Checked & { said: readonly SaidOfEntity[] },
): Promise<void> {
  const { manifest } = checked
  const directory = join(context.directory, 'derived')
  const store = await FileStore.begin(join(directory, 'tables'))
  const { versions, furtherPairs } = await withDatabase(context.openDatabase, async (database) => {
    const locate = (path: string) => store.localPath(path)
    const made = await makeStandIns(database, publicRelease(checked), locate, directory)
    for (const id of await erasedInPublic(database, manifest)) {
      checked.report.faults.push(`public/forecasts: has rows of ${id}, who is erased`)
    }
    return made
  })
  await withDatabase(context.openDatabase, async (database) => {
    const { release, as_of, environment, snapshot_sha256 } = manifest
    await using derived = await deriveRelease(
      { ...context, database, store, local: new LocalFiles(store, directory), directory },
      {
        release,
        asOf: new Date(as_of),
        environment,
        versions,
        previous: undefined,
        bringsSnapshot: Boolean(snapshot_sha256),
        furtherPairs,
      },
    )
    compareStatements(checked, derived)
    await compareFiles(checked, derived)
  })
}

/** The files of a release, as they lie on this machine. */
function publicRelease({ manifest, mirror, said }: Checked & { said: readonly SaidOfEntity[] }) {
  const { release, as_of, voice_rule, counts, files, public: open } = manifest
  const placeOf = (file: { path: string }, of: number) =>
    mirror.store.localPath(releasePrefix(of) + file.path)
  const filesOf = (table: ScoredTable) =>
    open.filter(({ path }) => publicTableOf(path) === table).map((file) => placeOf(file, file.release))
  return {
    release,
    asOf: new Date(as_of),
    voiceRule: voice_rule,
    forecasts: counts.forecasts,
    tables: Object.fromEntries(SCORED_TABLES.map((table) => [table, filesOf(table)])) as Record<
      ScoredTable,
      string[]
    >,
    scores: files.filter(({ path }) => isScoresPath(path)).map((file) => placeOf(file, release)),
    said,
  }
}

/** Compares what the manifest says of the release as a whole, as far as it follows from what is public. */
function compareStatements({ manifest, report }: Checked, derived: DerivedRelease): void {
  const { forecasts: _derived, ...counts } = derived.counts
  const { forecasts: _said, ...said } = manifest.counts
  const { questions } = derived.questionsAt
  const { pools, voiceRule: voice_rule } = derived
  compareMember(report, { counts: said }, { counts })
  checkStatements(manifest, { questions, pools, voice_rule }, report)
}

async function compareFiles({ manifest, mirror, report }: Checked, derived: DerivedRelease): Promise<void> {
  const { release, files, trees } = manifest
  const gathered = new GatheredTrees()
  const expected = new Map(files.filter(({ path }) => isPublished(path)).map((file) => [file.path, file]))
  for await (const file of derived.files(() => null)) {
    if (!isPublished(file.path)) continue
    if (file.subtree) gathered.take(file)
    const entry = expected.get(file.path)
    expected.delete(file.path)
    const stored = await mirror.store.get(releasePrefix(release) + file.path)
    compareFile(report, file, entry, stored)
  }
  for (const path of expected.keys()) report.faults.push(`${path}: nothing that is public leads to it`)
  const { agent, forecaster } = gathered.trees
  compareMember(report, { agent: trees.agent, forecaster: trees.forecaster }, { agent, forecaster })
}

function compareFile(
  report: AuditReport,
  { subtree: _subtree, ...file }: OutputFile | LargeFile,
  entry: ManifestFile | undefined,
  stored: Uint8Array | undefined,
): void {
  const { path } = file
  if (!stored || !entry) {
    report.faults.push(`${path}: is missing, and it follows from what is public`)
    return
  }
  if ('file' in file) {
    if (file.file.sha256 !== sha256Hex(stored)) report.faults.push(`${path}: is not what is derived`)
    return
  }
  const { bytes, ...described } = file
  const unsigned = isSigned(path) ? withoutSignatures(stored, [], report) : stored
  if (!unsigned) report.faults.push(`${path}: is not a shard in canonical JSON`)
  else if (Buffer.compare(unsigned, bytes) !== 0) {
    report.faults.push(`${path}: ${firstDifference(unsigned, bytes)}`)
  }
  compareMember(report, entry, entryOf({ ...described, bytes: stored }))
}

/** The table whose rows a public file holds. */
function publicTableOf(path: string): string | undefined {
  return /^public\/([a-z]+)[/.]/.exec(path)?.[1]
}
