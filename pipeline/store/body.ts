// The body of a write: bytes, or a file on this machine. `piecesBeside` reads an object and such a file in
// step, without holding either whole.
import { open } from 'node:fs/promises'

/** A file on this machine that becomes an object. It must stay as it is until the write has ended. */
export interface LocalFile {
  location: string
  sizeBytes: number
  /** The SHA-256 in hex. */
  sha256: string
}

/** The content of an object as known before it is read. */
export interface Content {
  /** The SHA-256 in hex, or its first digits. */
  sha256: string
  sizeBytes?: number
}

export type Body = Uint8Array | LocalFile

/** The same piece of an object and of a file; the one that has ended has no bytes. */
export interface Piece {
  /** The offset of the piece in bytes. */
  at: number
  stored: Uint8Array
  local: Uint8Array
}

interface Ranges {
  range(path: string, offset: number, length: number): Promise<Uint8Array | undefined>
}

const PIECE_BYTES = 8 * 1024 * 1024
const NOTHING = new Uint8Array()

/**
 * Yields all pieces of an object and of a file. A missing object counts as empty, and so does `undefined` as
 * a file.
 */
export async function* piecesBeside(
  store: Ranges,
  path: string,
  file: LocalFile | undefined,
  pieceBytes = PIECE_BYTES,
): AsyncIterable<Piece> {
  await using handle = file && (await open(file.location))
  for (let at = 0; ; at += pieceBytes) {
    const stored = (await store.range(path, at, pieceBytes)) ?? NOTHING
    const read = await handle?.read(new Uint8Array(pieceBytes), 0, pieceBytes, at)
    const local = read?.buffer.subarray(0, read.bytesRead) ?? NOTHING
    if (stored.byteLength === 0 && local.byteLength === 0) return
    yield { at, stored, local }
  }
}
