import { expect, test } from 'vitest'
import { piecesBeside } from '../../pipeline/store/body.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { localFile } from '../support/local-file.ts'

const bytes = (content: string) => new TextEncoder().encode(content)

test.for<[string, string | undefined, string | undefined, [number, string, string][]]>([
  [
    'as long as the file',
    '01234',
    '01xyz',
    [
      [0, '012', '01x'],
      [3, '34', 'yz'],
    ],
  ],
  [
    'of whole pieces',
    '012345',
    '012345',
    [
      [0, '012', '012'],
      [3, '345', '345'],
    ],
  ],
  [
    'that ends before the file',
    '01',
    '01234567',
    [
      [0, '01', '012'],
      [3, '', '345'],
      [6, '', '67'],
    ],
  ],
  [
    'that ends after the file',
    '0123',
    '',
    [
      [0, '012', ''],
      [3, '3', ''],
    ],
  ],
  [
    'without a file',
    '0123',
    undefined,
    [
      [0, '012', ''],
      [3, '3', ''],
    ],
  ],
  [
    'that is not there',
    undefined,
    '0123',
    [
      [0, '', '012'],
      [3, '', '3'],
    ],
  ],
  ['that is not there, nor a file', undefined, undefined, []],
])('the pieces of an object %s', async ([, stored, local, expected]) => {
  const store = new MemoryStore()
  if (stored !== undefined) await store.put('a', bytes(stored))
  const file = local === undefined ? undefined : await localFile(bytes(local))
  const pieces = await Array.fromAsync(piecesBeside(store, 'a', file, 3))
  const text = (piece: Uint8Array) => new TextDecoder().decode(piece)
  expect(pieces.map((piece) => [piece.at, text(piece.stored), text(piece.local)])).toEqual(expected)
})
