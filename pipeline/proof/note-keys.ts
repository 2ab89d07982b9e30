// Reads and writes the keys of signed notes (https://c2sp.org/signed-note, "Verifier keys"; the signing key
// as golang.org/x/mod/sumdb/note writes it). All are Ed25519 (RFC 8032).
import { type KeyObject, hash } from 'node:crypto'
import { ServiceError } from '../../schemas/errors.ts'
import { base64Of, bytesOfBase64 } from './base64.ts'
import { encoded } from './canonical.ts'
import { hexOf, sha256 } from './digest.ts'
import { KEY_BYTES, keyPairOf } from './ed25519.ts'
import { isKeyName } from './note.ts'
import { quoted } from './quoted.ts'

/**
 * The first byte of a key's encoding says what it signs: checkpoints, or checkpoints with a time as witnesses
 * do.
 */
const TYPES = { log: 0x01, witness: 0x04 } as const
export type KeyUse = keyof typeof TYPES

const PRIVATE = 'PRIVATE+KEY+'
const KEY_ID_DIGITS = 8

export interface VerifierKey {
  name: string
  use: KeyUse
  /** The first four bytes of SHA-256(name ‖ 0x0A ‖ type ‖ public key), in hex. */
  keyId: string
  /** 32 bytes. */
  publicBytes: Uint8Array
}

export interface SigningKey {
  verifier: VerifierKey
  privateKey: KeyObject
}

/**
 * Parses `<name>+<8 hex>+<base64 of the type and the public key>`. @throws ServiceError `invalid` with the
 * text, unless it is a secret.
 */
export function parseVerifierKey(text: string): VerifierKey {
  const parts = keyParts(text)
  return verifierKeyIn(text, parts, parts && verifierKeyOf(parts).keyId)
}

/** As `parseVerifierKey`, by WebCrypto. */
export async function readVerifierKey(text: string): Promise<VerifierKey> {
  const parts = keyParts(text)
  return verifierKeyIn(text, parts, parts && hexOf(await sha256(namedBytes(parts))).slice(0, KEY_ID_DIGITS))
}

/** @param expected the id that its parts give. */
function verifierKeyIn(text: string, parts: KeyParts | undefined, expected: string | undefined): VerifierKey {
  if (parts && parts.keyId === expected) return keyOf(parts, expected)
  if (text.startsWith(PRIVATE)) {
    throw new ServiceError('invalid', 'this is a signing key, which is secret, and no verifier key')
  }
  const wrong = expected === undefined ? '' : `, whose id would be ${expected}`
  throw new ServiceError('invalid', `this is no verifier key${wrong}: ${quoted(text)}`)
}

export function verifierKeyText({ name, keyId, use, publicBytes }: VerifierKey): string {
  return `${name}+${keyId}+${base64Of(Uint8Array.of(TYPES[use], ...publicBytes))}`
}

/**
 * Parses `PRIVATE+KEY+<name>+<8 hex of the public key's id>+<base64 of the type and the seed>`.
 *
 * @throws ServiceError `invalid`. The message holds nothing of the text, because it is a secret.
 */
export function parseSigningKey(text: string): SigningKey {
  const parts = text.startsWith(PRIVATE) ? keyParts(text.slice(PRIVATE.length)) : undefined
  if (parts === undefined) {
    throw new ServiceError(
      'invalid',
      `a signing key is ${PRIVATE}<name>+<8 hex>+<base64 of its type and seed>`,
    )
  }
  const key = signingKeyOf(parts.name, parts.use, parts.material)
  if (key.verifier.keyId === parts.keyId) return key
  throw new ServiceError('invalid', 'the id of the signing key is not that of its public key')
}

/** Returns the secret text of the key of a seed. @throws ServiceError `invalid` as `signingKeyOf`. */
export function signingKeyText(name: string, use: KeyUse, seed: Uint8Array): string {
  const { keyId } = signingKeyOf(name, use, seed).verifier
  return `${PRIVATE}${name}+${keyId}+${base64Of(Buffer.from([TYPES[use], ...seed]))}`
}

/**
 * Returns the key of a seed of 32 bytes. @throws ServiceError `invalid` for a name that no key can have, and
 * for a seed of another length.
 */
export function signingKeyOf(name: string, use: KeyUse, seed: Uint8Array): SigningKey {
  if (!isKeyName(name)) {
    throw new ServiceError('invalid', `a key cannot have the name ${quoted(name)}`)
  }
  if (seed.byteLength !== KEY_BYTES) {
    throw new ServiceError('invalid', `a seed has ${KEY_BYTES} bytes, not ${seed.byteLength}`)
  }
  const { privateKey, publicBytes } = keyPairOf(seed)
  return { verifier: verifierKeyOf({ name, use, material: publicBytes }), privateKey }
}

interface NamedKey {
  name: string
  use: KeyUse
  /** The public key, or the seed of a signing key. */
  material: Uint8Array
}

interface KeyParts extends NamedKey {
  keyId: string
}

function verifierKeyOf(key: NamedKey): VerifierKey {
  return keyOf(key, hash('sha256', namedBytes(key), 'hex').slice(0, KEY_ID_DIGITS))
}

function keyOf({ name, use, material }: NamedKey, keyId: string): VerifierKey {
  return { name, use, keyId, publicBytes: new Uint8Array(material) }
}

/** Returns the bytes whose hash begins with the id of a key. */
function namedBytes({ name, use, material }: NamedKey): Uint8Array {
  return Uint8Array.of(...encoded(`${name}\n`), TYPES[use], ...material)
}

/**
 * Splits `<name>+<8 hex>+<base64 of the type and 32 bytes>` into its parts; returns undefined for anything
 * else.
 */
function keyParts(text: string): KeyParts | undefined {
  const match = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/.exec(text)
  if (match === null || !isKeyName(match[1]!)) return undefined
  const [type, ...material] = bytesOfBase64(match[3]!)
  const use = (Object.keys(TYPES) as KeyUse[]).find((each) => TYPES[each] === type)
  return use && { name: match[1]!, keyId: match[2]!, use, material: Uint8Array.from(material) }
}
