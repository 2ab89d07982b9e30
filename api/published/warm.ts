// The interface of the parts that a node warms before it switches to the next release, so that the first
// callers after the switch do not wait.
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Release } from './release-payloads.ts'
import type { WorkBeside } from './work-beside.ts'

/** A release that is about to be current. */
export interface NextRelease {
  manifest: ReleaseManifest
  payloads: Release
}

export interface Warm {
  /**
   * Reads from the next release the data that callers asked of the current one. Stops as soon as `beside` has
   * no time left. Ignores a read that fails: it fails again for the callers that ask for it, and tells them
   * why.
   */
  warm(next: NextRelease, beside: WorkBeside): Promise<void>
}
