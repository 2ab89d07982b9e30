// API keys: their form, and why one is refused before anything is looked up.
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ID_LENGTH = 8
const SECRET_LENGTH = 32
const CHECKSUM_LENGTH = 6

export type KeyEnvironment = 'production' | 'sandbox'

/** The fixed beginnings that secret scanners can match. */
const PREFIXES: Record<KeyEnvironment, string> = { production: 'fv_live_', sandbox: 'fv_test_' }

export interface ApiKey {
  /** The whole key, a secret: `fv_live_` + id + `_` + 32 random characters + checksum. */
  key: string
  /** Its public part, for logs and lists. */
  id: string
}

/** A new key of 190 bits of chance; `randomBytes` must be a cryptographic source. */
export function newApiKey(environment: KeyEnvironment, randomBytes: (size: number) => Uint8Array): ApiKey {
  const id = randomText(ID_LENGTH, randomBytes)
  const body = `${PREFIXES[environment]}${id}_${randomText(SECRET_LENGTH, randomBytes)}`
  return { key: body + checksum(body), id }
}

const FORM = new RegExp(
  `^(fv_live_|fv_test_)[0-9A-Za-z]{${ID_LENGTH}}_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`,
)

/** Whether a text has the form and the checksum of a key: others need no look-up. */
export function isWellFormedKey(text: string): boolean {
  if (!FORM.test(text)) return false
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

function randomText(length: number, randomBytes: (size: number) => Uint8Array): string {
  let text = ''
  // Bytes past the last multiple of 62 would favour the first letters.
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
