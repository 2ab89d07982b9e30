// The namespaces of ids that are text. With another one the same texts are other ids, so that all of an
// operator's questions and forecasters would be there twice.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { uuid } from '../../schemas/values.ts'
import { NAMESPACES_PATH } from '../store/paths.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { ImportOptions } from './options.ts'

const record = z.strictObject({ namespaces: z.array(uuid) })

async function known(store: Store): Promise<readonly string[]> {
  return (await readRecord(store, NAMESPACES_PATH, record))?.namespaces ?? []
}

/**
 * @throws ServiceError `conflict` for a namespace that no import before had, unless it is the first or was
 *   said twice.
 */
export async function assertNamespace(
  store: Store,
  { namespace, isNewNamespace }: ImportOptions,
): Promise<void> {
  if (namespace === undefined || isNewNamespace) return
  const before = await known(store)
  if (before.length === 0 || before.includes(namespace)) return
  throw new ServiceError(
    'conflict',
    `--namespace is ${namespace}, but the imports before had ${before.join(' or ')}: with another one every id is a new one; if that is meant, say --namespace ${namespace} twice`,
  )
}

/** Remembers the namespace of an import that was made. */
export async function rememberNamespace(store: Store, { namespace }: ImportOptions): Promise<void> {
  if (namespace === undefined) return
  const before = await known(store)
  if (before.includes(namespace)) return
  await store.put(NAMESPACES_PATH, recordBytes(NAMESPACES_PATH, { namespaces: [...before, namespace] }))
}
