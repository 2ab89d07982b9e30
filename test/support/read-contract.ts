// The contract of whatever can be read as a store (`ReadableStore`), as a suite that runs over any of them.
import { describe, expect, test } from 'vitest'
import type { ReadableStore } from '../../pipeline/store/store.ts'

export const MIB = 1024 * 1024

/** `create` makes a store with these objects each time. */
export function readContract(
  create: (objects: Readonly<Record<string, Uint8Array>>) => Promise<ReadableStore>,
): void {
  describe('get', () => {
    test('returns the bytes that were put', async () => {
      const store = await create({ 'a/b': everyByte })
      expect(plain(await store.get('a/b'))).toEqual(everyByte)
    })

    test('finds nothing at a path that is absent, a part of another or beneath an object', async () => {
      const store = await create({ 'a/b/c': bytes('1') })
      for (const path of ['absent', 'a', 'a/b', 'a/b/cc', 'a/b/c/d']) {
        expect(await store.get(path), path).toBeUndefined()
      }
    })

    test('returns an empty object as no bytes', async () => {
      const store = await create({ empty: bytes('') })
      expect(plain(await store.get('empty'))).toEqual(bytes(''))
    })

    test('returns twenty megabytes', async () => {
      const big = ofSize(20 * MIB)
      const store = await create({ big })
      expect(Buffer.compare((await store.get('big'))!, big)).toBe(0)
      expect(plain(await store.range('big', big.length - 3, 10))).toEqual(big.slice(-3))
    })
  })

  describe('range', () => {
    const ranges = [
      ['from the start', 0, 4, '0123'],
      ['from the middle', 3, 4, '3456'],
      ['up to the end', 6, 4, '6789'],
      ['fewer bytes if the object ends', 8, 4, '89'],
      ['no bytes at the end', 10, 4, ''],
      ['no bytes past the end', 100, 4, ''],
      ['no bytes when none are asked for', 3, 0, ''],
      ['no bytes when none are asked for past the end', 100, 0, ''],
    ] as const
    test.for(ranges)('reads %s', async ([, offset, length, expected]) => {
      const store = await create({ digits: bytes('0123456789') })
      expect(text(await store.range('digits', offset, length))).toBe(expected)
    })

    test('reads no bytes of an empty object', async () => {
      const store = await create({ empty: bytes('') })
      expect(plain(await store.range('empty', 0, 4))).toEqual(bytes(''))
    })

    test('finds no absent object, whatever the length', async () => {
      const store = await create({ 'a/b': bytes('1') })
      expect(await store.range('absent', 0, 4)).toBeUndefined()
      expect(await store.range('absent', 0, 0)).toBeUndefined()
      expect(await store.range('a', 0, 4)).toBeUndefined()
      expect(await store.range('a', 0, 0)).toBeUndefined()
    })
  })

  test.for(WRONG_PATHS)('%j is no path to read: %s', async ([path]) => {
    const store = await create({ x: bytes('x') })
    const refused = { kind: 'invalid' }
    await expect(store.get(path)).rejects.toMatchObject(refused)
    await expect(store.range(path, 0, 1)).rejects.toMatchObject(refused)
    await expect(store.range(path, 0, 0)).rejects.toMatchObject(refused)
  })
}

/** Texts that are no paths of a store, and why. */
export const WRONG_PATHS = [
  ['', 'empty'],
  ['/x', 'absolute'],
  ['../x', 'leading out'],
  ['a/../b', 'leading back'],
  ['..', 'leading out'],
  ['.', 'the store itself'],
  ['a/./b', 'a part that is a dot'],
  ['.hidden/b', 'a part that begins with a dot'],
  ['a//b', 'an empty part'],
  ['a/', 'an empty last part'],
  ['a\\b', 'a backslash'],
  ['a\0b', 'a NUL'],
  ['a\nb', 'a line break'],
  ['a b', 'a space'],
  ['a%2e%2e/b', 'a percent sign'],
  ['ä', 'a letter beyond ASCII'],
] as const
const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)

export function ofSize(sizeBytes: number): Uint8Array {
  return new Uint8Array(sizeBytes).map((_, index) => (index * 31 + (index >> 8)) & 0xff)
}

export function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content)
}

/** Converts a Buffer, which some stores return, to a plain Uint8Array, because `toEqual` tells them apart. */
export function plain(content: Uint8Array | undefined): Uint8Array | undefined {
  return content && Uint8Array.from(content)
}

export function text(content: Uint8Array | undefined): string | undefined {
  return content && new TextDecoder().decode(content)
}
