// Where a text stops being JSON: the same texts are faulty as for JSON.parse, and the place is that of the
// fault.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { placeOf, syntaxFaultOf } from '../../../api/http/json-syntax.ts'

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a text is faulty where JSON.parse refuses it, and there alone', () => {
  const good = fc
    .jsonValue({ maxDepth: 4 })
    .chain((value) => fc.constantFrom(JSON.stringify(value), JSON.stringify(value, null, 1)))
  const piece = fc.constantFrom(
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '0',
    '-',
    '.',
    'e',
    'n',
    'true',
    'null',
    ' ',
    '\n',
    '\u0000',
    '\u2028',
    '🦉',
    '\\u12',
    '\\"',
    'NaN',
  )

  test('if a piece is put in, taken out or cut off', () => {
    const changed = fc.tuple(good, fc.nat(), fc.nat({ max: 3 }), piece).map(([text, at, out, put]) => {
      const index = at % (text.length + 1)
      return text.slice(0, index) + put + text.slice(index + out)
    })
    const property = fc.property(changed, (text) => {
      expect(syntaxFaultOf(text) === undefined).toBe(isJson(text))
    })
    fc.assert(property, { seed: 1, numRuns: 5000 })
  })

  test('if it is made of such pieces alone', () => {
    const property = fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      expect(syntaxFaultOf(text) === undefined).toBe(isJson(text))
    })
    fc.assert(property, { seed: 2, numRuns: 5000 })
  })

  test('if it is all that a body may hold', () => {
    for (const text of [
      `${'['.repeat(100)}${'1,'.repeat(32_000)}`,
      '{"a":'.repeat(100),
      `"${'x'.repeat(65_534)}`,
      '1'.repeat(65_536),
    ]) {
      expect(syntaxFaultOf(text) === undefined).toBe(isJson(text))
    }
  })
})

test('is not looked for beyond a hundred levels, which no body has', () => {
  for (const level of ['[', '{"a":']) {
    expect(syntaxFaultOf(level.repeat(100))).toBeDefined()
    expect(syntaxFaultOf(level.repeat(101))).toBeUndefined()
  }
})

test.for([
  ['', 0, 'a value'],
  ['{', 1, 'a field name in double quotes or }'],
  ['[', 1, 'a value or ]'],
  ['[1,]', 3, 'a value'],
  ['{"a":1,}', 7, 'a field name in double quotes'],
  ["{'a':1}", 1, 'a field name in double quotes or }'],
  ['{"a" 1}', 5, 'a colon'],
  ['{"a":1 "b":2}', 7, 'a comma or }'],
  ['[1 2]', 3, 'a comma or ]'],
  ['[1}', 2, 'a comma or ]'],
  ['{} x', 3, 'the end'],
  ['01', 1, 'the end'],
  ['[tru]', 1, 'a value or ]'],
  ['{"a":NaN}', 5, 'a value'],
  ['"a\nb"', 2, 'the closing quotation mark, or a character that a string may have'],
  ['"a\\x"', 2, 'the closing quotation mark, or a character that a string may have'],
] as const)('%j has its fault at %i, where %s should be', ([text, index, expected]) => {
  expect(syntaxFaultOf(text)).toEqual({ index, expected })
})

test('a place is counted in lines and characters', () => {
  expect(placeOf('abc', 0)).toBe('line 1, column 1')
  expect(placeOf('a\nbc\n\nd', 6)).toBe('line 4, column 1')
  expect(placeOf('a\r\n🦉🦉x', 7)).toBe('line 2, column 3')
})
