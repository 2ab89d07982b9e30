// Tells whether one of the current secrets signed a release.
import { ServiceError } from '../../schemas/errors.ts'
import { canonical } from '../proof/canonical.ts'
import { signatureHolds } from '../proof/hmac.ts'
import { isShardPath } from '../store/paths.ts'
import type { Store } from '../store/store.ts'
import { readManifest, readReleaseShard } from './read.ts'
import { signerOf } from './signatures.ts'
import { readPlan } from './state.ts'

/**
 * Whether any of the secrets signed a release. True for an unsigned release, and if its plan or first shard
 * is damaged or gone, so that nothing can tell: an audit reports that.
 */
export async function isSignedBy(
  store: Store,
  release: number,
  secrets: readonly string[],
): Promise<boolean> {
  try {
    const signing = (await readPlan(store, release))?.signing ?? null
    if (signerOf(signing, secrets)) return true
    if (secrets.length === 0) return false
    // The fingerprint covers both secrets of a rotation, and the previous one may be gone by now.
    const file = (await readManifest(store, release))?.files.find(({ path }) => isShardPath(path))
    if (!file) return true
    const [entity] = Object.values((await readReleaseShard(store, release, file)).entities)
    const { payload, signature } = entity!.verification
    return signature === null || signatureHolds(canonical(payload), signature, secrets)
  } catch (error) {
    if (error instanceof ServiceError && (error.kind === 'corrupt' || error.kind === 'notFound')) return true
    throw error
  }
}
