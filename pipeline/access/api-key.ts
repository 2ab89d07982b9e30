// API keys: their form, and the checksum by which a wrong key is refused without a look-up.
import { crc32 } from 'node:zlib'
import type { Environment } from '../../schemas/values.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ID_LENGTH = 8
const SECRET_LENGTH = 32
const CHECKSUM_LENGTH = 6

/** Fixed, so that secret scanners can match them. */
export const KEY_PREFIXES: Record<Environment, string> = { production: 'fv_live_', sandbox: 'fv_test_' }

export interface ApiKey {
  /** The whole key, a secret: `fv_live_` + id + `_` + 32 random characters + checksum. */
  key: string
  /** Its public part, for logs and lists. */
  id: string
}

/** Returns this many random bytes. */
export type RandomBytes = (size: number) => Uint8Array

/** A new key with 190 random bits; `randomBytes` must be a cryptographic source. */
export function newApiKey(environment: Environment, randomBytes: RandomBytes): ApiKey {
  const id = randomText(ID_LENGTH, randomBytes)
  const body = `${KEY_PREFIXES[environment]}${id}_${randomText(SECRET_LENGTH, randomBytes)}`
  return { key: body + checksum(body), id }
}

const SECRET_PART = `[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}`
const PUBLIC_PART = `(?:${Object.values(KEY_PREFIXES).join('|')})[0-9A-Za-z]{${ID_LENGTH}}_`
const FORM = new RegExp(`^${PUBLIC_PART}${SECRET_PART}$`)
/** A key in any text; in a path, the underscores may be percent-encoded. */
const ANYWHERE = new RegExp(
  `(${PUBLIC_PART.replaceAll('_', '(?:_|%5[Ff])')})[0-9A-Za-z]{1,${SECRET_LENGTH + CHECKSUM_LENGTH}}`,
  'g',
)

/** Whether a text has the form and the checksum of a key: anything else needs no look-up. */
export function isWellFormedKey(text: string): boolean {
  if (!FORM.test(text)) return false
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** The public part of a well-formed key. */
export function publicId(key: string): string {
  return key.split('_')[2]!
}

/** A text with the secret part of every key in it left out, for logs. */
export function redactKeys(text: string): string {
  return text.replace(ANYWHERE, '$1[redacted]')
}

function randomText(length: number, randomBytes: RandomBytes): string {
  let text = ''
  // Bytes beyond the last multiple of 62 would make the first letters more likely.
  const limit = 256 - (256 % ALPHABET.length)
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < limit && text.length < length) text += ALPHABET[byte % ALPHABET.length]
    }
  }
  return text
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit++) {
    text = ALPHABET[rest % ALPHABET.length]! + text
    rest = Math.floor(rest / ALPHABET.length)
  }
  return text
}
