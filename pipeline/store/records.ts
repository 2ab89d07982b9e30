// The service's own small JSON objects. Each holds a checksum of its path and of everything else in it, so
// that the service never acts on a damaged record, or on a record that was put at another path.
import type { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { type Store, readChecked } from './store.ts'

/** The bytes of a record at a path: canonical JSON with its checksum. */
export function recordBytes(path: string, record: object): Uint8Array {
  return canonical({ ...record, checksum: checksumOf(path, record) })
}

/** The SHA-256 of the path, a line feed, and the record without its checksum. */
export function checksumOf(path: string, record: object): string {
  return sha256Hex(Buffer.concat([Buffer.from(`${path}\n`), canonical(record)]))
}

/**
 * The record at a path; undefined if there is none.
 *
 * @throws ServiceError `corrupt` if its checksum does not hold or it does not match the schema.
 */
export async function readRecord<S extends z.ZodType>(
  store: Store,
  path: string,
  schema: S,
): Promise<z.infer<S> | undefined> {
  return readChecked(store, path, (bytes) => {
    try {
      const { checksum, ...record } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>
      const expected = checksumOf(path, record)
      if (checksum !== expected) throw new Error(`its checksum is ${String(checksum)}, expected ${expected}`)
      return schema.parse(record)
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message.slice(0, 200) : String(cause)
      throw new ServiceError('corrupt', `${path} is not a whole record of this service: ${reason}`, { cause })
    }
  })
}
