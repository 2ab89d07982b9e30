// `fvs stage commit`: checks that all files of a release are there, and publishes it.
import { ServiceError } from '../../../schemas/errors.ts'
import { ENTITY_TYPES } from '../../../schemas/tables.ts'
import { hashOfBase64 } from '../../proof/base64.ts'
import { publish, writePublicFiles } from '../commit.ts'
import { arranged } from '../files/kinds.ts'
import { assertNoneGone } from '../gone.ts'
import type { ReleaseResult } from '../make.ts'
import { PART_SIZES } from '../parts.ts'
import { ownPlan, versionsOf } from '../plan.ts'
import { snapshotDate } from '../read.ts'
import { SnapshotFiles, completeSnapshots } from '../snapshot.ts'
import { type ReleaseContext, assertEnvironment } from '../state.ts'
import { GatheredTrees } from '../trees.ts'
import { listQuarantined } from '../../tables/quarantine.ts'
import { givenFiles, plannedFiles } from './given-files.ts'
import type { Input } from './lines.ts'
import { manifestEntry } from './staged-file.ts'
import { StagedFiles } from './staged-files.ts'
import { statedByTables } from './stated.ts'
import { deleteTally, readTally } from './tally.ts'

export interface CommitRequest {
  release: number
  /** The SHA-256 of the tally. */
  tally: string
  /** The number of all forecasts, each id counted once. */
  forecasts: number
}

/**
 * Publishes a release whose files are all in the store. `input` has the description that a stage printed of
 * each, a JSON object a line.
 *
 * @throws ServiceError `invalid` for a file that is missing, comes twice or does not fit the others.
 */
export async function commitStages(
  context: ReleaseContext,
  request: CommitRequest,
  input: Input,
  sizes = PART_SIZES,
): Promise<ReleaseResult> {
  const result = await commit(context, request, input, sizes)
  // The release is published, by this run or another.
  await deleteTally(context.store, request.release, request.tally)
  return result
}

async function commit(
  context: ReleaseContext,
  { release, tally, forecasts }: CommitRequest,
  input: Input,
  sizes: typeof PART_SIZES,
): Promise<ReleaseResult> {
  const { store, local } = context
  // Check that the release is the next one.
  const state = await assertEnvironment(context)
  const lost = { made: false, release, reason: 'lost' } as const
  if (state.number >= release) {
    await completeSnapshots(context, state, await listQuarantined(store))
    return lost
  }
  if (state.number + 1 !== release) {
    throw new ServiceError('conflict', `release ${release} is not the next one after release ${state.number}`)
  }
  await assertNoneGone(store, state.number)
  // Check that all staged files are there and fit the plan and each other.
  const plan = await ownPlan(context, release)
  const versions = await versionsOf(store, plan)
  const field = await readTally(store, release, tally)
  const planned = await plannedFiles(store, release)
  const staged = new StagedFiles(await givenFiles(input), planned, field, sizes)
  const files = arranged(staged)
  // Gather the trees and the snapshot from the files.
  const trees = new GatheredTrees()
  const snapshot = plan.brings_snapshot ? new SnapshotFiles(snapshotDate(plan.as_of)) : undefined
  for (const { path, rows, subtree, copy } of files) {
    if (subtree) trees.take({ subtree: { ...subtree, root: hashOfBase64(subtree.root) } })
    if (copy) snapshot?.add({ path, rows, ...copy })
  }
  // Make the files that follow from the tables alone.
  const { manifest: previous } = state
  const { scored, ...stated } = await statedByTables(context, plan, versions, previous)
  const tables = await local.reading(() => writePublicFiles(context, state, plan, versions))
  if (!tables) return lost
  // Publish by the manifest.
  const pools = new Set(ENTITY_TYPES.flatMap((name) => [...field.tallies[name].pools.keys()])).size
  const [agents, forecasters] = ENTITY_TYPES.map((name) => field.tallies[name].population) as [number, number]
  const counts = { agents, forecasters, scored_questions: scored, forecasts }
  const made = {
    plan,
    versions,
    counts,
    pairs: staged.sum('pairs'),
    ...stated,
    pools,
    trees,
    snapshot,
    voiceRule: field.voiceRule,
    files: files.map(manifestEntry),
    public: tables,
  }
  if (!(await publish(context, state, made))) return lost
  const entities = agents + forecasters
  return { made: true, release, asOf: plan.as_of, entities, pairs: made.pairs, files: files.length + 1 }
}
