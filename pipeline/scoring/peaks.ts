// The greatest number of voices since an instant.

/**
 * Keeps those numbers of a series that no later number reaches. The greatest since any place is the first
 * kept number from there on.
 */
export class Peaks {
  readonly #places: number[] = []
  readonly #numbers: number[] = []
  #length = 0

  begin(): void {
    this.#places.length = this.#numbers.length = this.#length = 0
  }

  /** How many numbers the series has. */
  get length(): number {
    return this.#length
  }

  push(number: number): void {
    while (this.#numbers.length > 0 && this.#numbers.at(-1)! <= number) {
      this.#numbers.pop()
      this.#places.pop()
    }
    this.#numbers.push(number)
    this.#places.push(this.#length)
    this.#length += 1
  }

  /** Returns the greatest number from a place on; 0 if there is none. */
  since(place: number): number {
    let [low, high] = [0, this.#places.length]
    while (low < high) {
      const between = (low + high) >> 1
      if (this.#places[between]! < place) low = between + 1
      else high = between
    }
    return this.#numbers[low] ?? 0
  }
}
