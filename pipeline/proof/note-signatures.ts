// Makes and checks signatures of notes: a log's (https://c2sp.org/signed-note, Ed25519), and a witness's,
// which has a time (https://c2sp.org/tlog-cosignature, cosignature/v1).
import { sign } from 'node:crypto'
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of } from './base64.ts'
import { encoded } from './canonical.ts'
import { isSigned } from './digest.ts'
import type { Note, NoteSignature } from './note.ts'
import type { SigningKey, VerifierKey } from './note-keys.ts'

const TIME_BYTES = 8

/** A signature that holds. */
export interface HeldSignature {
  key: VerifierKey
  /** When a witness says that it signed; undefined for a log's signature. */
  time: Date | undefined
}

/** Signs as a log: Ed25519 over the text. */
export function signText(text: string, { verifier, privateKey }: SigningKey): NoteSignature {
  const { name, keyId } = verifier
  return { name, keyId, bytes: sign(null, encoded(text), privateKey) }
}

/** Signs as a witness: the time in seconds, 8 bytes big-endian, and Ed25519 over the time and the text. */
export function cosignText(text: string, { verifier, privateKey }: SigningKey, now: Date): NoteSignature {
  const { name, keyId } = verifier
  const seconds = BigInt(Math.floor(now.getTime() / 1000))
  const time = Buffer.alloc(TIME_BYTES)
  time.writeBigUInt64BE(seconds)
  const signature = sign(null, cosignedMessage(text, seconds), privateKey)
  return { name, keyId, bytes: Buffer.concat([time, signature]) }
}

/**
 * Returns the signatures of a note by known keys, in the order of the note and one for each key. Signatures
 * by other keys do not count.
 *
 * @throws ServiceError `invalid` with the signature if one by a known key does not hold.
 */
export async function heldSignatures(
  { text, signatures }: Note,
  keys: readonly VerifierKey[],
): Promise<HeldSignature[]> {
  const held = new Map<VerifierKey, HeldSignature>()
  for (const signature of signatures) {
    const known = keys.filter(({ name, keyId }) => name === signature.name && keyId === signature.keyId)
    if (known.length === 0) continue
    const checks = await Promise.all(known.map((key) => checked(text, signature, key)))
    const found = checks.find((each) => each !== undefined)
    if (found === undefined) {
      throw new ServiceError(
        'invalid',
        `the signature by ${signature.name}+${signature.keyId} does not hold: ${base64Of(signature.bytes)}`,
      )
    }
    if (!held.has(found.key)) held.set(found.key, found)
  }
  return [...held.values()]
}

async function checked(
  text: string,
  { bytes }: NoteSignature,
  key: VerifierKey,
): Promise<HeldSignature | undefined> {
  switch (key.use) {
    case 'log': {
      const holds = await isSigned(key.publicBytes, encoded(text), bytes)
      return holds ? { key, time: undefined } : undefined
    }
    case 'witness': {
      if (bytes.byteLength <= TIME_BYTES) return undefined
      const seconds = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
      const time = new Date(Number(seconds) * 1000)
      // A time beyond the range of dates cannot be true.
      if (Number.isNaN(time.getTime())) return undefined
      const message = cosignedMessage(text, seconds)
      const holds = await isSigned(key.publicBytes, message, bytes.subarray(TIME_BYTES))
      return holds ? { key, time } : undefined
    }
  }
}

function cosignedMessage(text: string, seconds: bigint): Uint8Array {
  return encoded(`cosignature/v1\ntime ${seconds}\n${text}`)
}
