// Small JSON objects of the service's own: read whole and held against their schema.
import type { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import type { Store } from './store.ts'

/**
 * The record under a path, undefined where there is none.
 *
 * @throws ServiceError `corrupt` for bytes that are no such record.
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
