// Reads JSON as a caller meant it, which is not told where a field stands twice: a parser takes the last in silence.
import { HttpError } from './problems.ts'

/** A string with what makes it a field's name, or where an object begins or ends. In JSON that has been parsed. */
const TOKEN = /"([^"\\]*(?:\\[^][^"\\]*)*)"(\s*:)?|[{}]/g
const SHOWN_LENGTH = 100

/** @throws HttpError 400 for what is not JSON in UTF-8, or names a field of one object twice. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string
  let value: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    value = JSON.parse(text)
  } catch {
    throw new HttpError(400, 'the body is not JSON in UTF-8')
  }
  const repeated = repeatedField(text)
  if (repeated !== undefined) {
    const shown = JSON.stringify(repeated.slice(0, SHOWN_LENGTH))
    throw new HttpError(400, `the body names the field ${shown} twice in one object: which one is meant?`)
  }
  return value
}

function repeatedField(text: string): string | undefined {
  const open: Set<string>[] = []
  for (const [token, name, colon] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (name !== undefined && colon !== undefined) {
      const fields = open.at(-1)
      // The same name may be written in several ways.
      const field = name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name
      if (fields?.has(field)) return field
      fields?.add(field)
    }
  }
  return undefined
}
