// The commitments of a release besides its files: the trees over its payloads and forecasts, and its new
// data.
import type { InputFile, ReleaseManifest, ReleaseTrees } from '../../schemas/manifests.ts'
import { type EntityType, SCORED_TABLES, type ScoredTable } from '../../schemas/tables.ts'
import { base64Of } from '../proof/base64.ts'
import { type Hash, MerkleTree } from '../proof/merkle.ts'
import { type TableVersion, statisticsOf } from '../tables/delta.ts'
import type { OutputFile } from './output.ts'

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

  take({ subtree }: Pick<OutputFile, 'subtree'>): void {
    if (!subtree) return
    const { tree, root, size } = subtree
    if (tree === 'forecasts') {
      this.#forecasts = { root: base64Of(root), size }
      return
    }
    this.#shards[tree].roots.push(root)
    this.#shards[tree].size += size
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
