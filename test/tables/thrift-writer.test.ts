// Worked bytes of Thrift's compact protocol, from its specification.
import { expect, test } from 'vitest'
import { ByteWriter } from '../../pipeline/tables/byte-writer.ts'
import { ThriftWriter } from '../../pipeline/tables/thrift-writer.ts'

const bytesOf = (write: (writer: ThriftWriter) => unknown) => {
  const bytes = new ByteWriter()
  write(new ThriftWriter(bytes))
  return [...bytes.copy()]
}

test('a field has the difference to the id before it, its type, and its value', () => {
  // Signed numbers zigzag: 1 is 2, 64 is 128.
  expect(bytesOf((writer) => writer.i32(1, 1).i64(4, 64).text(5, 'ab').end())).toEqual([
    0x15, 0x02, 0x36, 0x80, 0x01, 0x18, 0x02, 0x61, 0x62, 0x00,
  ])
})

test('a field that is true is its head alone', () => {
  expect(bytesOf((writer) => writer.true(1).true(3).end())).toEqual([0x11, 0x21, 0x00])
})

test('ids begin anew inside a struct, and go on behind it', () => {
  expect(bytesOf((writer) => writer.struct(2).i32(1, 0).end().i32(3, 0).end())).toEqual([
    0x2c, 0x15, 0x00, 0x00, 0x15, 0x00, 0x00,
  ])
})

test('and so they do in each struct of a list', () => {
  const written = bytesOf((writer) => writer.structs(2, 2).i32(1, 0).end().i32(2, 0).end().i32(3, 0).end())
  expect(written).toEqual([0x29, 0x2c, 0x15, 0x00, 0x00, 0x25, 0x00, 0x00, 0x15, 0x00, 0x00])
})

test('a list of fifteen or more says its length behind its type', () => {
  const fourteen = bytesOf((writer) => writer.i32s(1, new Array<number>(14).fill(0)))
  expect(fourteen.slice(0, 2)).toEqual([0x19, 0xe5])
  const fifteen = bytesOf((writer) => writer.texts(1, new Array<string>(15).fill('')))
  expect(fifteen.slice(0, 3)).toEqual([0x19, 0xf8, 15])
})
