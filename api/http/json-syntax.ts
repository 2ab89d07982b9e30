// Finds where a text stops being JSON (RFC 8259), because JSON.parse says so only for some faults.

export interface SyntaxFault {
  /** Where the text stops being JSON, in UTF-16 units. */
  index: number
  /** A description of the expected text. */
  expected: string
}

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
/** A string without its closing quotation mark, or the valid beginning of one. */
// oxlint-disable-next-line no-control-regex -- JSON has none in a string
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y

/** The tokens that may come next. */
type Next = 'value' | 'item or end' | 'name' | 'name or end' | 'colon' | 'comma or end'

const EXPECTED: Record<Exclude<Next, 'comma or end'>, string> = {
  value: 'a value',
  'item or end': 'a value or ]',
  name: 'a field name in double quotes',
  'name or end': 'a field name in double quotes or }',
  colon: 'a colon',
}

/** No body has as many levels. Looking further would take a node longer than any other wrong body. */
const MOST_LEVELS = 100

/** Returns the first fault of a text; undefined if it is JSON, and beyond a level that no body has. */
export function syntaxFaultOf(text: string): SyntaxFault | undefined {
  const open: ('{' | '[')[] = []
  let next = 'value' as Next
  let index = 0
  const skip = (token: RegExp): boolean => {
    token.lastIndex = index
    const matches = token.test(text)
    if (matches) index = token.lastIndex
    return matches
  }
  for (;;) {
    while (isSpace(text.charCodeAt(index))) index += 1
    const character = text[index]
    if (next === 'comma or end') {
      const within = open.at(-1)
      if (within === undefined) return character === undefined ? undefined : { index, expected: 'the end' }
      const close = within === '{' ? '}' : ']'
      if (character === close) open.pop()
      else if (character === ',') next = within === '{' ? 'name' : 'value'
      else return { index, expected: `a comma or ${close}` }
      index += 1
    } else if (next === 'colon') {
      if (character !== ':') return { index, expected: EXPECTED.colon }
      index += 1
      next = 'value'
    } else if (
      (character === '}' && next === 'name or end') ||
      (character === ']' && next === 'item or end')
    ) {
      open.pop()
      index += 1
      next = 'comma or end'
    } else if (character === '"') {
      skip(STRING)
      if (text[index] !== '"') {
        return { index, expected: 'the closing quotation mark, or a character that a string may have' }
      }
      index += 1
      next = next === 'name' || next === 'name or end' ? 'colon' : 'comma or end'
    } else if (next === 'name' || next === 'name or end') {
      return { index, expected: EXPECTED[next] }
    } else if (character === '{' || character === '[') {
      if (open.length === MOST_LEVELS) return undefined
      open.push(character)
      index += 1
      next = character === '{' ? 'name or end' : 'item or end'
    } else if (skip(SCALAR)) {
      next = 'comma or end'
    } else {
      return { index, expected: EXPECTED[next] }
    }
  }
}

/** Whether JSON takes a character between tokens. A regular expression takes ten times as long for one. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}

/** Returns a place such as `line 2, column 7`. Lines and columns count from 1, columns in characters. */
export function placeOf(text: string, index: number): string {
  let [line, column] = [1, 1]
  for (let at = 0; at < index; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a) [line, column] = [line + 1, 1]
    // The second half of a surrogate pair begins no character.
    else if (!(isSecondHalf(code) && at > 0 && isFirstHalf(text.charCodeAt(at - 1)))) column += 1
  }
  return `line ${line}, column ${column}`
}

const isFirstHalf = (code: number): boolean => code >= 0xd800 && code < 0xdc00
const isSecondHalf = (code: number): boolean => code >= 0xdc00 && code < 0xe000
