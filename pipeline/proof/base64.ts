// Base64 as in the formats of transparency logs (RFC 4648 §4): padded, and with only one text for the same
// bytes.
import { ServiceError } from '../../schemas/errors.ts'
import { type Hash, HASH_BYTES } from './merkle.ts'
import { quoted } from './quoted.ts'

export function base64Of(bytes: Uint8Array): string {
  // A Buffer takes a quarter of the time of `btoa`, for each hash of each receipt; pages have none.
  if ('Buffer' in globalThis)
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return btoa(String.fromCharCode(...bytes))
}

/** @throws ServiceError `invalid` for any text that `base64Of` does not return. */
export function bytesOfBase64(text: string): Uint8Array {
  const bytes = bytesIn(text)
  if (base64Of(bytes) === text) return bytes
  throw new ServiceError('invalid', `this is not base64: ${quoted(text)}`)
}

/** Returns any bytes for a text that is not base64. */
function bytesIn(text: string): Uint8Array {
  if ('Buffer' in globalThis) return Buffer.from(text, 'base64')
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

/** @throws ServiceError `invalid` for base64 of anything but 32 bytes. */
export function hashOfBase64(text: string): Hash {
  const hash = bytesOfBase64(text)
  if (hash.byteLength !== HASH_BYTES) {
    throw new ServiceError(
      'invalid',
      `a hash has ${HASH_BYTES} bytes, not ${hash.byteLength}: ${quoted(text)}`,
    )
  }
  return hash
}
