// Checkpoints (https://c2sp.org/tlog-checkpoint): signed notes of three lines that give the number of entries
// of a log and their root.
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of, hashOfBase64 } from './base64.ts'
import type { TreeHead } from './merkle-proof.ts'
import { type Note, type NoteSignature, noteText, parseNote } from './note.ts'
import type { SigningKey } from './note-keys.ts'
import { signText } from './note-signatures.ts'
import { quoted } from './quoted.ts'

export interface Checkpoint extends TreeHead {
  /** The name of the log. */
  origin: string
}

export interface SignedCheckpoint {
  checkpoint: Checkpoint
  note: Note
}

/** The three lines that are signed. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${base64Of(root)}\n`
}

/** Signs a checkpoint with each of these log keys, in their order. */
export function signedCheckpoint(checkpoint: Checkpoint, keys: readonly SigningKey[]): string {
  const text = checkpointText(checkpoint)
  return noteText({ text, signatures: keys.map((key) => signText(text, key)) })
}

/** Returns a note with more signatures after its own. */
export function withSignatures(note: Note, signatures: readonly NoteSignature[]): string {
  return noteText({ text: note.text, signatures: [...note.signatures, ...signatures] })
}

/**
 * Reads a checkpoint without checking its signatures.
 *
 * @throws ServiceError `invalid` for a text that is no note, and for a note of other than three lines,
 *   because this log has no extension lines.
 */
export function parseCheckpoint(text: string): SignedCheckpoint {
  const note = parseNote(text)
  const [origin, size, root, end, ...more] = note.text.split('\n')
  if (!origin || size === undefined || root === undefined || end !== '' || more.length > 0) {
    throw new ServiceError('invalid', `a checkpoint has three lines, not ${quoted(note.text)}`)
  }
  return { checkpoint: { origin, size: parseCount(size), root: hashOfBase64(root) }, note }
}

/**
 * Parses a size or an index: decimal without leading zeros. @throws ServiceError `invalid` for anything else,
 * and above 2⁵³ − 1.
 */
export function parseCount(text: string): number {
  const count = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : NaN
  if (Number.isSafeInteger(count)) return count
  throw new ServiceError('invalid', `this is no number of leaves: ${quoted(text)}`)
}
