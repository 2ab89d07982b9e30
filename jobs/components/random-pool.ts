// Draws many random bytes from the system at a time, because a request costs far more than its bytes.
import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 4096

export class RandomPool {
  readonly #pool = new Uint8Array(POOL_BYTES)
  #taken = POOL_BYTES

  /** Returns bytes that no other call returns; at most 4,096. */
  take(size: number): Uint8Array {
    if (this.#taken + size > POOL_BYTES) {
      randomFillSync(this.#pool)
      this.#taken = 0
    }
    this.#taken += size
    return this.#pool.slice(this.#taken - size, this.#taken)
  }
}
