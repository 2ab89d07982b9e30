// What a node makes ready before it switches to another release, so that the first callers after the switch do not wait.
import type { ReleaseManifest } from '../../schemas/payloads.ts'
import type { ReleasePayloads } from './release-payloads.ts'
import type { WorkBeside } from './work-beside.ts'

/** A release that is about to be current. */
export interface NextRelease {
  manifest: ReleaseManifest
  payloads: ReleasePayloads
}

export interface Warm {
  /**
   * Reads from the next release what callers asked of the current one. It stops as soon as `beside` has no time left. A read
   * that fails is left to the callers that ask for it: it fails again for them, and tells them why.
   */
  warm(next: NextRelease, beside: WorkBeside): Promise<void>
}
