// The form of API keys, with a checksum that exposes a wrong key without a look-up.
import { crc32 } from 'node:zlib'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'
import { sha256Hex } from '../proof/canonical.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ID_LENGTH = 8
const SECRET_LENGTH = 32
const CHECKSUM_LENGTH = 6

/** The prefixes are fixed and of one length, so that secret scanners can match them. */
export const KEY_PREFIXES: Record<Environment, string> = { production: 'fv_live_', sandbox: 'fv_test_' }
/** The length of a whole key. */
export const KEY_LENGTH =
  KEY_PREFIXES.production.length + ID_LENGTH + '_'.length + SECRET_LENGTH + CHECKSUM_LENGTH

export interface ApiKey {
  /** The whole key, a secret: `fv_live_` + id + `_` + 32 random characters + checksum. */
  key: string
  /** Its public part, for logs and lists. */
  id: string
}

/** Returns this many random bytes. */
export type RandomBytes = (size: number) => Uint8Array

/**
 * Returns a new key with 190 random bits and the given id, or a random one. `randomBytes` must be a
 * cryptographic source.
 */
export function newApiKey(
  environment: Environment,
  randomBytes: RandomBytes,
  id = randomText(ID_LENGTH, randomBytes),
): ApiKey {
  const body = `${KEY_PREFIXES[environment]}${id}_${randomText(SECRET_LENGTH, randomBytes)}`
  return { key: body + checksum(body), id }
}

/** Returns the id of an agent's first key. It follows from the agent's id, so that one record holds both. */
export function firstKeyId(agentId: string): string {
  let rest = BigInt(`0x${sha256Hex(agentId)}`)
  let id = ''
  for (let digit = 0; digit < ID_LENGTH; digit++) {
    id += ALPHABET[Number(rest % BigInt(ALPHABET.length))]!
    rest /= BigInt(ALPHABET.length)
  }
  return id
}

const ID = `[0-9A-Za-z]{${ID_LENGTH}}`
const FORM = new RegExp(
  `^(?:${Object.values(KEY_PREFIXES).join('|')})${ID}_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`,
)
/** An id as operators give it: bare, or with its prefix. */
const NAMED = new RegExp(`^(${Object.values(KEY_PREFIXES).join('|')})?(${ID})$`)

/** Matches a character as it is, or percent-encoded any number of times as a path may spell it. */
const spelt = (character: string) => {
  const code = character.charCodeAt(0).toString(16)
  return `(?:${character}|%(?:25)*${code.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`)})`
}
const speltOut = (text: string) => Array.from(text, spelt).join('')
/** Matches more than letters and digits, but misses none. */
const ALPHANUMERIC = '(?:[0-9A-Za-z]|%(?:25)*[3-7][0-9A-Fa-f])'
/** Matches a key in any text, even if its secret part is cut short. */
const ANYWHERE = new RegExp(
  `((?:${Object.values(KEY_PREFIXES).map(speltOut).join('|')})${ALPHANUMERIC}{${ID_LENGTH}}${spelt('_')})` +
    `${ALPHANUMERIC}{1,${SECRET_LENGTH + CHECKSUM_LENGTH}}`,
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

/**
 * Returns the id of a key, given the id alone or with its prefix.
 *
 * @throws ServiceError `invalid`. The message never holds the text, which may be a whole key or most of one.
 */
export function namedKeyId(text: string, environment: Environment): string {
  const [, prefix, id] = NAMED.exec(text) ?? []
  const form = `the ${ID_LENGTH} letters and digits between ${KEY_PREFIXES[environment]} and the next _`
  if (id === undefined) {
    const what =
      redactKeys(text) === text
        ? `what was given, ${text.length} characters, is not the id of a key`
        : 'a whole API key was given, which stays in the history of the shell and is not needed'
    throw new ServiceError('invalid', `${what}; name the key by its id, ${form}`)
  }
  if (prefix !== undefined && prefix !== KEY_PREFIXES[environment]) {
    throw new ServiceError(
      'invalid',
      `a key that begins with ${prefix} is not one of ${environment}: name its environment with --environment`,
    )
  }
  return id
}

/** Returns a text without the secret part of any key in it, for logs. */
export function redactKeys(text: string): string {
  return text.replace(ANYWHERE, '$1[redacted]')
}

/** Returns this many random letters and digits. */
export function randomText(length: number, randomBytes: RandomBytes): string {
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
