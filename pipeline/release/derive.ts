// Derives all files of a release from the tables alone.
import type { ReleaseCounts, ReleaseManifest } from '../../schemas/manifests.ts'
import type { VoiceRule } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type ScoredTable } from '../../schemas/tables.ts'
import type { Environment } from '../../schemas/values.ts'
import {
  type OrderedEntity,
  type ScoredEntity,
  orderEveryone,
  scoreEveryone,
} from '../engine/duckdb-engine.ts'
import type { Methodology } from '../scoring/methodology.ts'
import type { LeftOut, TableVersion } from '../tables/delta.ts'
import { categoriesAt } from './category-boards.ts'
import { type Corrected, correctedSince } from './corrections.ts'
import { FilesInTurn } from './files-in-turn.ts'
import type { DerivationContext } from './files/kind.ts'
import { SCORED_KINDS, releaseFiles } from './files/kinds.ts'
import type { LargeFile, OutputFile, SignBytes } from './output.ts'
import { PART_SIZES, type ShardCount, shardsOf } from './parts.ts'
import { type Provenance, type RankedEntity, rankEntities } from './payloads.ts'
import { type QuestionsAt, questionsAt } from './questions-at.ts'

export interface ReleaseInputs {
  release: number
  asOf: Date
  environment: Environment
  versions: Record<ScoredTable, TableVersion>
  /** The release before, if there is one. Outcomes may have changed since. */
  previous: Pick<ReleaseManifest, 'as_of' | 'tables' | keyof LeftOut | 'trees' | 'inputs'> | undefined
  /** Whether its shards hold the snapshot of its day. */
  bringsSnapshot: boolean
  /** See `sweepAll`. */
  furtherPairs?: string | undefined
}

export interface DerivedRelease extends AsyncDisposable, Corrected {
  counts: ReleaseCounts
  questionsAt: QuestionsAt
  /** The pools with an eligible entity. */
  pools: number
  voiceRule: VoiceRule
  pairs: number
  /**
   * Yields every file of the release but its manifest, in the order of the manifest. Makes each on demand,
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
  const { methodology, database } = context
  const { versions, asOf, previous, bringsSnapshot } = inputs
  const provenance: Provenance = {
    methodology_version: methodology.version,
    release: inputs.release,
    as_of: asOf.toISOString(),
    environment: inputs.environment,
  }
  // Make the pairs, and find what they correct.
  const corrected = await correctedSince(context, previous, versions, asOf)
  const ordered = await orderEveryone(context, versions, asOf, inputs.furtherPairs)
  const { writeScores, voiceRule, pairs, questions: scored_questions, forecasts } = ordered
  // Let DuckDB write large files while the entities are scored.
  const shards = shardsOfTypes(ordered.entities)
  await using begun = new AsyncDisposableStack()
  const inTurn = begun.use(new FilesInTurn(context.directory))
  const release = { provenance, shards, partSizes, inTurn }
  for (const kind of SCORED_KINDS) kind.begin?.({ ...release, writeScores })
  // Score and rank everyone.
  const ranked = rankTypes(methodology, voiceRule, await scoreEveryone(context, ordered))
  const categories = await categoriesAt(database)
  const countOf = (type: string) => ranked.filter(({ entityType }) => entityType === type).length
  const [agents, forecasters] = ENTITY_TYPES.map(countOf) as [number, number]
  // The caller disposes of the large files.
  const own = begun.move()
  return {
    counts: { agents, forecasters, scored_questions, forecasts },
    ...corrected,
    questionsAt: await questionsAt(database, asOf),
    pools: new Set(ranked.flatMap(({ metrics }) => (metrics.eligible ? metrics.pool! : []))).size,
    voiceRule,
    pairs,
    files: (sign) =>
      releaseFiles({
        ...release,
        context,
        versions,
        previous,
        voiceRule,
        bringsSnapshot,
        ranked,
        categories,
        sign,
      }),
    [Symbol.asyncDispose]: () => own.disposeAsync(),
  }
}

function shardsOfTypes(entities: readonly OrderedEntity[]): ShardCount[] {
  return ENTITY_TYPES.flatMap((type) => shardsOf(entities.filter(({ entityType }) => entityType === type)))
}

/** Ranks the entities of each type among each other. */
function rankTypes(
  methodology: Methodology,
  voiceRule: VoiceRule,
  scored: readonly ScoredEntity[],
): RankedEntity[] {
  return ENTITY_TYPES.flatMap((type) =>
    rankEntities(
      methodology,
      voiceRule,
      scored.filter(({ entityType }) => entityType === type),
    ),
  )
}
