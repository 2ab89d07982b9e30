// The service's own small JSON objects. Each holds a checksum of its path and of everything else in it, so
// that the service never acts on a record that is damaged or lies at another path.
import pMap from 'p-map'
import type { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { READS_AT_ONCE, type Store, readChecked } from './store.ts'

/** The schema of a record. */
type Schema = z.ZodType<object, object>

/** Works with the record at one path. Its promises are those of the store. */
export function recordAt<S extends Schema>(store: Store, path: string, schema: S) {
  return {
    /**
     * Returns undefined if there is none.
     *
     * @throws ServiceError `corrupt` if its checksum does not hold or it does not match the schema.
     */
    get: () => readChecked(store, path, (bytes) => parsed(path, bytes, schema)),
    /** Returns false, and writes nothing, if one is there. */
    create: (record: z.input<S>) => store.putIfAbsent(path, recordBytes(path, record)),
    /** Creates or replaces it. */
    replace: (record: z.input<S>) => store.put(path, recordBytes(path, record)),
    delete: () => store.delete(path),
  }
}

/** Works with the records of one kind, each at the path of its id, as `recordAt` does with one. */
export function records<Id, S extends Schema>(store: Store, pathOf: (id: Id) => string, schema: S) {
  const at = (id: Id) => recordAt(store, pathOf(id), schema)
  return {
    get: (id: Id) => at(id).get(),
    create: (id: Id, record: z.input<S>) => at(id).create(record),
    replace: (id: Id, record: z.input<S>) => at(id).replace(record),
    delete: (id: Id) => at(id).delete(),
    /** Returns all records under a prefix in the order of their paths. Leaves out those deleted meanwhile. */
    list: async (prefix: string): Promise<z.output<S>[]> => {
      const objects = await Array.fromAsync(store.list(prefix))
      const read = ({ path }: { path: string }) => recordAt(store, path, schema).get()
      const found = await pMap(objects, read, { concurrency: READS_AT_ONCE })
      return found.filter((record) => record !== undefined)
    },
  }
}

/** The bytes of a record at a path: canonical JSON with its checksum. */
export function recordBytes(path: string, record: object): Uint8Array {
  return canonical({ ...record, checksum: checksumOf(path, record) })
}

/** The SHA-256 of the path, a line feed, and the record without its checksum. */
export function checksumOf(path: string, record: object): string {
  return sha256Hex(Buffer.concat([Buffer.from(`${path}\n`), canonical(record)]))
}

function parsed<S extends Schema>(path: string, bytes: Uint8Array, schema: S): z.output<S> {
  try {
    const { checksum, ...record } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>
    const expected = checksumOf(path, record)
    if (checksum !== expected) throw new Error(`its checksum is ${String(checksum)}, expected ${expected}`)
    return schema.parse(record)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.slice(0, 200) : String(cause)
    throw new ServiceError('corrupt', `${path} is not a whole record of this service: ${reason}`, { cause })
  }
}
