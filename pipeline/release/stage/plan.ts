// `fvs release plan`: plans a release for another engine, and makes the files that follow from the tables
// alone.
import { basename } from 'node:path/posix'
import type { ReleaseManifest } from '../../../schemas/manifests.ts'
import { type Database, withDatabase } from '../../duckdb.ts'
import type { Methodology } from '../../scoring/methodology.ts'
import { writerOf } from '../commit.ts'
import { SCORED_KINDS, TABLE_KINDS } from '../files/kinds.ts'
import { type NoRelease, type PlannedRelease, type ReleaseRequest, planRelease } from '../make.ts'
import { bodyOf } from '../output.ts'
import { type ReleasePlan, provenanceOf } from '../plan.ts'
import type { ReleaseContext } from '../state.ts'
import { type StagedFile, stagedFileOf } from './staged-file.ts'

/** The plan as an engine needs it, with the sizes of the kinds of files. */
export interface StagedPlan extends Omit<ReleasePlan, 'signing' | 'quarantined'> {
  made: true
  release: number
  as_of_ms: number
  parameters: Methodology['parameters']
  previous: Pick<ReleaseManifest, 'release' | 'as_of' | 'tables' | 'voice_rule'> | null
  /** The names of the data files of undone imports. The engine must skip them. */
  undone_files: string[]
  files: StagedFile[]
}

/** @throws ServiceError as `planRelease` does. */
export async function planStages(
  context: ReleaseContext,
  request: ReleaseRequest,
): Promise<StagedPlan | NoRelease> {
  const planned = await planRelease(context, request)
  if ('made' in planned) return planned
  const { state, plan, versions } = planned
  const { signing: _, quarantined: _q, ...shown } = plan
  const previous = state.manifest
  return {
    made: true,
    release: state.number + 1,
    ...shown,
    as_of_ms: Date.parse(plan.as_of),
    parameters: context.methodology.parameters,
    ...(Object.assign({}, ...SCORED_KINDS.map(({ sizes }) => sizes)) as object),
    previous: previous
      ? {
          release: previous.release,
          as_of: previous.as_of,
          tables: previous.tables,
          voice_rule: previous.voice_rule,
        }
      : null,
    undone_files: Object.values(versions).flatMap(({ undone = [] }) =>
      undone.map(({ path }) => basename(path)),
    ),
    files: await context.local.reading(() =>
      withDatabase(context.openDatabase, (database) => putFromTables(context, planned, database)),
    ),
  }
}

/** Puts the files that follow from the tables alone. */
async function putFromTables(
  context: ReleaseContext,
  { state, plan, versions }: PlannedRelease,
  database: Database,
): Promise<StagedFile[]> {
  const release = state.number + 1
  const write = writerOf(context.store, release)
  const provenance = provenanceOf(plan, release)
  const tables = { context: { ...context, database }, provenance, versions, previous: state.manifest }
  const files: StagedFile[] = []
  for (const kind of TABLE_KINDS) {
    for await (const file of kind.makeFromTables(tables)) {
      await write(file.path, bodyOf(file))
      files.push(stagedFileOf(file))
    }
  }
  return files
}
