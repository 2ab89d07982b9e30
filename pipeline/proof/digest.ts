// SHA-256 and Ed25519 by WebCrypto, for what is verified in Node and in pages alike. Node's own functions
// hash one leaf in a fortieth of the time: those who make trees take them (merkle.ts).
import type { Hash } from './merkle.ts'

/** SHA-256 of the parts behind one another. */
export async function sha256(...parts: readonly Uint8Array[]): Promise<Hash> {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

/** Whether a signature is by the key of these 32 bytes (RFC 8032). */
export async function isSigned(
  publicBytes: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  const [raw, signed, signs] = [publicBytes, message, signature].map((bytes) => new Uint8Array(bytes))
  const key = await crypto.subtle.importKey('raw', raw!, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', key, signs!, signed!)
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function areSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && one.every((byte, at) => byte === other[at])
}
