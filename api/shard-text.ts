// A shard of a release as its bytes, and where in them each payload lies. A payload is sent just as the file has it, so that nothing has
// to be parsed and written out again, and no objects are kept.
import { ServiceError } from '../schemas/errors.ts'

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

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Tells of each member of an object, whose names have no escapes, where its value begins, and learns where that ends. Returns the end of the object. */
function eachMember(bytes: Buffer, from: number, visit: (name: string, value: number) => number): number {
  let at = from + 1
  while (bytes[at] !== CLOSE_OBJECT) {
    if (bytes[at] === COMMA) at += 1
    const nameEnd = endOfString(bytes, at)
    const name = bytes.toString('latin1', at + 1, nameEnd - 1)
    at = visit(name, nameEnd + 1)
  }
  return at + 1
}

function endOfString(bytes: Uint8Array, from: number): number {
  let at = from + 1
  while (bytes[at] !== QUOTE) {
    if (at >= bytes.length) throw cutOff(bytes)
    at += bytes[at] === BACKSLASH ? 2 : 1
  }
  return at + 1
}

function endOfValue(bytes: Uint8Array, from: number): number {
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at) - 1
        if (depth === 0) return at + 1
        break
      case OPEN_OBJECT:
      case OPEN_LIST:
        depth += 1
        break
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        // A number or a word ends where what it is in does.
        if (depth === 0) return at
        depth -= 1
        if (depth === 0) return at + 1
        break
      case COMMA:
        if (depth === 0) return at
        break
      default:
    }
  }
  throw cutOff(bytes)
}

function cutOff({ length }: Uint8Array): ServiceError {
  return new ServiceError('corrupt', `a shard of ${length} bytes is not canonical JSON`)
}
