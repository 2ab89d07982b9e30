// The bytes of a shard of a release, and the place of each payload in them. A payload is sent exactly as the
// file has it, so the service neither parses it, nor writes it out again, nor keeps objects.
import { eachMember, endOfValue, memberAt } from '../../pipeline/proof/json-members.ts'

/** From the first byte of a JSON value to the byte after its last. */
type TextRange = [from: number, to: number]

export class ShardText {
  readonly #bytes: Buffer
  readonly #places = new Map<string, TextRange>()
  /** In the order of the file. */
  readonly entityIds: string[] = []

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
    await shard.#findPlaces(besideAnswers)
    return shard
  }

  async #findPlaces(besideAnswers: () => Promise<void>): Promise<void> {
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
        this.entityIds.push(entity.name)
        at = this.#findIn(entity.name, entity.value)
      }
      at += 1
    }
  }

  /** Notes the places of an entity's payloads, and returns the end of the entity. */
  #findIn(entityId: string, entity: number): number {
    return eachMember(this.#bytes, entity, (kind, publication) =>
      eachMember(this.#bytes, publication, (part, at) => {
        const end = endOfValue(this.#bytes, at)
        if (part === 'payload') this.#places.set(`${entityId} ${kind}`, [at, end])
        return end
      }),
    )
  }

  /**
   * Returns the bytes of a payload by its name, `<entity> <kind>`; undefined if the shard does not have it.
   */
  payload(name: string): Uint8Array | undefined {
    const place = this.#places.get(name)
    return place && this.#bytes.subarray(...place)
  }
}
