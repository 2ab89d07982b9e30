// The bytes of a shard of a release, and the place of each entity in them. A payload is sent exactly as the
// file has it, so the service neither parses it, nor writes it out again, nor keeps objects.
import { endOfValue, memberAt } from '../../pipeline/proof/json-members.ts'

export class ShardText {
  readonly #bytes: Buffer
  /**
   * Where each entity begins. The places of payloads would be five times as many objects, which the garbage
   * collector goes through while the node answers.
   */
  readonly #entities = new Map<string, number>()

  private constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /**
   * @param bytes a `ReleaseShard` in canonical JSON.
   * @param besideAnswers is awaited before each entity, because all of them take milliseconds.
   * @throws ServiceError `corrupt` for a shard that is cut off.
   */
  static async open(bytes: Uint8Array, besideAnswers: () => Promise<void>): Promise<ShardText> {
    const shard = new ShardText(bytes)
    await shard.#findEntities(besideAnswers)
    return shard
  }

  async #findEntities(besideAnswers: () => Promise<void>): Promise<void> {
    const bytes = this.#bytes
    let at = 1
    for (let member = memberAt(bytes, at); member; member = memberAt(bytes, at)) {
      if (member.name !== 'entities') {
        at = endOfValue(bytes, member.value)
        continue
      }
      at = member.value + 1
      for (let entity = memberAt(bytes, at); entity; entity = memberAt(bytes, at)) {
        await besideAnswers()
        this.#entities.set(entity.name, entity.value)
        at = endOfValue(bytes, entity.value)
      }
      at += 1
    }
  }

  /** Returns the bytes of a payload of an entity; undefined if the shard does not have it. */
  payload(entityId: string, kind: string): Uint8Array | undefined {
    const entity = this.#entities.get(entityId)
    const publication = entity === undefined ? undefined : this.#valueIn(entity, kind)
    const payload = publication === undefined ? undefined : this.#valueIn(publication, 'payload')
    return payload === undefined ? undefined : this.#bytes.subarray(payload, endOfValue(this.#bytes, payload))
  }

  /** Returns where the value of a member begins, in the object at a place. */
  #valueIn(object: number, name: string): number | undefined {
    let at = object + 1
    for (let member = memberAt(this.#bytes, at); member; member = memberAt(this.#bytes, at)) {
      if (member.name === name) return member.value
      at = endOfValue(this.#bytes, member.value)
    }
    return undefined
  }
}
