// The keys that sign credentials: Ed25519, as texts of the W3C's Multikey
// (https://www.w3.org/TR/cid-1.0/#Multikey).
import type { KeyObject } from 'node:crypto'
import { base58 } from '@scure/base'
import { ServiceError } from '../../schemas/errors.ts'
import { KEY_BYTES, keyPairOf } from '../proof/ed25519.ts'
import { quoted } from '../proof/quoted.ts'

/** The bytes before the 32 bytes of a key: the codes of Ed25519 in multicodec. */
const PUBLIC = [0xed, 0x01]
const SECRET = [0x80, 0x26]

export interface CredentialKey {
  privateKey: KeyObject
  /** The public half as text: `z` and base58. */
  multikey: string
}

/** Returns the bytes as text in base58. Its first letter names the encoding (multibase). */
export function multibase(bytes: Uint8Array): string {
  return `z${base58.encode(bytes)}`
}

/** Returns undefined for a text that is not base58 behind a `z`. */
export function bytesOfMultibase(text: string): Uint8Array | undefined {
  try {
    return text.startsWith('z') ? base58.decode(text.slice(1)) : undefined
  } catch {
    return undefined
  }
}

/** Returns the secret text of the key of a seed of 32 bytes. */
export function credentialKeyText(seed: Uint8Array): string {
  return multibase(Uint8Array.of(...SECRET, ...seed))
}

/**
 * @throws ServiceError `invalid`. The message must not hold the text, because it is a secret.
 */
export function parseCredentialKey(text: string): CredentialKey {
  const seed = keyIn(text, SECRET)
  if (!seed) {
    throw new ServiceError(
      'invalid',
      'the key of credentials must be as `fvs credential key` prints it: z3u2…',
    )
  }
  const { privateKey, publicBytes } = keyPairOf(seed)
  return { privateKey, multikey: multibase(Uint8Array.of(...PUBLIC, ...publicBytes)) }
}

/**
 * Returns the 32 bytes of a public key.
 *
 * @throws ServiceError `invalid`. The message holds the text unless it is a secret key.
 */
export function parseMultikey(text: string): Uint8Array {
  const bytes = keyIn(text, PUBLIC)
  if (!bytes) {
    const shown = keyIn(text, SECRET) ? 'it is a secret key' : quoted(text)
    throw new ServiceError('invalid', `this is no public Multikey of Ed25519: ${shown}`)
  }
  return bytes
}

/** Returns the 32 bytes behind a code; undefined for every other text. */
function keyIn(text: string, code: readonly number[]): Uint8Array | undefined {
  const bytes = bytesOfMultibase(text)
  const isKey =
    bytes?.byteLength === code.length + KEY_BYTES && code.every((byte, index) => bytes[index] === byte)
  return isKey ? bytes.subarray(code.length) : undefined
}
