// `fvs stage commit`: checks that all files of a release are there, and publishes it.
import { ServiceError } from '../../../schemas/errors.ts'
import { ENTITY_TYPES } from '../../../schemas/tables.ts'
import { withDatabase } from '../../duckdb.ts'
import { createQuestions } from '../../engine/queries.ts'
import { hashOfBase64 } from '../../proof/base64.ts'
import { publish, writePublicFiles } from '../commit.ts'
import { correctionsSince } from '../corrections.ts'
import { erasuresSince } from '../erasures.ts'
import { TABLE_KINDS, arranged } from '../files/kinds.ts'
import { assertNoneGone } from '../gone.ts'
import type { ReleaseResult } from '../make.ts'
import { PART_SIZES } from '../parts.ts'
import { ownPlan, versionsOf } from '../plan.ts'
import { snapshotDate } from '../read.ts'
import { SnapshotFiles, completeSnapshots } from '../snapshot.ts'
import { type ReleaseContext, assertEnvironment } from '../state.ts'
import { questionsAt } from '../questions-at.ts'
import { attachCurrent } from '../../tables/views.ts'
import { GatheredTrees } from '../trees.ts'
import { releasePrefix, tallyPath } from '../../store/paths.ts'
import type { Store } from '../../store/store.ts'
import { listQuarantined } from '../../tables/quarantine.ts'
import { type Input, formatOf, jsonOf, linesIn } from './lines.ts'
import { type StagedFile, manifestEntry, parseStagedFile } from './staged-file.ts'
import { StagedFiles } from './staged-files.ts'
import { readTally } from './tally.ts'

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
  // The release is published, by this run or another, so no stage needs the tally.
  await context.store.delete(tallyPath(request.release, request.tally))
  return result
}

async function commit(
  context: ReleaseContext,
  { release, tally, forecasts }: CommitRequest,
  input: Input,
  sizes: typeof PART_SIZES,
): Promise<ReleaseResult> {
  const { store, local } = context
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
  const plan = await ownPlan(context, release)
  const versions = await versionsOf(store, plan)
  const field = await readTally(store, release, tally)
  const planned = await plannedFiles(store, release)
  const staged = new StagedFiles(await stagedFiles(input), planned, field, sizes)
  const files = arranged(staged)
  const trees = new GatheredTrees()
  const snapshot = plan.brings_snapshot ? new SnapshotFiles(snapshotDate(plan.as_of)) : undefined
  for (const { path, rows, subtree, copy } of files) {
    if (subtree) trees.take({ subtree: { ...subtree, root: hashOfBase64(subtree.root) } })
    if (copy) snapshot?.add({ path, rows, ...copy })
  }
  const { manifest: previous } = state
  const { scored, ...stated } = await withDatabase(context.openDatabase, (database) =>
    local.reading(async () => {
      const asOf = new Date(plan.as_of)
      const corrections = await correctionsSince({ database, local }, previous, versions, asOf)
      const erasures = await erasuresSince({ database, local }, previous, versions, asOf)
      for (const table of ['questions', 'resolutions', 'agents'] as const) {
        await attachCurrent(database, local, { ...versions[table], table })
      }
      await createQuestions(database, asOf)
      const [counted] = await database.rows<{ questions: bigint }>(
        'SELECT count(*) AS questions FROM question',
      )
      return {
        corrections,
        erasures,
        scored: Number(counted!.questions),
        questionsAt: await questionsAt(database, asOf),
      }
    }),
  )
  const tables = await local.reading(() => writePublicFiles(context, state, plan, versions))
  if (!tables) return lost
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

const FILES = formatOf('a file', ['file'], {}, { mayRepeat: true })

async function stagedFiles(input: Input): Promise<Map<string, StagedFile>> {
  const files = new Map<string, StagedFile>()
  for await (const lines of linesIn(input, FILES)) {
    for (const [json] of lines) {
      const file = parseStagedFile(jsonOf(json!))
      if (files.has(file.path)) throw new ServiceError('invalid', `${file.path} comes twice`)
      files.set(file.path, file)
    }
  }
  return files
}

/** Returns the paths, in order, of the files in the store that the plan has made from the tables. */
async function plannedFiles(store: Store, release: number): Promise<string[]> {
  const prefix = releasePrefix(release)
  const paths: string[] = []
  for (const place of TABLE_KINDS.flatMap(({ places }) => places)) {
    for await (const { path } of store.list(prefix + place)) paths.push(path.slice(prefix.length))
  }
  return paths.toSorted()
}
