// The commitments of a release besides its files: the trees over its payloads and forecasts, and its new
// data.
import type { InputFile, ReleaseManifest, ReleaseTrees } from '../../schemas/manifests.ts'
import { ENTITY_TYPES, type EntityType, SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import { base64Of } from '../proof/base64.ts'
import { type Hash, MerkleTree } from '../proof/merkle.ts'
import { FORECASTS_TREE_PATH, shardStart } from '../store/paths.ts'
import { type TableVersion, statisticsOf } from '../tables/delta.ts'
import type { OutputFile } from './shards.ts'

/** The part of the last manifest that a release continues. */
export type Before = Pick<ReleaseManifest, 'tables'> | undefined

/** Returns the data files of a table that are new since the release `before`; without one, all of them. */
export function newFiles({ table, files }: TableVersion, before: Before) {
  const known = before?.tables[table] ?? -1
  return files.filter(({ version }) => version > known)
}

export function inputsOf(versions: Record<ScoredTable, TableVersion>, before: Before): InputFile[] {
  return SCORED_TABLES.flatMap((table) =>
    newFiles(versions[table], before).map((file) => ({
      table,
      path: file.path,
      rows: statisticsOf(file).numRecords,
      size_bytes: file.sizeBytes,
      sha256: file.sha256,
    })),
  )
}

/** The trees of a release, gathered from its files. */
export class GatheredTrees {
  readonly #shards: Record<EntityType, { roots: Hash[]; size: number }> = {
    agent: { roots: [], size: 0 },
    forecaster: { roots: [], size: 0 },
  }
  #forecasts: ReleaseTrees['forecasts'] = null

  take({ path, subtree }: Pick<OutputFile, 'path' | 'subtree'>): void {
    if (!subtree) return
    const { root, size } = subtree
    if (path === FORECASTS_TREE_PATH) this.#forecasts = { root: base64Of(root), size }
    for (const entityType of ENTITY_TYPES) {
      if (shardStart(path, entityType) === undefined) continue
      this.#shards[entityType].roots.push(root)
      this.#shards[entityType].size += size
    }
  }

  get trees(): ReleaseTrees {
    return {
      agent: this.#treeOf('agent'),
      forecaster: this.#treeOf('forecaster'),
      forecasts: this.#forecasts,
    }
  }

  /** All shards but the last have the same power of two of leaves, so their roots are nodes of the tree. */
  #treeOf(entityType: EntityType): ReleaseTrees['agent'] {
    const { roots, size } = this.#shards[entityType]
    if (size === 0) return null
    return { root: base64Of(new MerkleTree(roots).root), size, shards: roots.map(base64Of) }
  }
}
