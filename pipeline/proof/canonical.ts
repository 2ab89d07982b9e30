// Canonical JSON, the form in which everything is published, and the hash of bytes.
import { createHash } from 'node:crypto'
import canonicalizeJson from 'canonicalize'
import { ServiceError } from '../../schemas/errors.ts'

/** The canonical bytes of a JSON value (RFC 8785). @throws ServiceError `corrupt` for a value that is not JSON. */
export function canonical(value: unknown): Uint8Array {
  const text = canonicalizeJson(value)
  if (text === undefined) throw new ServiceError('corrupt', 'cannot publish a value that is not JSON')
  return new TextEncoder().encode(text)
}

export function sha256Hex(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
