// The quarantine: unreadable objects that were moved aside, each with a record of when, why and how many rows
// it may have. `pipeline/release/quarantine.ts` decides what may go there.
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import pMap from 'p-map'
import { ServiceError } from '../../schemas/errors.ts'
import { type QuarantinedObject, quarantinedObject } from '../../schemas/manifests.ts'
import { sha256Hex } from '../proof/canonical.ts'
import {
  QUARANTINE_PREFIX,
  isInboxPath,
  quarantinePath,
  quarantineRecordPath,
  quarantinedPathOf,
} from '../store/paths.ts'
import { records } from '../store/records.ts'
import { READS_AT_ONCE, type Store, putOnce } from '../store/store.ts'
import { COMPRESSORS } from './compressors.ts'

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const recordsIn = (store: Store) => records(store, quarantineRecordPath, quarantinedObject)

/**
 * Returns the error for an object that can be moved aside. It names the object, the fault and the way out.
 */
export function unreadable(key: string, what: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'corrupt',
    `${what}; restore it from a backup, or let the next release go on without it: fvs quarantine ${key} --reason TEXT`,
    { cause },
  )
}

/** Returns the result of `read`. Reports its `corrupt` as the error for an object that can be moved aside. */
export async function orUnreadable<T>(key: string, read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (cause) {
    if (!(cause instanceof ServiceError && cause.kind === 'corrupt')) throw cause
    throw unreadable(key, cause.message, cause)
  }
}

/** The waits before further looks at something that should be there. */
const LOOKS_AFTER_MS = [200, 400, 800, 1600]

/** Looks for something that should be there, again and again, because a store may lag behind for a moment. */
export async function lookAgain<T>(
  wait: (ms: number) => Promise<void>,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  let found = await look()
  for (const ms of LOOKS_AFTER_MS) {
    if (found !== undefined) break
    await wait(ms)
    found = await look()
  }
  return found
}

/** @throws ServiceError `corrupt` for a damaged record. */
export async function readQuarantined(store: Store, key: string): Promise<QuarantinedObject | undefined> {
  try {
    return await recordsIn(store).get(key)
  } catch (cause) {
    if (!(cause instanceof ServiceError && cause.kind === 'corrupt')) throw cause
    const way = `restore it from a backup, or have it written anew: fvs quarantine ${key} --reason TEXT`
    throw new ServiceError('corrupt', `${cause.message}; ${way}`, { cause })
  }
}

/**
 * Returns every object that was moved aside, in the order of their keys.
 *
 * @throws ServiceError `corrupt` for a damaged record.
 */
export async function listQuarantined(store: Store): Promise<QuarantinedObject[]> {
  const keys: string[] = []
  for await (const { path } of store.list(QUARANTINE_PREFIX)) {
    const key = quarantinedPathOf(path)
    if (key !== undefined) keys.push(key)
  }
  const found = await pMap(keys.sort(), (key) => readQuarantined(store, key), { concurrency: READS_AT_ONCE })
  return found.filter((object) => object !== undefined)
}

/**
 * Records an object in the quarantine, and copies it there if it `moves` and still exists. The first record
 * stands, unless it is damaged. Repeating the call is harmless.
 */
export async function recordAside(
  store: Store,
  told: Pick<QuarantinedObject, 'key' | 'at' | 'reason' | 'version'>,
  moves: boolean,
): Promise<QuarantinedObject> {
  const { key } = told
  const isDamaged = await readQuarantined(store, key).then(
    () => false,
    (error: unknown) => {
      if (error instanceof ServiceError && error.kind === 'corrupt') return true
      throw error
    },
  )
  const copy = quarantinePath(key)
  const found = moves ? await store.get(key) : undefined
  // A copy without a record comes from an attempt that was cut off, and the object may have changed since.
  if (found && (await putOnce(store, copy, found)) === 'different') await store.put(copy, found)
  const bytes = found ?? (isDamaged ? await store.get(copy) : undefined)
  const forecastIds = bytes && isInboxPath('forecasts', key) ? await forecastIdsOf(bytes) : []
  const record: QuarantinedObject = {
    ...told,
    size_bytes: bytes?.byteLength ?? null,
    sha256: bytes ? sha256Hex(bytes) : null,
    rows: bytes ? rowsInFooter(bytes) : null,
    ...(forecastIds.length > 0 ? { forecast_ids: forecastIds } : {}),
  }
  if (isDamaged) await recordsIn(store).replace(key, record)
  else await recordsIn(store).create(key, record)
  return (await readQuarantined(store, key)) ?? record
}

/** Undoes `recordAside`, for an object that was taken in after all. */
export async function forgetAside(store: Store, key: string): Promise<void> {
  await store.delete(quarantinePath(key))
  await recordsIn(store).delete(key)
}

/** Corrects the record of an intake whose version was made in the meantime. */
export async function noteMade(store: Store, object: QuarantinedObject): Promise<void> {
  await recordsIn(store).replace(object.key, { ...object, version: null })
}

/** The number of rows in the footer of a Parquet file, however damaged the rest is; null if it has none. */
function rowsInFooter(bytes: Uint8Array): number | null {
  try {
    const rows = Number(parquetMetadata(bytes, { geoparquet: false }).num_rows)
    return Number.isSafeInteger(rows) && rows >= 0 ? rows : null
  } catch {
    return null
  }
}

/**
 * Returns the ids in a Parquet file of forecasts that are version 7 UUIDs, like those of the API; none if the
 * column cannot be read.
 */
async function forecastIdsOf(bytes: Uint8Array): Promise<string[]> {
  try {
    const file = new Uint8Array(bytes).buffer
    const rows = await parquetReadObjects({ file, columns: ['forecast_id'], compressors: COMPRESSORS })
    return rows.map(({ forecast_id: id }) => String(id)).filter((id) => VERSION_7.test(id))
  } catch {
    return []
  }
}
