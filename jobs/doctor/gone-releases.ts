// Checks that the newest releases are still in the store: the public log names them.
import { goneReleases } from '../../pipeline/release/gone.ts'
import type { Components } from '../components/components.ts'
import { type Finding, fault } from './finding.ts'

/** Returns a fault if the log has releases that the store has not. @param release the current one, or 0. */
export async function checkGoneReleases(
  { store }: Pick<Components, 'store'>,
  release: number,
): Promise<Finding[]> {
  const gone = await goneReleases(store, release)
  if (!gone) return []
  const detail = `the public log has ${gone.logged} releases, and ${gone.path} is not in the store: no release is made until it is`
  const advice =
    'copy its folder back from a backup, or without one begin a new log: docs/recovery.md, A release that is gone'
  return [fault('log', detail, advice)]
}
