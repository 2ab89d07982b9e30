// The random bytes that are derived from an Idempotency-Key.
import { hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sealedBytes } from '../../pipeline/access/idempotency.ts'
import { KEY } from '../support/http/idempotent-calls.ts'

describe('sealed bytes', () => {
  const salt = 'ab'.repeat(32)
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const hex = (value: Uint8Array) => Buffer.from(value).toString('hex')

  test('are the output of HKDF with SHA-256, and end where it ends', () => {
    const expected = hkdfSync('sha256', KEY, Buffer.from(salt, 'hex'), 'sealed chance', 255 * 32)
    const sealed = sealedBytes(KEY, salt)
    expect(hex(sealed(255 * 32))).toBe(Buffer.from(expected).toString('hex'))
    expect(() => sealed(1)).toThrow(RangeError)
  })

  test('are the same stream in whatever pieces they are taken', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 8 }), (sizes) => {
        const whole = sealedBytes(KEY, salt)(sizes.reduce((sum, size) => sum + size, 0))
        const sealed = sealedBytes(KEY, salt)
        expect(hex(Buffer.concat(sizes.map(sealed)))).toBe(hex(whole))
      }),
    )
  })

  test('differ for another secret and for another salt', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), bytes, bytes, (one, two, a, b) => {
        fc.pre(one !== two && hex(a) !== hex(b))
        const streams = [sealedBytes(one, hex(a)), sealedBytes(two, hex(a)), sealedBytes(one, hex(b))].map(
          (sealed) => hex(sealed(32)),
        )
        expect(new Set(streams).size).toBe(3)
      }),
    )
  })
})
