// `fvs stage commit`: checks that all files of a release are there, and publishes it.
import { ServiceError } from '../../schemas/errors.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { withDatabase } from '../duckdb.ts'
import { createQuestions } from '../engine/queries.ts'
import { hashOfBase64 } from '../proof/base64.ts'
import { publish, writePublicFiles } from '../release/commit.ts'
import { correctionsSince } from '../release/corrections.ts'
import { erasuresSince } from '../release/erasures.ts'
import { assertNoneGone } from '../release/gone.ts'
import { ENTRIES_PER_PAGE } from '../release/leaderboard.ts'
import type { ReleaseResult } from '../release/make.ts'
import { PART_SIZES, partsOf } from '../release/parts.ts'
import { ownPlan, versionsOf } from '../release/plan.ts'
import { snapshotDate } from '../release/read.ts'
import { ENTITIES_PER_SHARD } from '../release/shards.ts'
import { SnapshotFiles, completeSnapshots } from '../release/snapshot.ts'
import { type ReleaseContext, assertEnvironment } from '../release/state.ts'
import { questionsAt } from '../release/questions-at.ts'
import { attachCurrent } from '../tables/views.ts'
import { GatheredTrees } from '../release/trees.ts'
import {
  CATEGORIES_PARQUET_PATH,
  CATEGORIES_PATH,
  FORECASTS_TREE_PATH,
  isCategoryPath,
  leaderboardPath,
  ownersPath,
  REFERENCES_PARQUET_PATH,
  REFERENCES_PATH,
  questionsPath,
  releasePrefix,
  rowGroupsPath,
  shardStart,
  tallyPath,
} from '../store/paths.ts'
import { listQuarantined } from '../tables/quarantine.ts'
import { type Input, formatOf, jsonOf, linesIn } from './lines.ts'
import { type StagedFile, manifestEntry, parseStagedFile } from './staged-file.ts'
import { type FieldOfRelease, readTally } from './tally.ts'

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
  const hasTree = (await store.range(releasePrefix(release) + FORECASTS_TREE_PATH, 0, 1)) !== undefined
  const { files, pairs } = arranged(await stagedFiles(input), field, hasTree, sizes)
  const trees = new GatheredTrees()
  const snapshot = plan.brings_snapshot ? new SnapshotFiles(snapshotDate(plan.as_of)) : undefined
  for (const { path, rows, tree, copy } of files) {
    if (tree) trees.take({ path, subtree: { root: hashOfBase64(tree.root), size: tree.size } })
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
    pairs,
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
  return { made: true, release, asOf: plan.as_of, entities, pairs, files: files.length + 1 }
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

/** Checks the files against each other. Returns those of the manifest, in its order. */
function arranged(
  given: Map<string, StagedFile>,
  field: FieldOfRelease,
  hasTree: boolean,
  sizes: typeof PART_SIZES,
) {
  const rest = new Map(given)
  const take = (path: string, expected: Partial<StagedFile> = {}): StagedFile => {
    const file = rest.get(path)
    if (!file) throw new ServiceError('invalid', `${path} is missing`)
    rest.delete(path)
    for (const [name, value] of Object.entries(expected)) {
      const said = file[name as keyof StagedFile]
      if (said !== value) throw unfit(path, name, said, value)
    }
    return file
  }
  const shards = ENTITY_TYPES.map((entityType) => shardsIn(rest, entityType, field, take))
  const counted = shards.flatMap((own, kind) =>
    own.map(({ rows, pairs = 0 }) => ({ entityType: ENTITY_TYPES[kind]!, entities: rows, pairs })),
  )
  const all = shards.flat()
  const partFiles = (folder: 'scores' | 'entities') => {
    let shard = 0
    return partsOf(folder, counted, sizes).map((part) => {
      const { path, entityType: entity_type } = part
      const first_entity_id = shardStart(all[shard]!.path, entity_type)!
      shard += part.shards
      const rows = folder === 'scores' ? part.pairs : part.entities
      return { part, file: take(path, { rows, entity_type, first_entity_id }) }
    })
  }
  const owners: StagedFile[] = []
  while (rest.has(ownersPath(owners.length))) owners.push(take(ownersPath(owners.length)))
  const owned = sum(all, ({ owned: count = 0 }) => count)
  const inOwners = sum(owners, ({ agents = 0 }) => agents)
  if (inOwners !== owned) throw unfit('owners/', 'agents', inOwners, owned)
  const pages = ENTITY_TYPES.flatMap((entityType, kind) =>
    chunksOf(
      sum(shards[kind]!, ({ listed = 0 }) => listed),
      ENTRIES_PER_PAGE,
    ).map((rows, page) => take(leaderboardPath(entityType, page), { rows })),
  )
  const index = take(CATEGORIES_PATH)
  const inBoards = sum(all, ({ categories = 0 }) => categories)
  if (index.categories !== inBoards) throw unfit(CATEGORIES_PATH, 'categories', index.categories, inBoards)
  const table = take(CATEGORIES_PARQUET_PATH, { rows: inBoards })
  const boards = [...rest.keys()]
    .filter(isCategoryPath)
    .toSorted()
    .map((path) => take(path))
  const onPages = sum(boards, ({ rows }) => rows)
  if (onPages !== inBoards) throw unfit('categories/', 'rows', onPages, inBoards)
  const categories = [...boards, index, table]
  const referenced = take(REFERENCES_PATH)
  const references = [referenced, take(REFERENCES_PARQUET_PATH, { rows: referenced.rows })]
  const questions: StagedFile[] = []
  while (rest.has(questionsPath(questions.length))) questions.push(take(questionsPath(questions.length)))
  const asked = questions[0]?.asked ?? 0
  const inQuestions = sum(questions, ({ rows }) => rows)
  if (inQuestions !== asked) throw unfit('questions/', 'rows', inQuestions, asked)
  const entities = partFiles('entities').map(({ file }) => file)
  const scores = partFiles('scores')
  const scoreFiles = scores.flatMap(({ file }) => [file, take(rowGroupsPath(file.path))])
  const tree = hasTree ? [take(FORECASTS_TREE_PATH)] : []
  for (const path of rest.keys()) throw new ServiceError('invalid', `${path} is no file of the release`)
  return {
    files: [
      ...all,
      ...owners,
      ...pages,
      ...categories,
      ...references,
      ...questions,
      ...entities,
      ...scoreFiles,
      ...tree,
    ],
    pairs: sum(scores, ({ part }) => part.pairs),
  }
}

/** Returns the shards of a kind in order of their first entities. */
function shardsIn(
  files: ReadonlyMap<string, StagedFile>,
  entityType: EntityType,
  { tallies }: FieldOfRelease,
  take: (path: string, expected: Partial<StagedFile>) => StagedFile,
): StagedFile[] {
  const paths = [...files.keys()].filter((path) => shardStart(path, entityType) !== undefined).toSorted()
  const sizes = chunksOf(tallies[entityType].population, ENTITIES_PER_SHARD)
  if (paths.length !== sizes.length) throw unfit(`${entityType}/`, 'shards', paths.length, sizes.length)
  return sizes.map((rows, index) => take(paths[index]!, { rows }))
}

/** Returns the sizes of the runs, of at most `size` each, that `count` things are divided into. */
function chunksOf(count: number, size: number): number[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, index) => Math.min(size, count - index * size))
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0)
}

function unfit(path: string, what: string, said: unknown, expected: unknown): ServiceError {
  return new ServiceError(
    'invalid',
    `${path}: ${what} is ${JSON.stringify(said)}, and not ${JSON.stringify(expected)}`,
  )
}
