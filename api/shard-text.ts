// A shard of a release as its bytes, and where in them each payload lies. A payload is sent just as the file has it, so that nothing has
// to be parsed and written out again, and no objects are kept.
import { eachMember, endOfValue } from '../pipeline/proof/json-members.ts'

/** From the first byte of a JSON value to the one after its last. */
type Place = [from: number, to: number]

export class ShardText {
  readonly #bytes: Buffer
  readonly #places = new Map<string, Place>()

  /** @param bytes a `ReleaseShard` in canonical JSON. */
  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const skipped = (_name: string, at: number) => endOfValue(this.#bytes, at)
    eachMember(this.#bytes, 0, (name, shard) => {
      if (name !== 'entities') return skipped(name, shard)
      return eachMember(this.#bytes, shard, (entityId, entity) =>
        eachMember(this.#bytes, entity, (kind, publication) =>
          eachMember(this.#bytes, publication, (part, at) => {
            const end = endOfValue(this.#bytes, at)
            if (part === 'payload') this.#places.set(`${entityId} ${kind}`, [at, end])
            return end
          }),
        ),
      )
    })
  }

  /** The bytes of a payload by its name, `<entity> <kind>`; undefined if the shard does not have it. */
  payload(name: string): Uint8Array | undefined {
    const place = this.#places.get(name)
    return place && this.#bytes.subarray(...place)
  }
}
