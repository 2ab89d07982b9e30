// What an Idempotency-Key header may hold.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertUnguessable, parseIdempotencyKey } from '../../../api/http/idempotency-key.ts'
import { KEY } from '../../support/http/idempotent-calls.ts'

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
