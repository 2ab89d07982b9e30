// What an Idempotency-Key may be, and the chance that is derived from one.
import { hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertUnguessable, parseIdempotencyKey, sealedBytes } from '../../pipeline/access/idempotency.ts'
import { KEY } from '../support/idempotent-calls.ts'

describe('sealed chance', () => {
  const salt = 'ab'.repeat(32)
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const hex = (value: Uint8Array) => Buffer.from(value).toString('hex')

  test('is HKDF with SHA-256, and ends where that ends', () => {
    const expected = hkdfSync('sha256', KEY, Buffer.from(salt, 'hex'), 'sealed chance', 255 * 32)
    const chance = sealedBytes(KEY, salt)
    expect(hex(chance(255 * 32))).toBe(Buffer.from(expected).toString('hex'))
    expect(() => chance(1)).toThrow(RangeError)
  })

  test('is the same stream however it is taken', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 8 }), (sizes) => {
        const whole = sealedBytes(KEY, salt)(sizes.reduce((sum, size) => sum + size, 0))
        const chance = sealedBytes(KEY, salt)
        expect(hex(Buffer.concat(sizes.map(chance)))).toBe(hex(whole))
      }),
    )
  })

  test('differs for another secret and for another salt', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), bytes, bytes, (one, two, a, b) => {
        fc.pre(one !== two && hex(a) !== hex(b))
        const streams = [sealedBytes(one, hex(a)), sealedBytes(two, hex(a)), sealedBytes(one, hex(b))].map(
          (chance) => hex(chance(32)),
        )
        expect(new Set(streams).size).toBe(3)
      }),
    )
  })
})

describe('the header Idempotency-Key', () => {
  test.for([
    [KEY, KEY],
    [`"${KEY}"`, KEY],
    ['a', 'a'],
    ['"a"', 'a'],
    ['!~', '!~'],
    ['a"b', 'a"b'],
    ['a\\b', 'a\\b'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['a'.repeat(255), 'a'.repeat(255)],
    [`"${'a'.repeat(255)}"`, 'a'.repeat(255)],
  ])('%s is the key %s', ([header, key]) => {
    expect(parseIdempotencyKey(header!)).toBe(key)
  })

  test.for([
    '',
    '""',
    'a b',
    '"a b"',
    'one, two',
    '"one", "two"',
    '"a";p=1',
    '"a',
    '"',
    '"a"b"',
    '"a\\b"',
    '"a\\"',
    'ä',
    'a\tb',
    'a\u007f',
    'a'.repeat(256),
    `"${'a'.repeat(256)}"`,
  ])('%j is refused, in words that do not repeat it', (header) => {
    const parse = () => parseIdempotencyKey(header)
    expect(parse).toThrow(expect.objectContaining({ kind: 'invalid' }))
    if (header.length > 3) expect(parse).not.toThrow(header)
  })

  test('of any visible ASCII text is that text, bare and quoted', () => {
    const visible = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    })
    fc.assert(
      fc.property(visible, (key) => {
        expect(parseIdempotencyKey(`"${key.replace(/["\\]/g, '\\$&')}"`)).toBe(key)
        if (!key.startsWith('"')) expect(parseIdempotencyKey(key)).toBe(key)
      }),
    )
  })

  test('must have twenty characters where it must not be guessed', () => {
    expect(() => assertUnguessable('a'.repeat(19))).toThrow(expect.objectContaining({ kind: 'invalid' }))
    expect(() => assertUnguessable('secret')).not.toThrow('secret')
    expect(() => {
      assertUnguessable('a'.repeat(20))
      assertUnguessable(KEY)
    }).not.toThrow()
  })
})
