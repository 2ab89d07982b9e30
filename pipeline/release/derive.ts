// Derives everything a release consists of, from the tables alone.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ReleaseCounts, ReleaseManifest, SupersededOutcome, VoiceRule } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type ScoredTable } from '../../schemas/tables.ts'
import type { Environment } from '../../schemas/values.ts'
import {
  type ScoredEntity,
  type ScoredWorld,
  type ScoringContext,
  scoreEveryone,
} from '../engine/duckdb-engine.ts'
import type { Since } from '../engine/since.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { entitiesParquet } from './entities-parquet.ts'
import { forecastsTree } from './forecasts-tree.ts'
import { leaderboardFiles } from './leaderboard.ts'
import { ownerFiles } from './owners.ts'
import { rowGroupsOutput } from './row-groups.ts'
import { PART_SIZES, type Part, partsOf, shardsOf } from './parts.ts'
import { type Provenance, type RankedEntity, rankEntities } from './payloads.ts'
import { type LargeFile, type OutputFile, type Sign, releaseShards } from './shards.ts'
import type { Store } from '../store/store.ts'
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
}

export interface DerivationContext extends ScoringContext {
  store: Store
  /** For a file on its way to the store. */
  directory: string
}

export interface DerivedRelease {
  counts: ReleaseCounts
  superseded: SupersededOutcome[]
  voiceRule: VoiceRule
  world: Omit<ScoredWorld, 'entities'>
  /** Of the scores. */
  scoreParts: readonly Part[]
  /**
   * Every file of the release but its manifest, in the order of the manifest. Each is made when asked for; a large one is gone when
   * the next is.
   */
  files(sign: Sign): AsyncIterable<OutputFile | LargeFile>
}

export async function deriveRelease(
  context: DerivationContext,
  inputs: ReleaseInputs,
  partSizes = PART_SIZES,
): Promise<DerivedRelease> {
  const { methodology } = context
  const superseded = inputs.previous
    ? await supersededOutcomes(context, inputs.previous, inputs.versions)
    : []
  const { entities: scored, ...world } = await scoreEveryone(
    context,
    inputs.versions,
    inputs.asOf,
    inputs.since,
  )
  const provenance: Provenance = {
    methodology_version: methodology.version,
    release: inputs.release,
    as_of: inputs.asOf.toISOString(),
    environment: inputs.environment,
  }
  const kinds = rankKinds(methodology, world.voiceRule, scored)
  const [agents, forecasters] = kinds.map((entities) => entities.length) as [number, number]
  const all = kinds.flat()
  const shards = kinds.flatMap(shardsOf)
  const scoreParts = partsOf('scores', shards, partSizes)
  return {
    counts: { agents, forecasters, scored_questions: world.questions, forecasts: world.forecasts },
    superseded,
    voiceRule: world.voiceRule,
    world,
    scoreParts,
    async *files(sign) {
      // DuckDB writes the first part of the scores while the shards are being made, and each next one while its
      // predecessor is being stored.
      const scores = scoreFiles(context, world, all, scoreParts)
      try {
        for (const entities of kinds) {
          yield* releaseShards(entities, world.voiceRule, provenance, sign, inputs.bringsSnapshot)
        }
        yield* ownerFiles(kinds[0]!, provenance, sign)
        for (const [index, entities] of kinds.entries()) {
          yield* leaderboardFiles(ENTITY_TYPES[index]!, entities, provenance)
        }
        for (const part of partsOf('entities', shards, partSizes)) {
          const members = all.slice(part.firstEntity, part.firstEntity + part.entities)
          yield { ...fileOf(part, all), rows: part.entities, bytes: entitiesParquet(members) }
        }
        yield* scores.files()
        context.log?.('made shards, leaderboards and scores', {})
        await using tree = await forecastsTree(context, inputs.versions.forecasts, inputs.previous)
        context.log?.('made the tree of forecasts', { forecasts: tree?.rows ?? 0 })
        if (tree) yield tree
      } finally {
        await scores.close()
      }
    },
  }
}

/** A function of its own, so that what the caller returns does not hold the scores as they were before they were rounded. */
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

function fileOf(
  { path, entityType, firstEntity }: Part,
  entities: readonly RankedEntity[],
): Omit<OutputFile, 'rows' | 'bytes'> {
  return { path, entity_type: entityType, first_entity_id: entities[firstEntity]!.entityId }
}

/** Begins with the first part at once, and with each next one when the one before has been made. */
function scoreFiles(
  { directory }: DerivationContext,
  { writeScores }: Pick<ScoredWorld, 'writeScores'>,
  entities: readonly RankedEntity[],
  parts: readonly Part[],
) {
  const pathOf = (part: Part) => join(directory, part.path.replace('/', '-'))
  let writing: Promise<void> = Promise.resolve()
  const begin = (part: Part | undefined) => {
    if (!part) return
    writing = writeScores(pathOf(part), part.firstPair, part.firstPair + part.pairs)
    // A failure is met where it is awaited, which may be later.
    writing.catch(() => undefined)
  }
  begin(parts[0])
  return {
    async *files(): AsyncIterable<OutputFile> {
      for (const [index, part] of parts.entries()) {
        await writing
        begin(parts[index + 1])
        const bytes = await readFile(pathOf(part))
        await rm(pathOf(part))
        yield { ...fileOf(part, entities), rows: part.pairs, bytes }
        yield rowGroupsOutput(part.path, bytes)
      }
    },
    async close(): Promise<void> {
      await Promise.allSettled([writing])
      for (const part of parts) await rm(pathOf(part), { force: true })
    },
  }
}
