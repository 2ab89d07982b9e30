// JSON as the parser reads it, but for fields that stand twice.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../api/http/json.ts'
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
