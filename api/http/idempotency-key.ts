// The `Idempotency-Key` header: its form and its parser.
import { ServiceError } from '../../schemas/errors.ts'

export const MAX_KEY_LENGTH = 255
/**
 * Registrations and key rotations need this length, because they derive the API key from the Idempotency-Key.
 */
export const MIN_UNGUESSABLE_LENGTH = 20

/**
 * Returns the key in the header: visible ASCII characters, bare or as the string of RFC 8941 that
 * draft-ietf-httpapi-idempotency-key-header asks for.
 *
 * @throws ServiceError `invalid`; its message does not hold the key, which may be a secret.
 */
export function parseIdempotencyKey(header: string): string {
  const quoted = /^"((?:[!#-[\]-~]|\\["\\])*)"$/.exec(header)?.[1]
  const key = quoted === undefined ? header : quoted.replace(/\\(["\\])/g, '$1')
  const isKey = /^[!-~]+$/.test(key) && key.length <= MAX_KEY_LENGTH
  if (!isKey || (quoted === undefined && key.startsWith('"'))) {
    throw new ServiceError(
      'invalid',
      `the Idempotency-Key must be 1 to ${MAX_KEY_LENGTH} visible ASCII characters, bare or in double quotes; ` +
        `a header of ${header.length} characters was sent`,
      { type: 'invalid-idempotency-key' },
    )
  }
  return key
}

/** @throws ServiceError `invalid` for a key so short that others could find it by trying. */
export function assertUnguessable(key: string): void {
  if (key.length >= MIN_UNGUESSABLE_LENGTH) return
  throw new ServiceError(
    'invalid',
    `the Idempotency-Key of a registration must have at least ${MIN_UNGUESSABLE_LENGTH} characters, ` +
      `and this one has ${key.length}: use a random UUID`,
    { type: 'invalid-idempotency-key' },
  )
}
