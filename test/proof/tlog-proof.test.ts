// The text of proofs, there and back, and texts that are no proofs.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of } from '../../pipeline/proof/base64.ts'
import {
  innerProofBytes,
  parseInnerProof,
  parseTlogProof,
  tlogProofText,
} from '../../pipeline/proof/tlog-proof.ts'

const HASHES = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const CHECKPOINT = 'log.example/a\n700\nroot\n\n— log.example/a signature\n'
const LINES = HASHES.map((hash) => `${base64Of(hash)}\n`)

test('has the text of https://c2sp.org/tlog-proof', () => {
  const path = { index: 73894, hashes: HASHES, checkpoint: CHECKPOINT }
  expect(tlogProofText({ ...path, extra: undefined })).toBe(
    `c2sp.org/tlog-proof@v1\nindex 73894\n${LINES.join('')}\n${CHECKPOINT}`,
  )
  expect(tlogProofText({ ...path, extra: Buffer.from('extra data') })).toBe(
    `c2sp.org/tlog-proof@v1\nextra ZXh0cmEgZGF0YQ==\nindex 73894\n${LINES.join('')}\n${CHECKPOINT}`,
  )
})

test('the extra of a proof is a path, an empty line and the statement', () => {
  const statement = Buffer.from('{}')
  const bytes = innerProofBytes({ index: 0, hashes: HASHES, statement })
  expect(Buffer.from(bytes).toString()).toBe(`index 0\n${LINES.join('')}\n{}`)
})

test('comes back as it was', () => {
  const proofs = fc.record({
    extra: fc.option(fc.uint8Array({ maxLength: 100 }), { nil: undefined }),
    index: fc.maxSafeNat(),
    hashes: fc.array(fc.uint8Array({ minLength: 32, maxLength: 32 }), { maxLength: 63 }),
    checkpoint: fc.string({ unit: 'grapheme' }),
  })
  fc.assert(
    fc.property(proofs, fc.string({ unit: 'grapheme' }), (proof, text) => {
      const read = parseTlogProof(tlogProofText(proof))
      expect({
        ...read,
        extra: read.extra && Uint8Array.from(read.extra),
        hashes: plain(read.hashes),
      }).toEqual(proof)
      const { index, hashes } = proof
      const inner = parseInnerProof(innerProofBytes({ index, hashes, statement: Buffer.from(text) }))
      expect([inner.index, plain(inner.hashes), Buffer.from(inner.statement).toString()]).toEqual([
        index,
        hashes,
        text,
      ])
    }),
  )
})

describe('refuses a proof with', () => {
  const good = tlogProofText({ extra: Buffer.from('x'), index: 5, hashes: HASHES, checkpoint: CHECKPOINT })
  const first = LINES[0]!
  test.each([
    ['nothing', ''],
    ['another version', good.replace('@v1', '@v2')],
    ['a mark before it', `\ufeff${good}`],
    ['line ends of two characters', good.replaceAll('\n', '\r\n')],
    ['extra that is not base64', good.replace('extra eA==', 'extra eA')],
    ['extra twice', good.replace('extra eA==\n', 'extra eA==\nextra eA==\n')],
    ['extra after the index', good.replace(/(extra .*\n)(index .*\n)/, '$2$1')],
    ['no index', good.replace('index 5\n', '')],
    ['an index with a leading zero', good.replace('index 5', 'index 05')],
    ['two spaces', good.replace('index 5', 'index  5')],
    ['a hash of 31 bytes', good.replace(first, `${base64Of(Buffer.alloc(31))}\n`)],
    ['a hash of 33 bytes', good.replace(first, `${base64Of(Buffer.alloc(33))}\n`)],
    ['two hashes on a line', good.replace(first, first.repeat(2).replace('\n', ''))],
    ['64 hashes', good.replace(first, first.repeat(63))],
    ['no checkpoint', good.slice(0, good.indexOf('\n\n'))],
  ])('%s', (_, text) => {
    expect(() => parseTlogProof(text)).toThrow(ServiceError)
  })

  test('extra that is not UTF-8, or has no statement', () => {
    expect(() => parseInnerProof(Buffer.of(0xff))).toThrow('not UTF-8')
    expect(() => parseInnerProof(Buffer.from('index 0\n'))).toThrow('ends too early')
  })
})

test('takes 63 hashes', () => {
  const hashes = Array.from({ length: 63 }, () => HASHES[0]!)
  const text = tlogProofText({ extra: undefined, index: 0, hashes, checkpoint: CHECKPOINT })
  expect(parseTlogProof(text).hashes).toHaveLength(63)
})

function plain(hashes: readonly Uint8Array[]): Uint8Array[] {
  return hashes.map((hash) => Uint8Array.from(hash))
}
