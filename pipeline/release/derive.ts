// Derives everything a release consists of, from the tables alone.
import type { PipelineComponents } from '../components.ts'
import type { Correction, Erasure, ReleaseCounts, ReleaseManifest } from '../../schemas/manifests.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type ScoredTable } from '../../schemas/tables.ts'
import type { Environment } from '../../schemas/values.ts'
import {
  type OrderedEntity,
  type OrderedWorld,
  type ScoredEntity,
  type ScoringContext,
  orderEveryone,
  scoreEveryone,
} from '../engine/duckdb-engine.ts'
import { referenceQuestions } from '../engine/references.ts'
import type { OfRelease } from '../engine/scores-file.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { correctionsSince } from './corrections.ts'
import { entitiesParquet } from './entities-parquet.ts'
import { erasuresSince } from './erasures.ts'
import { forecastsTree } from './forecasts-tree.ts'
import { CategoryFiles, categoriesAt, categoryBoards, categoryMembers } from './categories.ts'
import { leaderboardFiles } from './leaderboard.ts'
import { ownerFiles } from './owners.ts'
import { questionFiles } from './questions.ts'
import { referenceFiles, referenceRows } from './references.ts'
import { rowGroupsOutput } from './row-groups.ts'
import { PART_SIZES, type ReleasePart, type ShardCount, partsOf, shardsOf } from './parts.ts'
import { type Provenance, type RankedEntity, isListed, rankEntities } from './payloads.ts'
import { FilesInTurn } from './files-in-turn.ts'
import { type LargeFile, type OutputFile, type SignBytes, releaseShards } from './shards.ts'
import { type QuestionsAt, questionsAt } from './questions-at.ts'
import type { LeftOut, TableVersion } from '../tables/delta.ts'

export interface ReleaseInputs {
  release: number
  asOf: Date
  environment: Environment
  versions: Record<ScoredTable, TableVersion>
  /** The release before it, if there is one; outcomes that it scored by may have changed since. */
  previous: Pick<ReleaseManifest, 'as_of' | 'tables' | keyof LeftOut | 'trees' | 'inputs'> | undefined
  /** Whether its shards hold the snapshot of its day. */
  bringsSnapshot: boolean
  /** See `sweepAll`. */
  furtherPairs?: string | undefined
}

export type DerivationContext = ScoringContext & Pick<PipelineComponents, 'store' | 'directory'>

export interface DerivedRelease extends AsyncDisposable {
  counts: ReleaseCounts
  corrections: Correction[]
  /** Undefined if nobody's forecasts were erased since the release before. */
  erasures: Erasure[] | undefined
  questionsAt: QuestionsAt
  /** The pools with an eligible entity. */
  pools: number
  voiceRule: VoiceRule
  pairs: number
  /**
   * Yields every file of the release but its manifest, in the order of the manifest. It makes each on demand,
   * and deletes a large one when the caller asks for the next.
   */
  files(sign: SignBytes): AsyncIterable<OutputFile | LargeFile>
}

