// Where the store lies, and where its backup.
import type { StoreSettings } from '../../pipeline/store/open.ts'
import type { Settings } from '../../schemas/config.ts'

/** How to reach the place of the backup, where it is not reached as the store is. */
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
