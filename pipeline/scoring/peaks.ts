// The greatest number of voices since an instant.

/**
 * Keeps, of the numbers of a series, those that no later one reaches: the greatest since any place is the
 * first kept from there on.
 */
export class Peaks {
  readonly #places: number[] = []
  readonly #numbers: number[] = []
  #length = 0

  begin(): void {
    this.#places.length = this.#numbers.length = this.#length = 0
  }

  /** How many numbers there have been. */
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

  /** The greatest of the numbers from a place on; 0 without one. */
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
