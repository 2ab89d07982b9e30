// What a write takes, bytes or a file on this machine, and how an object is read beside such a file without
// holding either whole.
import { open } from 'node:fs/promises'

/** A file on this machine that becomes an object. It must stay as it is until the write has ended. */
export interface LocalFile {
  location: string
  sizeBytes: number
  /** In hex. */
  sha256: string
}

export type Body = Uint8Array | LocalFile

/** A piece of an object, and the same piece of a file: of what has ended, nothing. */
export interface Piece {
  /** How many bytes come before it. */
  at: number
  stored: Uint8Array
  local: Uint8Array
}

interface Ranges {
  range(path: string, offset: number, length: number): Promise<Uint8Array | undefined>
}

const PIECE_BYTES = 8 * 1024 * 1024
const NOTHING = new Uint8Array()

/** All pieces of an object and of a file. An object that is not there, and no file, have none. */
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