/** Derives a release. The caller must dispose of the result, even if it asks for no files. */
export async function deriveRelease(
  context: DerivationContext,
  inputs: ReleaseInputs,
  partSizes = PART_SIZES,
): Promise<DerivedRelease> {
  const { methodology } = context
  const provenance: Provenance = {
    methodology_version: methodology.version,
    release: inputs.release,
    as_of: inputs.asOf.toISOString(),
    environment: inputs.environment,
  }
  const corrections = await correctionsSince(context, inputs.previous, inputs.versions, inputs.asOf)
  const erasures = await erasuresSince(context, inputs.previous, inputs.versions, inputs.asOf)
  const { entities, circumstances, ...world } = await orderEveryone(
    context,
    inputs.versions,
    inputs.asOf,
    inputs.furtherPairs,
  )
  const shards = shardsOfKinds(entities)
  const scoreParts = partsOf('scores', shards, partSizes)
  // DuckDB writes these files while the process scores entities and makes other files.
  await using begun = new AsyncDisposableStack()
  const inTurn = begun.use(new FilesInTurn(context.directory))
  const scoreFiles = scoresInTurn(inTurn, world, entities, scoreParts, provenance)
  const scored = await scoreEveryone(context, { entities, circumstances, ...world })
  const kinds = rankKinds(methodology, world.voiceRule, scored)
  const [agents, forecasters] = kinds.map((ranked) => ranked.length) as [number, number]
  const all = kinds.flat()
  const categories = await categoriesAt(context.database)
  const inCategories = await categoryMembers(context.database)
  const references = referenceRows(methodology, await referenceQuestions(context.database), {
    pool: (number) => all[number]!.entityId,
    category: (number) => categories[number]!.category,
  })
  const own = begun.move()
  return {
    counts: { agents, forecasters, scored_questions: world.questions, forecasts: world.forecasts },
    corrections,
    erasures,
    questionsAt: await questionsAt(context.database, inputs.asOf),
    pools: new Set(all.flatMap(({ metrics }) => (metrics.eligible ? metrics.pool! : []))).size,
    voiceRule: world.voiceRule,
    pairs: world.pairs,
    async *files(sign) {
      for (const ranked of kinds) {
        yield* releaseShards(ranked, world.voiceRule, provenance, sign, inputs.bringsSnapshot)
      }
      yield* ownerFiles(kinds[0]!.filter(isListed), provenance, sign)
      for (const [index, ranked] of kinds.entries()) {
        yield* leaderboardFiles(ENTITY_TYPES[index]!, ranked.filter(isListed), provenance)
      }
      const categoryFiles = new CategoryFiles(categories, provenance)
      for (const counted of inCategories) categoryFiles.members(counted)
      for (const { category, entityType, entries } of categoryBoards(all.filter(isListed))) {
        yield* categoryFiles.pages(category, entityType, entries)
      }
      yield categoryFiles.index()
      yield categoryFiles.table()
      yield* referenceFiles(references, provenance)
      yield* questionFiles(context.database, (entity) => all[entity]!, provenance)
      for (const part of partsOf('entities', shards, partSizes)) {
        const members = all.slice(part.firstEntity, part.firstEntity + part.entities)
        const { path, entityType: entity_type, entities: rows } = part
        const first_entity_id = members[0]!.entityId
        yield { path, entity_type, first_entity_id, rows, bytes: entitiesParquet(members, provenance) }
      }
      for (const { read, ...described } of scoreFiles) {
        const bytes = await read()
        yield { ...described, bytes }
        yield rowGroupsOutput(described.path, bytes)
      }
      context.log?.('made shards, leaderboards and scores', {})
      await using tree = await forecastsTree(context, inputs.versions.forecasts, inputs.previous)
      context.log?.('made the tree of forecasts', { forecasts: tree?.rows ?? 0 })
      if (tree) yield tree
    },
    [Symbol.asyncDispose]: () => own.disposeAsync(),
  }
}

function shardsOfKinds(entities: readonly OrderedEntity[]): ShardCount[] {
  return ENTITY_TYPES.flatMap((kind) => shardsOf(entities.filter(({ entityType }) => entityType === kind)))
}

/**
 * Begins the files of scores. It is separate so that the closures that the caller returns do not hold the
 * unscored entities.
 */
function scoresInTurn(
  inTurn: FilesInTurn,
  { writeScores }: Pick<OrderedWorld, 'writeScores'>,
  entities: readonly OrderedEntity[],
  parts: readonly ReleasePart[],
  of: OfRelease,
) {
  return parts.map(({ path, entityType: entity_type, firstEntity, firstPair, pairs: rows }) => {
    const first_entity_id = entities[firstEntity]!.entityId
    const read = inTurn.add(path, (location) => writeScores(location, firstPair, firstPair + rows, of))
    return { path, entity_type, first_entity_id, rows, read }
  })
}

/**
 * Ranks each kind of entity. It is separate so that the closures that the caller returns do not hold the
 * unrounded scores.
 */
function rankKinds(
  methodology: Methodology,
  voiceRule: VoiceRule,
  scored: readonly ScoredEntity[],
): RankedEntity[][] {
  return ENTITY_TYPES.map((kind) =>
    rankEntities(
      methodology,
      voiceRule,
      scored.filter(({ entityType }) => entityType === kind),
    ),
  )
}
