// Reads the service's own small JSON objects and validates them against their schemas.
import type { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { Store } from './store.ts'

/**
 * The record at a path; undefined if there is none.
 *
 * @throws ServiceError `corrupt` if the object does not match the schema.
 */
export async function readRecord<S extends z.ZodType>(
  store: Store,
  path: string,
  schema: S,
): Promise<z.infer<S> | undefined> {
  const bytes = await store.get(path)
  if (!bytes) return undefined
  try {
    return schema.parse(JSON.parse(new TextDecoder().decode(bytes)))
  } catch (cause) {
    throw new ServiceError('corrupt', `${path} is not a record of this service`, { cause })
  }
}
