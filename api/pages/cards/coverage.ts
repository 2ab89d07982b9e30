// Finds how much of each pixel outlines cover. Each edge adds the area to its right, so that the sums along a
// row are the coverage (https://github.com/raphlinus/font-rs).

/** Pieces of a curve: more are not seen at these sizes. */
const PIECES = 6

/** The font has some thousand outlines. Parsing them anew took more than a half of the time of a card. */
const known = new Map<string, Float64Array>()

/** Returns the edges of a path, each as the two coordinates of its beginning and those of its end. */
function edgesOf(outline: string): Float64Array {
  const edges = known.get(outline) ?? Float64Array.from(parsed(outline))
  known.set(outline, edges)
  return edges
}

function parsed(outline: string): number[] {
  const edges: number[] = []
  let [startX, startY, fromX, fromY] = [0, 0, 0, 0]
  const lineTo = (toX: number, toY: number) => {
    edges.push(fromX, fromY, toX, toY)
    ;[fromX, fromY] = [toX, toY]
  }
  for (const [, letter, numbers] of outline.matchAll(/([MLQZ])([^MLQZ]*)/g)) {
    const at = numbers!.split(' ').map(Number)
    if (letter === 'M') [startX, startY, fromX, fromY] = [at[0]!, at[1]!, at[0]!, at[1]!]
    else if (letter === 'L') lineTo(at[0]!, at[1]!)
    else if (letter === 'Z') lineTo(startX, startY)
    else {
      const [beginX, beginY] = [fromX, fromY]
      for (let piece = 1; piece <= PIECES; piece++) {
        const t = piece / PIECES
        const [a, b, c] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t]
        lineTo(a * beginX + b * at[0]! + c * at[2]!, a * beginY + b * at[1]! + c * at[3]!)
      }
    }
  }
  return edges
}

export class Coverage {
  readonly #width: number
  readonly #height: number
  readonly #sums: Float64Array

  constructor(width: number, height: number) {
    this.#width = width
    this.#height = height
    this.#sums = new Float64Array(width * height + 2)
  }

  /** Adds a path with lines and quadratic curves whose y axis points upwards; `x`, `y` is its origin. */
  add(outline: string, scale: number, x: number, y: number): void {
    const ends = edgesOf(outline)
    for (let at = 0; at < ends.length; at += 4) {
      this.#edge(
        x + ends[at]! * scale,
        y - ends[at + 1]! * scale,
        x + ends[at + 2]! * scale,
        y - ends[at + 3]! * scale,
      )
    }
  }

  /** Calls with each pixel that is covered, and with the share of it, above 0 and up to 1. */
  each(call: (x: number, y: number, share: number) => void): void {
    for (let y = 0; y < this.#height; y++) {
      let sum = 0
      for (let x = 0; x < this.#width; x++) {
        sum += this.#sums[y * this.#width + x]!
        const share = Math.min(1, Math.abs(sum))
        if (share > 1 / 512) call(x, y, share)
      }
    }
  }

  #edge(fromX: number, fromY: number, toX: number, toY: number): void {
    if (fromY === toY) return
    const sign = fromY < toY ? 1 : -1
    const topX = sign === 1 ? fromX : toX
    const topY = Math.min(fromY, toY)
    const lowY = Math.max(fromY, toY)
    const slope = (toX - fromX) / (toY - fromY)
    const last = Math.min(this.#height, Math.ceil(lowY))
    for (let row = Math.max(0, Math.floor(topY)); row < last; row++) {
      const y0 = Math.max(row, topY)
      const y1 = Math.min(row + 1, lowY)
      this.#slice(row, topX + (y0 - topY) * slope, topX + (y1 - topY) * slope, (y1 - y0) * sign)
    }
  }

  /** Adds an edge inside one row, from `a` to `b` along it, over a signed part of its height. */
  #slice(row: number, a: number, b: number, height: number): void {
    const left = Math.min(a, b)
    const right = Math.max(a, b)
    const first = Math.floor(left)
    const end = Math.max(first + 1, Math.ceil(right))
    let covered = 0
    // The share of the edge's height that lies left of a place.
    const heightBefore = (x: number) =>
      right === left ? (x > left ? 1 : 0) : Math.min(1, Math.max(0, (x - left) / (right - left)))
    for (let x = first; x < end; x++) {
      // Inside a pixel the covered area grows with the height on the left, and with half of what is inside.
      const before = heightBefore(x)
      const inside = heightBefore(x + 1) - before
      const middle = (Math.max(x, left) + Math.min(x + 1, right)) / 2
      const area = before + inside * (x + 1 - middle)
      this.#put(row, x, (area - covered) * height)
      covered = area
    }
    this.#put(row, end, (1 - covered) * height)
  }

  #put(row: number, x: number, value: number): void {
    const inside = Math.min(Math.max(x, 0), this.#width)
    // A cell behind the row would begin the next one.
    if (inside < this.#width) this.#sums[row * this.#width + inside]! += value
  }
}
