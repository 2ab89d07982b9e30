// The namespaces of ids that are text, and the secrets of their people. With another namespace or another
// secret the same texts are other ids, so that all of an operator's questions and forecasters would be there
// twice.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { uuid } from '../../schemas/values.ts'
import { NAMESPACES_PATH } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { Database } from '../duckdb.ts'
import type { ImportOptions } from './options.ts'
import { checkOf } from './person-ids.ts'
import type { ImportSource } from './source.ts'
import { rowsWithIds } from './ids.ts'

/**
 * `namespaces` are those of `--namespace`. `keyed` has the text by which the secret is known again from which
 * the ids of people in a namespace follow, also in that of a platform.
 */
const record = z.strictObject({
  namespaces: z.array(uuid),
  keyed: z.record(uuid, z.string()).default({}),
})
type Namespaces = z.infer<typeof record>

async function known(store: Store): Promise<Namespaces> {
  return (await recordAt(store, NAMESPACES_PATH, record).get()) ?? { namespaces: [], keyed: {} }
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
  if (isKnown && keyed[namespace] === undefined) return options
  assertSameSecret(keyed, namespace, secret, `in the namespace ${namespace}`)
  return { ...options, idsSecret: secret }
}

/**
 * Returns the secret from which the ids of people of a platform follow: the one that is set, unless rows of
 * the platform were imported without one. The view of the current questions must be attached.
 *
 * @throws ServiceError `conflict` for a secret that is not the one of the imports before.
 */
export async function secretOfSource(
  { store, database }: { store: Store; database: Database },
  { name, namespace }: ImportSource,
  secret: string | undefined,
): Promise<string | undefined> {
  const { namespaces, keyed } = await known(store)
  assertSameSecret(keyed, namespace, secret, `of ${name}`)
  if (secret === undefined || keyed[namespace] !== undefined) return secret
  if (namespaces.includes(namespace)) return undefined
  const questions = rowsWithIds('current_questions', { made_id: { text: 'source_id', namespace } })
  const [match] = await database.rows(`SELECT 1 FROM (${questions}) WHERE question_id = made_id LIMIT 1`)
  return match === undefined ? secret : undefined
}

/** @param whose the people, for the message. */
function assertSameSecret(
  keyed: Namespaces['keyed'],
  namespace: string,
  secret: string | undefined,
  whose: string,
): void {
  const check = keyed[namespace]
  if (check === undefined || (secret !== undefined && checkOf(secret, namespace) === check)) return
  throw new ServiceError(
    'conflict',
    `the ids of people ${whose} follow from a secret, and IDS_SECRET is ${secret === undefined ? 'not set' : 'another one'}: every person would get a new id; set IDS_SECRET to the value that it had`,
  )
}

/** Remembers the namespace of an import that was made. */
export async function rememberNamespace(
  store: Store,
  { namespace, idsSecret }: ImportOptions,
): Promise<void> {
  if (namespace === undefined) return
  const { namespaces, keyed } = await known(store)
  if (namespaces.includes(namespace)) return
  await remember(store, {
    namespaces: [...namespaces, namespace],
    keyed: withKey(keyed, namespace, idsSecret),
  })
}

/** Remembers the secret of the people of a platform. */
export async function rememberSecret(store: Store, namespace: string, secret: string): Promise<void> {
  const { namespaces, keyed } = await known(store)
  if (keyed[namespace] !== undefined) return
  await remember(store, { namespaces, keyed: withKey(keyed, namespace, secret) })
}

function withKey(
  keyed: Namespaces['keyed'],
  namespace: string,
  secret: string | undefined,
): Namespaces['keyed'] {
  return secret === undefined ? keyed : { ...keyed, [namespace]: checkOf(secret, namespace) }
}

async function remember(store: Store, { namespaces, keyed }: Namespaces): Promise<void> {
  const after = { namespaces, ...(Object.keys(keyed).length > 0 && { keyed }) }
  await recordAt(store, NAMESPACES_PATH, record).replace(after)
}
