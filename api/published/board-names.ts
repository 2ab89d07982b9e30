// The names on a leaderboard as one text, in the order of the board, to search.

/** A search of names, in any letter case, with or without accents. */
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

/**
 * Returns the line of a name, null for an entity without one. Make lines file by file: those of 50,000 names
 * take 100 ms.
 */
export function nameLine(name: string | null): string {
  return `\n${folded(name ?? '')}`
}

export class BoardNames {
  /** A name on each line, between line feeds, which no name has. */
  readonly #text: string
  /** Where the line of each place begins: at its line feed. */
  readonly #starts: Uint32Array

  /** @param lines the `nameLine` at each place. */
  constructor(lines: readonly string[]) {
    this.#text = `${lines.join('')}\n`
    this.#starts = new Uint32Array(lines.length)
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

  /**
   * Returns the places of all names with a text in them: first those that are the text, then those that begin
   * with it, and then the others, each in the order of the board.
   */
  found(text: string): number[] {
    const sought = folded(text)
    if (sought === '') return []
    const [whole, begun, others]: [number[], number[], number[]] = [[], [], []]
    let place = 0
    for (let at = this.#text.indexOf(sought); at >= 0; at = this.#text.indexOf(sought, this.#endOf(place))) {
      // Hits come in order, so that a step from place to place is all that it takes.
      while (at >= this.#endOf(place)) place += 1
      const start = this.#starts[place]! + 1
      if (at > start) others.push(place)
      else if (at + sought.length === this.#endOf(place)) whole.push(place)
      else begun.push(place)
    }
    return [...whole, ...begun, ...others]
  }

  /** Whether a whole name is this text. */
  isWhole(place: number, text: string): boolean {
    return this.#line(place) === `\n${folded(text)}`
  }

  /** The position of the line feed after a line. */
  #endOf(place: number): number {
    return this.#starts[place + 1] ?? this.#text.length - 1
  }

  #line(place: number): string {
    return this.#text.slice(this.#starts[place], this.#endOf(place))
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

/** Accents of Latin, Greek and Cyrillic letters; the marks of other scripts tell words apart. */
const ACCENTS = /[\u0300-\u036f]/g

function folded(text: string): string {
  return text.toLowerCase().normalize('NFD').replace(ACCENTS, '').normalize('NFC')
}
