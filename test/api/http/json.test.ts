// JSON as the parser reads it, but for fields that stand twice, and the place of a fault.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../api/http/json.ts'
import { placeOf, syntaxFaultOf } from '../../../api/http/json-syntax.ts'
import { HttpError } from '../../../api/http/problems.ts'

const parsed = (text: string): unknown => parseJson(new TextEncoder().encode(text))

function refusal(text: string): HttpError {
  try {
    parsed(text)
  } catch (error) {
    if (error instanceof HttpError) return error
    throw error
  }
  throw new Error(`not refused: ${text}`)
}

describe('parseJson', () => {
  test('reads what JSON.parse reads to the same value', () => {
    const indent = fc.constantFrom(undefined, 1, '\t', '\n \r')
    const property = fc.property(fc.jsonValue({ maxDepth: 5 }), indent, (value, space) => {
      const text = JSON.stringify(value, null, space)
      expect(parsed(text)).toEqual(JSON.parse(text))
    })
    fc.assert(property, { seed: 1, numRuns: 2000 })
  })

  test.for([
    ['at the top', '{"probability":0.1,"probability":0.9}', 'probability'],
    ['with the same value', '{"a":1,"a":1}', 'a'],
    ['in white space', '{"a" \n: 1 ,\t"a"\r:2}', 'a'],
    ['written in another way', '{"a":1,"\\u0061":2}', 'a'],
    ['with a quote in it', '{"\\"":1,"\\u0022":2}', '"'],
    ['without a letter', '{"":1,"":2}', ''],
    ['of the prototype', '{"__proto__":1,"__proto__":2}', '__proto__'],
    ['within a list', '[{"a":1},{"b":{"c":1,"c":2}}]', 'c'],
    ['after an object', '{"a":{"b":1},"b":1,"a":2}', 'a'],
  ] as const)('refuses a field that stands twice %s, and names it', ([, text, name]) => {
    const { type, message } = refusal(text)
    expect(type).toBe('unreadable-body')
    expect(message).toBe(`the body has the field ${JSON.stringify(name)} twice in one object: send it once`)
  })

  test.for([
    '{"a":{"a":1},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a","b":"\\"a\\":"}',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":["b","b"],"b":"{"}',
    '{"a":"}","b":"{","c":1}',
    '{"a\\\\":"\\\\","b":1}',
    '{"A":1,"a":2}',
  ])('takes the same text where it is no field of the same object: %s', (text) => {
    expect(parsed(text)).toEqual(JSON.parse(text))
  })

  test('names the first hundred characters of a long name', () => {
    const name = 'x'.repeat(30_000)
    expect(refusal(`{"${name}":1,"${name}":2}`).message).toContain(`"${'x'.repeat(100)}" twice`)
  })
})

describe('the place of a fault', () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const pieces = [
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
    '\0',
    '\u2028',
    '🦉',
    '\\u12',
    '\\"',
    'NaN',
  ]

  test('is found where JSON.parse refuses a text, and there alone', () => {
    const good = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value, null, 1))
    const text = fc
      .tuple(
        fc.oneof(good, fc.constant('')),
        fc.nat(),
        fc.nat({ max: 3 }),
        fc.array(fc.constantFrom(...pieces), { maxLength: 9 }),
      )
      .map(([whole, at, out, put]) => {
        const index = at % (whole.length + 1)
        return whole.slice(0, index) + put.join('') + whole.slice(index + out)
      })
    const property = fc.property(text, (changed) => {
      expect(syntaxFaultOf(changed) === undefined).toBe(isJson(changed))
    })
    fc.assert(property, { seed: 1, numRuns: 2000 })
  })

  test.for([
    ['', 0, 'a value'],
    ['[', 1, 'a value or ]'],
    ['[1,]', 3, 'a value'],
    ['{"a":1,}', 7, 'a field name in double quotes'],
    ["{'a':1}", 1, 'a field name in double quotes or }'],
    ['{"a" 1}', 5, 'a colon'],
    ['{"a":1 "b":2}', 7, 'a comma or }'],
    ['[1}', 2, 'a comma or ]'],
    ['01', 1, 'the end'],
    ['"a\nb"', 2, 'the closing quotation mark, or a character that a string may have'],
  ] as const)('%j has its fault at %i, where %s should be', ([text, index, expected]) => {
    expect(syntaxFaultOf(text)).toEqual({ index, expected })
  })

  test('is counted in lines and characters, and not looked for beyond a hundred levels', () => {
    expect(placeOf('a\nbc\n\nd', 6)).toBe('line 4, column 1')
    expect(placeOf('a\r\n🦉🦉x', 7)).toBe('line 2, column 3')
    for (const level of ['[', '{"a":']) {
      expect(syntaxFaultOf(level.repeat(100))).toBeDefined()
      expect(syntaxFaultOf(level.repeat(101))).toBeUndefined()
    }
  })
})
