// Parses JSON and refuses duplicate fields, of which `JSON.parse` silently keeps the last.
import { placeOf, syntaxFaultOf } from './json-syntax.ts'
import { HttpError } from './problems.ts'
import { SHOWN_LENGTH } from '../../schemas/wording.ts'

/**
 * Matches in valid JSON a string, with the colon that makes it a field's name, or the start or end of an
 * object.
 */
const TOKEN = /"([^"\\]*(?:\\[^][^"\\]*)*)"(\s*:)?|[{}]/g
/** Matches the end of every field's name. A string may contain a match too. */
const END_OF_NAME = /"\s*:/g
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * @throws HttpError `unreadable-body` for a text that is not JSON in UTF-8, or that has a field twice in one
 *   object.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = textOf(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new HttpError('unreadable-body', notJson(text))
  }
  // Parsing keeps one of two fields with the same name, so the counts differ. Searching for the name makes a
  // hundred times the garbage that counting makes.
  const written = text.match(END_OF_NAME)?.length ?? 0
  const repeated = written === fieldsIn(value) ? undefined : repeatedField(text)
  if (repeated !== undefined) {
    const shown = JSON.stringify(repeated.slice(0, SHOWN_LENGTH))
    throw new HttpError(
      'unreadable-body',
      `the body has the field ${shown} twice in one object: send it once`,
    )
  }
  return value
}

function textOf(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw new HttpError('unreadable-body', 'the body is not text in UTF-8')
  }
}

/** Says where a text stops being JSON, and shows no more of it than one character. */
function notJson(text: string): string {
  if (text.trim() === '') return 'the body is empty: send JSON'
  const fault = syntaxFaultOf(text)
  if (!fault) return 'the body is not JSON'
  const { index, expected } = fault
  const code = text.codePointAt(index)
  const found =
    code === undefined ? 'the body ends' : `there is ${JSON.stringify(String.fromCodePoint(code))}`
  return `the body is not JSON: at ${placeOf(text, index)}, ${found} where ${expected} should be`
}

/**
 * Returns how many fields all objects of a value have together. It does not recurse, because the value may be
 * nested deeper than calls can be.
 */
function fieldsIn(value: unknown): number {
  let fields = 0
  const left = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next !== 'object' || next === null) continue
    const inside = Object.values(next)
    if (!Array.isArray(next)) fields += inside.length
    for (const item of inside) if (typeof item === 'object') left.push(item)
  }
  return fields
}

function repeatedField(text: string): string | undefined {
  const open: Set<string>[] = []
  for (const [token, name, colon] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (name !== undefined && colon !== undefined) {
      const fields = open.at(-1)
      // With escapes, the same name can be written in several ways.
      const field = name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name
      if (fields?.has(field)) return field
      fields?.add(field)
    }
  }
  return undefined
}
