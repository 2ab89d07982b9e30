// Derives everything a release consists of, from the tables alone.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ENTITY_TYPES } from '../../schemas/tables.ts'
import type { ScoredTable } from '../../schemas/tables.ts'
import { entitiesFile } from './entities-parquet.ts'
import { type Provenance, type RankedEntity, rankEntities } from './payloads.ts'
import { type OutputFile, releaseShards } from './shards.ts'
import { type ScoringContext, scoreEveryone } from '../engine/score.ts'
import type { TableVersion } from '../tables/delta-log.ts'

export interface ReleaseInputs {
  release: number
  asOf: Date
  environment: 'production' | 'sandbox'
  versions: Record<ScoredTable, TableVersion>
  /** Whether its shards hold the snapshot of its day. */
  bringsSnapshot: boolean
}

export interface DerivationContext extends ScoringContext {
  /** For a file on its way to the store. */
  directory: string
}

export interface DerivedRelease {
  /** Entities with a published payload, and rows of scores.parquet. */
  entityCount: number
  pairCount: number
  /** Every file of the release but its manifest, in the order of the manifest. Each is made when asked for. */
  files(sign: (bytes: Uint8Array) => string | null): AsyncIterable<OutputFile>
}

export async function deriveRelease(
  context: DerivationContext,
  inputs: ReleaseInputs,
): Promise<DerivedRelease> {
  const { entities, pairs, writeScores } = await scoreEveryone(context, inputs.versions, inputs.asOf)
  const provenance: Provenance = {
    methodology_version: context.methodology.version,
    release: inputs.release,
    as_of: inputs.asOf.toISOString(),
    environment: inputs.environment,
  }
  const ranked: RankedEntity[][] = ENTITY_TYPES.map((entityType) =>
    rankEntities(context.methodology, entities, entityType),
  )
  return {
    entityCount: entities.length,
    pairCount: pairs,
    async *files(sign) {
      // DuckDB writes the scores while the shards are being made; a failure is met where they are awaited.
      const path = join(context.directory, 'scores.parquet')
      const written = writeScores(path)
      const settled = Promise.allSettled([written])
      try {
        for (const kind of ranked) yield* releaseShards(kind, provenance, sign, inputs.bringsSnapshot)
        yield entitiesFile(ranked.flat(), provenance)
        await written
        yield { path: 'scores.parquet', rows: pairs, bytes: await readFile(path) }
      } finally {
        await settled
        await rm(path, { force: true })
      }
    },
  }
}
