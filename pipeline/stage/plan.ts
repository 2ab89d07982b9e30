// `fvs release plan`: plans a release that another engine carries out, and makes the files that follow from
// the tables alone.
import { basename } from 'node:path/posix'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { type Database, withDatabase } from '../duckdb.ts'
import { forecastsTree } from '../release/forecasts-tree.ts'
import { ENTRIES_PER_PAGE } from '../release/leaderboard.ts'
import { type NoRelease, type ReleaseRequest, planRelease } from '../release/make.ts'
import { writerOf } from '../release/commit.ts'
import type { ReleasePlan } from '../release/plan.ts'
import { QUESTIONS_PER_FILE } from '../release/questions.ts'
import { ENTITIES_PER_SHARD } from '../release/shards.ts'
import type { ReleaseContext } from '../release/state.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { type StagedFile, describe } from './staged-file.ts'

/** The plan as an engine needs it. */
export interface StagedPlan extends Omit<ReleasePlan, 'signing' | 'quarantined'> {
  made: true
  release: number
  as_of_ms: number
  parameters: Methodology['parameters']
  entities_per_shard: number
  entries_per_page: number
  owners_per_file: number
  questions_per_file: number
  previous: Pick<ReleaseManifest, 'release' | 'as_of' | 'tables' | 'voice_rule'> | null
  /** The names of the data files of imports that were undone: their rows are not there. */
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
  const { store, local, methodology } = context
  const release = state.number + 1
  const previous = state.manifest
  const derive = async (database: Database) => {
    await using tree = await forecastsTree({ ...context, database }, versions.forecasts, previous)
    if (tree) await writerOf(store, release)(tree.path, tree.file)
    return { files: tree ? [describe(tree)] : [] }
  }
  return {
    made: true,
    release,
    ...shown,
    as_of_ms: Date.parse(plan.as_of),
    parameters: methodology.parameters,
    entities_per_shard: ENTITIES_PER_SHARD,
    entries_per_page: ENTRIES_PER_PAGE,
    owners_per_file: ENTITIES_PER_SHARD,
    questions_per_file: QUESTIONS_PER_FILE,
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
    ...(await local.reading(() => withDatabase(context.openDatabase, derive))),
  }
}
