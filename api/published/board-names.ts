// The names on a leaderboard as one text, in the order of the board, to search.

/** A search of names, in any letter case. */
export interface NameSearch {
  /** A text that is anywhere in the name. */
  q?: string | undefined
  /** The whole name. */
  name?: string | undefined
}

/** Whether anything is asked of the names. */
export function isSearch({ q, name }: NameSearch): boolean {
  return q !== undefined || name !== undefined
}

export class BoardNames {
  /** A name on each line, between line feeds, which no name has. */
  readonly #text: string
  /** Where the line of each place begins: at its line feed. */
  readonly #starts: Uint32Array

  /** @param names the name at each place, null for an entity without one. */
  constructor(names: readonly (string | null)[]) {
    const lines = names.map((name) => `\n${folded(name ?? '')}`)
    this.#text = `${lines.join('')}\n`
    this.#starts = new Uint32Array(names.length)
    let start = 0
    for (const [place, line] of lines.entries()) {
      this.#starts[place] = start
      start += line.length
    }
  }

  /** The memory that the names take. */
  get sizeBytes(): number {
    return 2 * this.#text.length + this.#starts.byteLength
  }

  /** Returns the first `most` places from `from` on whose names are like this. */
  places({ q, name }: NameSearch, from: number, most: number): number[] {
    const within = folded(q ?? '')
    const sought = name === undefined ? within : `\n${folded(name)}\n`
    const places: number[] = []
    for (let place = from; places.length < most && place < this.#starts.length; place++) {
      const at = this.#text.indexOf(sought, this.#starts[place])
      if (at < 0) break
      place = this.#placeAt(at)
      if (this.#line(place).includes(within)) places.push(place)
    }
    return places
  }

  #line(place: number): string {
    return this.#text.slice(this.#starts[place], this.#starts[place + 1])
  }

  /** Returns the place whose line has this position of the text. */
  #placeAt(position: number): number {
    let [low, high] = [0, this.#starts.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#starts[middle]! <= position) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

function folded(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
