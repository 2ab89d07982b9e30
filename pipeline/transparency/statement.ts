// Makes the entry of the public log for a release, a pure function of its manifest (docs/data.md, Public
// log).
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Statement } from '../../schemas/statement.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { readManifest } from '../release/read.ts'
import { manifestPath } from '../store/paths.ts'
import { recordBytes } from '../store/records.ts'
import type { Store } from '../store/store.ts'

/** Returns the statement of a release: canonical JSON without a line end. */
export function statementOf(manifest: ReleaseManifest): Uint8Array {
  const { as_of, environment, methodology_version, release, trees, snapshot_sha256 } = manifest
  const headOf = (tree: { root: string; size: number } | null) =>
    tree ? { root: tree.root, size: tree.size } : null
  const statement: Statement = {
    agent: headOf(trees.agent),
    as_of,
    environment,
    forecaster: headOf(trees.forecaster),
    forecasts: headOf(trees.forecasts),
    manifest_sha256: sha256Hex(recordBytes(manifestPath(release), manifest)),
    methodology_version,
    release,
    snapshot_sha256,
  }
  return canonical(statement)
}

/**
 * Reads the manifest of a release that the store has, and returns its statement.
 *
 * @throws ServiceError `corrupt` if the manifest is gone, damaged, or not written as this service writes it.
 */
export async function readStatement(store: Store, release: number): Promise<Uint8Array> {
  return statementOf(await readLoggedManifest(store, release))
}

/** Reads the manifest of a release that the store has. @throws ServiceError `corrupt` as `readStatement`. */
export async function readLoggedManifest(store: Store, release: number): Promise<ReleaseManifest> {
  const path = manifestPath(release)
  const manifest = await readManifest(store, release)
  const bytes = await store.get(path)
  if (!manifest || !bytes)
    throw new ServiceError('corrupt', `${path} is gone, though there are later releases`)
  if (Buffer.compare(bytes, recordBytes(path, manifest)) === 0) return manifest
  throw new ServiceError('corrupt', `${path} holds its manifest in other bytes than were published`)
}
