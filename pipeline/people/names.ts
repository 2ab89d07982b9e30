// The names of people, in the only place that holds them. They are replaced and deleted, never hashed into
// anything and never signed, so that a name can be taken back.
import pMap from 'p-map'
import { z } from 'zod'
import { instant, uuid } from '../../schemas/values.ts'
import { PEOPLE_PREFIX, peoplePath, peopleShardOf } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const AT_ONCE = 16

const erasure = z.strictObject({ erased_at: instant, reason: z.string() })
/** The time and the reason of an erasure. It stays, so that no import brings the name again. */
export type Erasure = z.infer<typeof erasure>

/** The names of the people of a shard, by id; null if an import has taken the name away. */
const people = z.strictObject({
  names: z.record(uuid, z.string().nullable()),
  erased: z.record(uuid, erasure),
})
type People = z.infer<typeof people>

/** The new state of a person's name. */
export type NameChange = { name: string | null } | { erased: Erasure }

/** The last two digits are evenly spread in UUIDs of every version. */
const shardOf = (userId: string) => userId.slice(-2)

/** Returns the number of changes of each shard, and the paths of all objects. */
async function listShards(store: Store): Promise<{ last: Map<string, number>; paths: string[] }> {
  const last = new Map<string, number>()
  const paths: string[] = []
  for await (const { path } of store.list(PEOPLE_PREFIX)) {
    const parts = peopleShardOf(path)
    if (!parts) continue
    paths.push(path)
    last.set(parts.shard, Math.max(parts.number, last.get(parts.shard) ?? 0))
  }
  return { last, paths }
}

/** The names as a reader knows them. */
export class PeopleNames {
  readonly #store: Store
  readonly #shards = new Map<string, { number: number; people: People }>()
  #version = 0

  constructor(store: Store) {
    this.#store = store
  }

  /** A number that changes with every change of the names. */
  get version(): number {
    return this.#version
  }

  /**
   * Reads what has changed since the last look. A look that finds nothing new is one listing of at most 256
   * objects.
   *
   * @throws ServiceError `corrupt` for a damaged object; the other shards are up to date then.
   */
  async refresh(): Promise<void> {
    const { last } = await listShards(this.#store)
    const changed = [...last].filter(([shard, number]) => this.#shards.get(shard)?.number !== number)
    const errors: unknown[] = []
    await pMap(
      changed,
      ([shard, number]) => this.#read(shard, number).catch((error: unknown) => errors.push(error)),
      { concurrency: AT_ONCE },
    )
    if (errors.length > 0) throw errors[0]
  }

  async #read(shard: string, number: number): Promise<void> {
    const found = await recordAt(this.#store, peoplePath(shard, number), people).get()
    // A later change may have replaced the object since the listing. The next look finds it.
    if (!found || (this.#shards.get(shard)?.number ?? 0) >= number) return
    this.#shards.set(shard, { number, people: found })
    this.#version += 1
  }

  /** Returns null for a person without a name. */
  nameOf(userId: string): string | null {
    return this.#shards.get(shardOf(userId))?.people.names[userId] ?? null
  }

  erasureOf(userId: string): Erasure | undefined {
    return this.#shards.get(shardOf(userId))?.people.erased[userId]
  }
}

/**
 * Changes names. An erased person gets no name. Rivals that change the same shard each make their change on
 * top of the other's. Repeating a change is harmless, and completes one that was cut off.
 *
 * @param mayReplace whether to replace names that are known or were taken away.
 * @throws ServiceError `corrupt` if the names of a shard are damaged: delete its object, and import the names
 *   again.
 */
export async function changeNames(
  store: Store,
  changes: ReadonlyMap<string, NameChange>,
  { mayReplace = true } = {},
): Promise<void> {
  let rest = Map.groupBy(changes, ([userId]) => shardOf(userId))
  while (rest.size > 0) {
    const { last } = await listShards(store)
    const written = new Map<string, number>()
    await pMap(
      rest,
      async ([shard, own]) => {
        written.set(shard, await changeShard(store, shard, last.get(shard) ?? 0, new Map(own), mayReplace))
      },
      { concurrency: AT_ONCE },
    )
    // Only the greatest number counts: a rival that read the shard long ago may have created a deleted number
    // again.
    const now = await listShards(store)
    const isCurrent = (shard: string) => written.get(shard) === (now.last.get(shard) ?? 0)
    const replaced = now.paths.filter((path) => {
      const { shard, number } = peopleShardOf(path)!
      return rest.has(shard) && number < now.last.get(shard)!
    })
    await pMap(replaced, (path) => store.delete(path), { concurrency: AT_ONCE })
    rest = new Map([...rest].filter(([shard]) => !isCurrent(shard)))
  }
}

/** Returns the new number of changes of the shard; −1 if a rival came first. */
async function changeShard(
  store: Store,
  shard: string,
  last: number,
  changes: ReadonlyMap<string, NameChange>,
  mayReplace: boolean,
): Promise<number> {
  const before =
    last === 0 ? { names: {}, erased: {} } : await recordAt(store, peoplePath(shard, last), people).get()
  if (!before) return -1
  const names = new Map(Object.entries(before.names))
  const erased = new Map(Object.entries(before.erased))
  let isChanged = false
  for (const [userId, change] of changes) {
    if (erased.has(userId)) continue
    if ('erased' in change) {
      erased.set(userId, change.erased)
      names.delete(userId)
    } else if (names.has(userId) && (!mayReplace || names.get(userId) === change.name)) continue
    else names.set(userId, change.name)
    isChanged = true
  }
  if (!isChanged) return last
  const after: People = { names: Object.fromEntries(names), erased: Object.fromEntries(erased) }
  return (await recordAt(store, peoplePath(shard, last + 1), people).create(after)) ? last + 1 : -1
}
