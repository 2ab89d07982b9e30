// The places of an environment's store and its backup, and their opening.
import type { Logger } from 'pino'
import { v7 as uuidv7 } from 'uuid'
import { assertNoCopy } from '../../pipeline/backup/note.ts'
import { aheadMs } from '../../pipeline/store/clock.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { type StoreSettings, type WhereNone, openStore } from '../../pipeline/store/open.ts'
import { probeStore } from '../../pipeline/store/probe.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Settings } from '../../schemas/config.ts'
import type { Environment } from '../../schemas/values.ts'

/**
 * A command's use of its store. `begins` makes a store if there is none, `writes` and `reads` need one, and
 * `tries` writes nothing and works without one.
 */
export type Access = 'begins' | 'writes' | 'reads' | 'tries'

const WHERE_NONE: Record<Access, WhereNone> = {
  begins: 'begin',
  writes: 'fail',
  reads: 'fail',
  tries: 'imagine',
}

/**
 * Opens the store and, unless the command only reads it, probes it.
 *
 * @throws ServiceError `invalid` for a store that cannot keep the service's promises; `unavailable` if the
 *   store does not answer, or if the folder has no store and the command does not begin one; `conflict` for a
 *   backup that the command would write to.
 */
export async function openOwnStore(
  settings: Settings,
  environment: Environment,
  access: Access,
  logger: Logger,
): Promise<{ store: Store; clockAheadMs: number | undefined }> {
  const place = placeOfStore(settings)
  const store = await openStore({ ...place, url: storeUrlOf(place.url, environment) }, WHERE_NONE[access])
  if (store instanceof FileStore && store.isNew) {
    logger.info({ environment, store: store.url }, 'began a new store, since there was none')
  }
  if (access === 'reads' || access === 'tries') return { store, clockAheadMs: undefined }
  await assertNoCopy(store)
  return { store, clockAheadMs: await probedClock(store) }
}

/**
 * Probes a store. Returns how far the clock is ahead of the store's; undefined if the store gives no time.
 *
 * @throws ServiceError as `probeStore` does.
 */
export async function probedClock(store: Store): Promise<number | undefined> {
  const before = new Date()
  const createdAt = await probeStore(store, uuidv7())
  return aheadMs(before, createdAt, new Date())
}

/** Returns the URL of an environment's store. The sandbox has a prefix that production never reads. */
export function storeUrlOf(storeUrl: string, environment: Environment): string {
  return environment === 'production' ? storeUrl : `${storeUrl.replace(/\/+$/, '')}/${environment}`
}

/** How to reach the place of the backup, if it differs from the store's. */
export type OtherPlace = Pick<StoreSettings, 's3Endpoint' | 's3Profile'>

export function placeOfStore({ STORE_URL, S3_ENDPOINT, STORE_TIMEOUT_MS }: Settings): StoreSettings {
  return { url: STORE_URL, s3Endpoint: S3_ENDPOINT, requestTimeoutMs: STORE_TIMEOUT_MS }
}

export function placeOfBackup(
  settings: Settings,
  url: string,
  { s3Endpoint = settings.S3_ENDPOINT, s3Profile }: OtherPlace,
): StoreSettings {
  return { ...placeOfStore(settings), url, s3Endpoint, s3Profile }
}
