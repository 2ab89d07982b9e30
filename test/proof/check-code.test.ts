// Codes: written and read again in any spelling, and none of what is no code.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CheckCode, codeText, hashStartOf, parseCheckCode } from '../../pipeline/proof/check-code.ts'
import { ENTITY_TYPES } from '../../schemas/tables.ts'

const code: fc.Arbitrary<CheckCode> = fc.record({
  release: fc.integer({ min: 1, max: 99_999_999 }),
  entityType: fc.constantFrom(...ENTITY_TYPES),
  position: fc.nat(2 ** 23 - 1),
  hashStart: fc.bigInt({ min: 0n, max: 2n ** 36n - 1n }),
})

test('every code is read as what it was made of, and has one form', () => {
  fc.assert(
    fc.property(code, (made) => {
      const text = codeText(made)!
      expect(text).toMatch(/^[1-9]\d{0,7}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/)
      expect(parseCheckCode(text)).toEqual(made)
    }),
  )
})

test('a code may be written by hand: small, with other dashes and spaces or none, with O and I and L', () => {
  const spelled = fc.record({
    made: code,
    small: fc.boolean(),
    zero: fc.constantFrom('0', 'O', 'o'),
    one: fc.constantFrom('1', 'I', 'l'),
    dash: fc.constantFrom('-', '', ' ', ' – ', '\u2011', '\t'),
  })
  fc.assert(
    fc.property(spelled, ({ made, small, zero, one, dash }) => {
      const [release, ...groups] = codeText(made)!.split('-')
      const written = groups.join(dash).replaceAll('0', zero).replaceAll('1', one)
      const text = ` ${release}${dash}${small ? written.toLowerCase() : written}\n`
      expect(parseCheckCode(text)).toEqual(made)
    }),
  )
})

test.each([
  '',
  '21',
  '21-4F9A-2C81',
  '21-4F9A-2C81-B7D',
  '21-4F9A-2C81-B7DU',
  '0-4F9A-2C81-B7D3',
  '214F9A-2C81-B7D3',
  '123456789-4F9A-2C81-B7D3',
  'x1-4F9A-2C81-B7D3',
  '21/4F9A-2C81-B7D3',
  '<b>21-4F9A-2C81-B7D3',
  '２１-4F9A-2C81-B7D3',
])('%j is no code', (text) => {
  expect(parseCheckCode(text)).toBeUndefined()
})

test('nothing in the world of strings makes it fail', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      const read = parseCheckCode(text)
      if (read) expect(parseCheckCode(codeText(read)!)).toEqual(read)
    }),
  )
})

test('worked: the first 36 bits of the hash, then the kind, then the place', () => {
  const leaf = new Uint8Array(32).fill(0xff)
  expect(hashStartOf(leaf)).toBe(2n ** 36n - 1n)
  const of = { release: 7, position: 3, hashStart: hashStartOf(leaf) }
  expect(codeText({ ...of, entityType: 'agent' })).toBe('7-ZZZZ-ZZZG-0003')
  expect(codeText({ ...of, entityType: 'forecaster' })).toBe('7-ZZZZ-ZZZR-0003')
})

test('a place beyond eight million has no code', () => {
  expect(codeText({ release: 1, entityType: 'agent', position: 2 ** 23, hashStart: 0n })).toBeUndefined()
})
