// Compares the stored tree of a release with the one derived from the data files, a piece at a time.
import { base64Of } from '../proof/base64.ts'
import { ID_BYTES, RECORD_BYTES } from '../release/files/forecasts-tree.ts'
import { type LocalFile, type Piece, piecesBeside } from '../store/body.ts'
import type { Store } from '../store/store.ts'

/** Whole records, about six megabytes. */
const PIECE_BYTES = RECORD_BYTES * 2 ** 17

export interface StoredTree {
  /** Whether it is the derived one, byte for byte. */
  isDerived: boolean
  /** Describes the first record that differs from the derived one; empty if none does. */
  difference: string
  /** Ids that it has more than once. */
  repeatedIds: string[]
}

/**
 * Reads the stored tree. `sizes` are the numbers of leaves of the derived tree and, as the manifest says, of
 * the stored one.
 */
export async function readStoredTree(
  store: Store,
  path: string,
  derived: LocalFile | undefined,
  sizes: { derived: number; stored: number },
): Promise<StoredTree> {
  const tree: StoredTree = { isDerived: true, difference: '', repeatedIds: [] }
  let last: Uint8Array = new Uint8Array()
  for await (const piece of piecesBeside(store, path, derived, PIECE_BYTES)) {
    if (tree.isDerived && Buffer.compare(piece.stored, piece.local) !== 0) {
      tree.isDerived = false
      tree.difference = firstRecord(piece, sizes.derived)
    }
    const before = piece.at / RECORD_BYTES
    const records = Math.min(sizes.stored - before, Math.floor(piece.stored.byteLength / RECORD_BYTES))
    for (let record = 0; record < records; record++) {
      const id = piece.stored.subarray(record * RECORD_BYTES, record * RECORD_BYTES + ID_BYTES)
      if (Buffer.compare(id, last) === 0) tree.repeatedIds.push(idText(id))
      last = id
    }
  }
  return tree
}

/**
 * Describes the first record of a piece that differs from the derived one. Hashes follow the records of both.
 */
function firstRecord({ at, stored, local }: Piece, size: number): string {
  for (let from = 0; ; from += RECORD_BYTES) {
    const [found, expected] = [stored, local].map((bytes) => bytes.subarray(from, from + RECORD_BYTES))
    const record = (at + from) / RECORD_BYTES
    if (found!.byteLength === 0 && record >= size) return ''
    if (Buffer.compare(found!, expected!) === 0) continue
    return `: record ${record} is ${recordText(found!)}, expected ${recordText(expected!)}`
  }
}

function recordText(record: Uint8Array): string {
  if (record.byteLength < RECORD_BYTES) return 'nothing'
  return `${idText(record)} with the hash ${base64Of(record.subarray(ID_BYTES))}`
}

function idText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.subarray(0, ID_BYTES)).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
