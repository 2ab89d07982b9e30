// Whose title each release changed, worked out once for each release that anyone asks for.
import { titleChanges } from '../../pipeline/release/compare.ts'
import type { ReleaseManifest, TitleChanges } from '../../schemas/manifests.ts'
import { SERVICE } from '../turns.ts'
import type { WorkedOut } from './worked-out.ts'

/** A change in memory, with its ids. */
const CHANGE_BYTES = 300
const LEAST_BYTES = 1_000

/**
 * Returns `titleChanges` with a memory. Retention deletes the oldest files first, so that two releases that
 * cannot be compared never can be again.
 */
export function keptTitleChanges(context: Parameters<typeof titleChanges>[0], kept: WorkedOut) {
  return async (
    manifest: ReleaseManifest,
    previous: ReleaseManifest | undefined,
  ): Promise<TitleChanges | undefined> => {
    // The page that shows them has counted the calls, and is kept for whoever asks next.
    const { changes } = await kept.answerUnder(`titles ${manifest.release}`, SERVICE, async () => {
      const found = await titleChanges(context, manifest, previous)
      const sizeBytes = LEAST_BYTES + (found?.first.length ?? 0) * CHANGE_BYTES
      return { value: { changes: found }, sizeBytes }
    })
    return changes
  }
}
