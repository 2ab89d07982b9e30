// Tidies up a store after a run of `fvs release`, whether or not it made a release.
import { sweepExpired, sweepPart } from '../../pipeline/access/idempotency.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { hasWaiting } from '../../pipeline/release/changes.ts'
import type { ReleaseResult } from '../../pipeline/release/make.ts'
import { publishRationales } from '../../pipeline/release/rationales.ts'
import { MOST_AT_ONCE, WHOLE_RELEASES, thinReleases } from '../../pipeline/release/retention.ts'
import { PROBES_PREFIX } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import type { Components } from '../components/components.ts'

/**
 * After a run without a release, the table takes in counted calls only if this many objects wait, because
 * each intake adds a commit that every later reader reads.
 */
export const MUCH_USAGE = 500

/**
 * Does all chores. If one fails, logs it and goes on: a later run repeats it, and a published release must
 * not look like a failure.
 */
export async function keepHouse(components: Components, { made, release }: ReleaseResult): Promise<void> {
  const { environment, logger, store, now } = components
  /** Does a chore. `work` must return how many things it handled. */
  const chore = async (name: string, work: () => Promise<number>) => {
    try {
      const count = await work()
      if (count > 0) logger.info({ environment, count }, `housekeeping: ${name}`)
    } catch (error) {
      logger.warn({ err: error, environment }, `housekeeping failed: ${name}; a later run tries again`)
    }
  }
  await chore('take in counted calls', () => takeInUsage(components, made))
  await chore('publish rationales', () => publishRationales(components))
  // Each run looks through a sixteenth of the claims.
  await chore('delete expired claims', () => sweepExpired(store, now(), sweepPart(now())))
  await chore('delete what dead processes tried the store with', () => sweepProbes(store, now()))
  // Production keeps all published files until an operator decides otherwise.
  if (environment === 'sandbox' && made) {
    await chore('delete files of old releases', async () => {
      const { files } = await thinReleases(components, release, WHOLE_RELEASES, MOST_AT_ONCE)
      return files
    })
  }
}

async function takeInUsage(components: Components, made: boolean): Promise<number> {
  if (!(await hasWaiting(components.store, 'usage', made ? 1 : MUCH_USAGE))) return 0
  return withDatabase(components.openDatabase, async (database) => {
    const { objects } = await compact({ ...components, database }, 'usage')
    return objects
  })
}

/** A process rewrites its own probe every few seconds, and removes it at its end. */
const DEAD_AFTER_MS = 24 * 60 * 60_000

async function sweepProbes(store: Store, now: Date): Promise<number> {
  let count = 0
  for await (const { path, modifiedAt } of store.list(PROBES_PREFIX)) {
    if (!(now.getTime() - modifiedAt.getTime() > DEAD_AFTER_MS)) continue
    await store.delete(path)
    count += 1
  }
  return count
}
