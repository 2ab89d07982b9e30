// Checks that the Parquet files of a release in stages fit its shards.
import { ENTITY_TYPES } from '../../../schemas/tables.ts'
import { shardStart } from '../../store/paths.ts'
import { type PartFolder, partsOf } from '../parts.ts'
import { SCORES_FOLDER } from '../row-groups.ts'
import type { StagedFile } from './staged-file.ts'
import type { StagedFiles } from './staged-files.ts'

/** Takes the parts of a folder out of staged files, and checks them against the shards. */
export function partFiles(staged: StagedFiles, folder: PartFolder): StagedFile[] {
  const shards = ENTITY_TYPES.flatMap((entityType) =>
    staged.takenIn(`${entityType}/`).map(({ path, rows, counts }) => ({
      entityType,
      first: shardStart(path, entityType)!,
      entities: rows,
      pairs: counts?.['pairs'] ?? 0,
    })),
  )
  let shard = 0
  return partsOf(folder, shards, staged.partSizes).map((part) => {
    const first_id = shards[shard]!.first
    shard += part.shards
    const rows = folder === SCORES_FOLDER ? part.pairs : part.entities
    return staged.take(part.path, { rows, entity_type: part.entityType, first_id })
  })
}
