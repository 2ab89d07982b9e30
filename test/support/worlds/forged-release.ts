// What an operator can do who writes the store and holds every secret: change what is there, and make every
// hash anew.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withDatabase } from '../../../pipeline/duckdb.ts'
import { base64Of } from '../../../pipeline/proof/base64.ts'
import { canonical, sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { shardTree } from '../../../pipeline/release/payload-tree.ts'
import type { MemoryStore } from '../../../pipeline/store/memory.ts'
import { deltaLogPath, manifestPath, releasePrefix, tablePath } from '../../../pipeline/store/paths.ts'
import { appendCommit, filesOf } from '../../../pipeline/tables/delta.ts'
import type { ReleaseManifest } from '../../../schemas/manifests.ts'
import type { ReleaseShard } from '../../../schemas/payloads.ts'
import type { TableName } from '../../../schemas/tables.ts'
import { testComponents } from '../http/service.ts'
import { recordIn, setRecord } from '../store-content.ts'

/** Changes a manifest, whose checksum is made anew. */
export function changeManifest(
  store: MemoryStore,
  release: number,
  change: (manifest: ReleaseManifest) => Partial<ReleaseManifest>,
): void {
  const manifest = recordIn(store, manifestPath(release)) as unknown as ReleaseManifest
  setRecord(store, manifestPath(release), { ...manifest, ...change(manifest) })
}

/** Puts other bytes in the place of a file of a release, and its hash into the manifest. */
export function changeFile(store: MemoryStore, release: number, path: string, bytes: Uint8Array): void {
  store.objects.set(releasePrefix(release) + path, bytes)
  const described = { size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) }
  changeManifest(store, release, ({ files }) => ({
    files: files.map((file) => (file.path === path ? { ...file, ...described } : file)),
  }))
}

/** Changes the only shard of agents of a release, with its hash and the tree over its payloads. */
export function changeAgents(
  store: MemoryStore,
  release: number,
  change: (entities: ReleaseShard['entities']) => void,
): void {
  const { files } = recordIn(store, manifestPath(release)) as unknown as ReleaseManifest
  const { path } = files.find((file) => file.path.startsWith('agent/'))!
  const bytes = store.objects.get(releasePrefix(release) + path)
  const shard = JSON.parse(new TextDecoder().decode(bytes)) as ReleaseShard
  change(shard.entities)
  changeFile(store, release, path, canonical(shard))
  const { size, root } = shardTree(shard).subtree
  const tree = { root: base64Of(root), size, shards: [base64Of(root)] }
  changeManifest(store, release, ({ trees }) => ({ trees: { ...trees, agent: tree } }))
}

/**
 * Leaves rows out of the first data file of a version of a table, and makes the commit anew. Returns the path
 * of the file.
 */
export async function leaveOut(
  store: MemoryStore,
  folder: string,
  { table, version }: { table: TableName; version: number },
  condition: string,
): Promise<string> {
  const commitPath = deltaLogPath(table, version)
  const [first, ...others] = filesOf(store.objects.get(commitPath)!, table, version)
  const { directory, local, openDatabase } = await testComponents({ store, folder })
  const path = tablePath(table, first!.path)
  const changed = join(directory, 'changed.parquet')
  await withDatabase(openDatabase, async (database) => {
    const source = await local.path(path, first!)
    await database.run(
      `COPY (SELECT * FROM read_parquet('${source}') WHERE NOT (${condition})) TO '${changed}' (FORMAT parquet)`,
    )
  })
  const bytes = new Uint8Array(await readFile(changed))
  store.objects.set(path, bytes)
  const file = { ...first!, sizeBytes: bytes.byteLength, sha256: sha256Hex(bytes) }
  store.objects.set(commitPath, appendCommit(table, version, [file, ...others], first!.modifiedMs))
  return path
}
