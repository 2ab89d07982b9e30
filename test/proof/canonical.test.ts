// The canonical form of values whose names are in order, which V8 writes, and of all others, which the
// library does.
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalText, membersInOrder } from '../../pipeline/proof/canonical.ts'

const NAMES = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('10', '9', 'é', '\u{10000}', '\uffff', '"'),
)
const PLAIN = fc.oneof(
  fc.constantFrom(null, true, false, -0),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ unit: 'grapheme' }),
)
const values = (names: fc.Arbitrary<string>) =>
  fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, PLAIN, fc.array(tie('value')), fc.dictionary(names, tie('value'))),
  })).value

/** Of every object inside a value too. */
function allInOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(allInOrder)
  const copy = membersInOrder(value as Record<string, unknown>)
  for (const name of Object.keys(copy)) copy[name] = allInOrder(copy[name])
  return copy
}

test('the text of any value is the library’s', () => {
  fc.assert(
    fc.property(values(fc.oneof(NAMES, fc.constant('__proto__'))), (value) => {
      expect(canonicalText(value)).toBe(canonicalize(value))
    }),
  )
})

test('the text of a value in order is the library’s', () => {
  const names = NAMES.filter((name) => name !== '__proto__')
  fc.assert(
    fc.property(values(names), (value) => {
      expect(canonicalText(allInOrder(value))).toBe(canonicalize(value))
    }),
  )
})

describe('what is written by the library alone', () => {
  const at = new Date(0)
  const deep = Array.from({ length: 10_000 }).reduce<unknown>((inner) => [inner], 1)

  test.for([
    ['members without a value', { a: undefined, b: [undefined] }, '{"b":[null]}'],
    ['a value with a text of its own', { a: at }, '{"a":"1970-01-01T00:00:00.000Z"}'],
    ['names out of order', { b: 1, a: { d: 2, c: -0 } }, '{"a":{"c":0,"d":2},"b":1}'],
    ['ten thousand lists in each other', deep, `${'['.repeat(10_000)}1${']'.repeat(10_000)}`],
  ] as const)('%s', ([, value, text]) => {
    expect(canonicalText(value)).toBe(text)
  })

  test.for([NaN, Infinity, '\ud800', { '\ud800': 1 }])('not JSON: %o', (value) => {
    expect(() => canonicalText(value)).toThrow('not allowed')
    expect(() => canonicalText({ a: [value] })).toThrow('not allowed')
  })
})
