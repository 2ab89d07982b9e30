// Derives everything a release consists of, from the tables alone.
import type { PipelineComponents } from '../components.ts'
import type {
  CarriedFile,
  ReleaseCounts,
  ReleaseManifest,
  SupersededOutcome,
  VoiceRule,
} from '../../schemas/payloads.ts'
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
import type { Since } from '../engine/since.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { type Carried, carriedBy } from './carried.ts'
import { entitiesParquet } from './entities-parquet.ts'
import { forecastsTree } from './forecasts-tree.ts'
import { leaderboardFiles } from './leaderboard.ts'
import { ownerFiles } from './owners.ts'
import { rowGroupsOutput } from './row-groups.ts'
import { PART_SIZES, type ReleasePart, type ShardCount, partsOf, shardsOf } from './parts.ts'
import { type Provenance, type RankedEntity, rankEntities } from './payloads.ts'
import { FilesInTurn } from './files-in-turn.ts'
import { type LargeFile, type OutputFile, type SignBytes, releaseShards } from './shards.ts'
import { supersededOutcomes } from './superseded.ts'
import type { TableVersion } from '../tables/delta.ts'

export interface ReleaseInputs {
  release: number
  asOf: Date
  environment: Environment
  versions: Record<ScoredTable, TableVersion>
  /** The release before it, if there is one: what it scored by may have been corrected since. */
  previous: Pick<ReleaseManifest, 'as_of' | 'tables' | 'trees' | 'inputs'> | undefined
  /** Whether its shards hold the snapshot of its day. */
  bringsSnapshot: boolean
  /** What it may build on; undefined: it sweeps every question, to the same bytes. */
  since?: Since | undefined
  /** What the release before it carries. Undefined: pairs are not carried. */
  carriedBefore?: readonly CarriedFile[]
}

export type DerivationContext = ScoringContext & Pick<PipelineComponents, 'store' | 'directory'>

export interface DerivedRelease extends AsyncDisposable {
  counts: ReleaseCounts
  superseded: SupersededOutcome[]
  voiceRule: VoiceRule
  pairs: number
  carried: Carried | undefined
  /**
   * Every file of the release but its manifest, in the order of the manifest. Each is made when asked for; a
   * large one is gone when the next is.
   */
  files(sign: SignBytes): AsyncIterable<OutputFile | LargeFile>
}

/** What it returns must be disposed of, also where its files are not asked for. */
export async function deriveRelease(
  context: DerivationContext,
  inputs: ReleaseInputs,
  partSizes = PART_SIZES,
): Promise<DerivedRelease> {
  const { methodology } = context
  const superseded = inputs.previous
    ? await supersededOutcomes(context, inputs.previous, inputs.versions)
    : []
  const { entities, circumstances, ...world } = await orderEveryone(
    context,
    inputs.versions,
    inputs.asOf,
    inputs.since,
  )
  const shards = shardsOfKinds(entities)
  const scoreParts = partsOf('scores', shards, partSizes)
  // DuckDB writes these while entities are scored and other files are made.
  await using begun = new AsyncDisposableStack()
  const inTurn = begun.use(new FilesInTurn(context.directory))
  const scoreFiles = scoresInTurn(inTurn, world, entities, scoreParts)
  const carried =
    inputs.carriedBefore &&
    (await carriedBy(context, world, scoreParts, inputs.release, inputs.carriedBefore, inTurn))
  const scored = await scoreEveryone(context, { entities, circumstances, ...world })
  const provenance: Provenance = {
    methodology_version: methodology.version,
    release: inputs.release,
    as_of: inputs.asOf.toISOString(),
    environment: inputs.environment,
  }
  const kinds = rankKinds(methodology, world.voiceRule, scored)
  const [agents, forecasters] = kinds.map((ranked) => ranked.length) as [number, number]
  const all = kinds.flat()
  const own = begun.move()
  return {
    counts: { agents, forecasters, scored_questions: world.questions, forecasts: world.forecasts },
    superseded,
    voiceRule: world.voiceRule,
    pairs: world.pairs,
    carried,
    async *files(sign) {
      for (const ranked of kinds) {
        yield* releaseShards(ranked, world.voiceRule, provenance, sign, inputs.bringsSnapshot)
      }
      yield* ownerFiles(kinds[0]!, provenance, sign)
      for (const [index, ranked] of kinds.entries()) {
        yield* leaderboardFiles(ENTITY_TYPES[index]!, ranked, provenance)
      }
      for (const part of partsOf('entities', shards, partSizes)) {
        const members = all.slice(part.firstEntity, part.firstEntity + part.entities)
        const { path, entityType: entity_type, entities: rows } = part
        const first_entity_id = members[0]!.entityId
        yield { path, entity_type, first_entity_id, rows, bytes: entitiesParquet(members) }
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
 * A function of its own, so that what the caller returns does not hold the entities as they were before they
 * were scored.
 */
function scoresInTurn(
  inTurn: FilesInTurn,
  { writeScores }: Pick<OrderedWorld, 'writeScores'>,
  entities: readonly OrderedEntity[],
  parts: readonly ReleasePart[],
) {
  return parts.map(({ path, entityType: entity_type, firstEntity, firstPair, pairs: rows }) => {
    const first_entity_id = entities[firstEntity]!.entityId
    const read = inTurn.add(path, (location) => writeScores(location, firstPair, firstPair + rows))
    return { path, entity_type, first_entity_id, rows, read }
  })
}

/**
 * A function of its own, so that what the caller returns does not hold the scores as they were before they
 * were rounded.
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
