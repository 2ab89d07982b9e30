// Canonical JSON, the form in which everything is published, and the hash of bytes.
import { hash } from 'node:crypto'
import canonicalizeJson from 'canonicalize'
import { ServiceError } from '../../schemas/errors.ts'

/** The canonical bytes of a JSON value (RFC 8785). @throws ServiceError `corrupt` for a value that is not JSON. */
export function canonical(value: unknown): Uint8Array {
  return encoded(canonicalText(value))
}

export function canonicalText(value: unknown): string {
  const text = canonicalizeJson(value)
  if (text === undefined) throw new ServiceError('corrupt', 'cannot publish a value that is not JSON')
  return text
}

/** The canonical text of an object whose members are canonical texts already, so that large ones are made once. */
export function canonicalObject(members: Readonly<Record<string, string>>): string {
  const sorted = Object.keys(members).sort()
  return `{${sorted.map((name) => `${JSON.stringify(name)}:${members[name]}`).join(',')}}`
}

export function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** @throws ServiceError `invalid` for bytes that are not UTF-8. */
export function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new ServiceError('invalid', `these ${bytes.byteLength} bytes are not UTF-8`, { cause })
  }
}

export function sha256Hex(bytes: Uint8Array | string): string {
  return hash('sha256', bytes, 'hex')
}
