// Bytes put one after another: the same as those of Node's own writers, however often the memory has to grow.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteWriter } from '../../pipeline/tables/byte-writer.ts'

const whole = fc.maxSafeInteger()

/** How a value is put, and its bytes by Node. */
const PUTS = {
  uint32: fc.nat(2 ** 32 - 1).map((value) => {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    return { put: (into: ByteWriter) => into.uint32(value), bytes }
  }),
  int32: fc.integer().map((value) => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32LE(value)
    return { put: (into: ByteWriter) => into.int32(value), bytes }
  }),
  int64: whole.map((value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(value))
    return { put: (into: ByteWriter) => into.int64(value), bytes }
  }),
  double: fc.double().map((value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(value)
    return { put: (into: ByteWriter) => into.double(value), bytes }
  }),
  text: fc.string({ unit: 'binary', maxLength: 3000 }).map((value) => {
    const bytes = Buffer.from(value)
    return { put: (into: ByteWriter) => into.text(value), bytes }
  }),
  bytes: fc.uint8Array({ maxLength: 5000 }).map((value) => {
    return { put: (into: ByteWriter) => into.bytes(value), bytes: Buffer.from(value) }
  }),
}

test('what is put is there in its order', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(...Object.values(PUTS)), { maxLength: 40 }), (puts) => {
      const writer = new ByteWriter()
      for (const { put } of puts) put(writer)
      const expected = Buffer.concat(puts.map(({ bytes }) => bytes))
      expect(writer.length).toBe(expected.length)
      expect(Buffer.compare(writer.copy(), expected)).toBe(0)
    }),
  )
})

test.for([
  [0, [0]],
  [127, [0x7f]],
  [128, [0x80, 0x01]],
  // The example of https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
  [50_399, [0xdf, 0x89, 0x03]],
  [2 ** 31, [0x80, 0x80, 0x80, 0x80, 0x08]],
  [2 ** 53 - 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]],
] as const)('%i as a variable number of bytes', ([value, bytes]) => {
  const writer = new ByteWriter()
  writer.varint(value)
  expect([...writer.copy()]).toEqual(bytes)
})
