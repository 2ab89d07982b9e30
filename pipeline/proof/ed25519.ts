// Keys of Ed25519 (RFC 8032) from their 32 bytes, and back.
import { type KeyObject, createPrivateKey, createPublicKey } from 'node:crypto'

export const KEY_BYTES = 32
/** The bytes before the 32 bytes of the seed in PKCS #8 (RFC 8410 §7). */
const PKCS8_PREFIX = /* @__PURE__ */ Buffer.from('302e020100300506032b657004220420', 'hex')

/** Returns the private key of a seed of 32 bytes, and the bytes of its public half. */
export function keyPairOf(seed: Uint8Array): { privateKey: KeyObject; publicBytes: Uint8Array } {
  const der = Buffer.concat([PKCS8_PREFIX, seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, publicBytes: Buffer.from(x!, 'base64url') }
}
