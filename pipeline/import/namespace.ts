// The namespaces of ids that are text. With another one the same texts are other ids, so that all of an
// operator's questions and forecasters would be there twice.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { uuid } from '../../schemas/values.ts'
import { NAMESPACES_PATH } from '../store/paths.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { ImportOptions } from './options.ts'
import { checkOf } from './person-ids.ts'

/** A namespace whose ids of people follow from a secret has the text by which the secret is known again. */
const record = z.strictObject({
  namespaces: z.array(uuid),
  keyed: z.record(uuid, z.string()).default({}),
})
type Namespaces = z.infer<typeof record>

async function known(store: Store): Promise<Namespaces> {
  return (await readRecord(store, NAMESPACES_PATH, record)) ?? { namespaces: [], keyed: {} }
}

/**
 * Returns the options with the secret of the ids of people, where these follow from one: so it is in a new
 * namespace if there is a secret, and in one that began with it. A namespace that began without goes on as it
 * did.
 *
 * @throws ServiceError `conflict` for a namespace that no import before had, unless it is the first or was
 *   said twice, and for a secret that is not the one of the namespace: the same people would get other ids.
 */
export async function withNamespace(
  store: Store,
  options: ImportOptions,
  secret: string | undefined,
): Promise<ImportOptions> {
  const { namespace, isNewNamespace } = options
  if (namespace === undefined) return options
  const { namespaces, keyed } = await known(store)
  const isKnown = namespaces.includes(namespace)
  if (!isNewNamespace && namespaces.length > 0 && !isKnown) {
    throw new ServiceError(
      'conflict',
      `--namespace is ${namespace}, but the imports before had ${namespaces.join(' or ')}: with another one every id is a new one; if that is meant, say --namespace ${namespace} twice`,
    )
  }
  const check = keyed[namespace]
  if (isKnown && check === undefined) return options
  if (check !== undefined && (secret === undefined || checkOf(secret, namespace) !== check)) {
    throw new ServiceError(
      'conflict',
      `the ids of people in the namespace ${namespace} follow from a secret, and IDS_SECRET is ${secret === undefined ? 'not set' : 'another one'}: every person would get a new id; set IDS_SECRET to the value that it had`,
    )
  }
  return { ...options, idsSecret: secret }
}

/** Remembers the namespace of an import that was made. */
export async function rememberNamespace(
  store: Store,
  { namespace, idsSecret }: ImportOptions,
): Promise<void> {
  if (namespace === undefined) return
  const before = await known(store)
  if (before.namespaces.includes(namespace)) return
  const keyed =
    idsSecret === undefined ? before.keyed : { ...before.keyed, [namespace]: checkOf(idsSecret, namespace) }
  const after = {
    namespaces: [...before.namespaces, namespace],
    ...(Object.keys(keyed).length > 0 && { keyed }),
  }
  await store.put(NAMESPACES_PATH, recordBytes(NAMESPACES_PATH, after))
}
