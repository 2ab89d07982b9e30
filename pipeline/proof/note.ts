// Signed notes (https://c2sp.org/signed-note): a text, an empty line, and a line for each signature. This
// file reads and writes them; note-signatures.ts checks which signatures hold.
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of, bytesOfBase64 } from './base64.ts'
import { encoded } from './canonical.ts'
import { hexOf } from './digest.ts'
import { quoted } from './quoted.ts'

const LARGEST_NOTE_BYTES = 64 * 1024
const KEY_ID_BYTES = 4
const DASH = '— '

export interface Note {
  /** The signed text, with its last line end. */
  text: string
  signatures: readonly NoteSignature[]
}

export interface NoteSignature {
  /** The name of the key. */
  name: string
  /** The id of the key, in hex. */
  keyId: string
  /** The bytes after the key id. */
  bytes: Uint8Array
}

/**
 * @throws ServiceError `invalid` for anything but a note of at most 64 KiB with at least one signature line.
 */
export function parseNote(note: string): Note {
  const sizeBytes = encoded(note).byteLength
  if (sizeBytes > LARGEST_NOTE_BYTES) {
    throw new ServiceError('invalid', `a note has at most ${LARGEST_NOTE_BYTES} bytes, not ${sizeBytes}`)
  }
  const control = Array.from(note).find((character) => character < ' ' && character !== '\n')
  if (control !== undefined) throw malformed(`holds the control character ${JSON.stringify(control)}`)
  if (!note.isWellFormed()) throw malformed('is not UTF-8')
  const end = note.lastIndexOf('\n\n')
  if (end < 0) throw malformed('has no empty line before its signatures')
  if (!note.endsWith('\n')) throw malformed('has no line end at its end')
  const lines = note.slice(end + 2, -1)
  if (lines === '') throw malformed('has no signature')
  return { text: note.slice(0, end + 1), signatures: lines.split('\n').map(parseSignatureLine) }
}

export function noteText({ text, signatures }: Note): string {
  return `${text}\n${signatures.map((signature) => signatureLine(signature)).join('')}`
}

/** Returns `— <name> <base64 of key id and signature>`, with its line end. */
export function signatureLine({ name, keyId, bytes }: NoteSignature): string {
  return `${DASH}${name} ${base64Of(Buffer.concat([Buffer.from(keyId, 'hex'), bytes]))}\n`
}

/** Parses a signature line without its line end. @throws ServiceError `invalid` with the line. */
export function parseSignatureLine(line: string): NoteSignature {
  const [name = '', base64 = '', ...rest] = line.startsWith(DASH) ? line.slice(DASH.length).split(' ') : []
  const bytes = bytesOfBase64(base64)
  if (!isKeyName(name) || rest.length > 0 || bytes.byteLength <= KEY_ID_BYTES) {
    throw malformed(`has a line that is no signature: ${quoted(line)}`)
  }
  return { name, keyId: hexOf(bytes.subarray(0, KEY_ID_BYTES)), bytes: bytes.subarray(KEY_ID_BYTES) }
}

/** Names of keys are not empty, and have neither white space nor a plus sign. */
export function isKeyName(name: string): boolean {
  return /^[^\p{White_Space}+]+$/u.test(name) && name.isWellFormed()
}

function malformed(fault: string): ServiceError {
  return new ServiceError('invalid', `the note ${fault}`)
}
