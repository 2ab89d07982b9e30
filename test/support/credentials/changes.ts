// Ways to change one character of one value anywhere in a document.
import fc from 'fast-check'

type Path = readonly string[]

export interface Value {
  path: Path
  value: unknown
}

/** Every value in a document that is no object and no list. */
export function valuesIn(value: unknown, path: Path = []): Value[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }]
  return Object.entries(value).flatMap(([name, inner]) => valuesIn(inner, [...path, name]))
}

/** One value of each kind: the first of those that differ only by their places in lists. */
export function kindsIn(document: object): Value[] {
  const kind = ({ path }: Value) => path.map((name) => (/^[0-9]+$/.test(name) ? '*' : name)).join('.')
  return [
    ...new Map(
      valuesIn(document)
        .toReversed()
        .map((value) => [kind(value), value]),
    ).values(),
  ]
}

/** Where a text is changed, and by how much its character. */
export interface Change {
  at: number
  by: number
}
export const anyChange: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  by: fc.integer({ min: 1, max: 94 }),
})

/** A copy of the document with one character of this value changed to another visible one; true to false. */
export function changed<T extends object>(document: T, { path, value }: Value, { at, by }: Change): T {
  const copy = structuredClone(document)
  let parent = copy as Record<string, unknown>
  for (const name of path.slice(0, -1)) parent = parent[name] as Record<string, unknown>
  parent[path.at(-1)!] = typeof value === 'string' ? changedText(value, at, by) : !(value as boolean)
  return copy
}

function changedText(text: string, at: number, by: number): string {
  const position = at % text.length
  const code = 33 + ((text.charCodeAt(position) - 33 + by) % 94)
  // Characters that are not visible ASCII may come out as they were.
  const character = String.fromCharCode(code === text.charCodeAt(position) ? code + 1 : code)
  return text.slice(0, position) + character + text.slice(position + 1)
}
