// Entity tags: the SHA-256 of a body, and the check whether a caller has that body already (RFC 9110,
// 13.1.2).
import { sha256Hex } from '../../pipeline/proof/canonical.ts'

/**
 * Longer bodies that are sent again and again, such as scripts, are hashed once. Hashing a shorter one takes
 * some microseconds.
 */
const LONG_BYTES = 16 * 1024
const tagsOfBytes = new WeakMap<Uint8Array, string>()

/** Returns the strong entity tag of bytes that never change. */
export function entityTag(bytes: Uint8Array): string {
  if (bytes.byteLength < LONG_BYTES) return `"${sha256Hex(bytes)}"`
  const tag = tagsOfBytes.get(bytes) ?? `"${sha256Hex(bytes)}"`
  tagsOfBytes.set(bytes, tag)
  return tag
}

/** A list member: a tag in quotation marks, which may hold commas, or anything else. */
const MEMBERS = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")|[^\s,]+/g

/**
 * Whether an `If-None-Match` names a tag, weak or strong. `Cache-Control` in the request changes nothing,
 * because browsers and `fetch` send `no-cache` with every condition that their caller sets.
 */
export function isNamedBy(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  // Most clients send the tag back exactly as they received it.
  if (header === tag || header.trim() === '*') return true
  return Array.from(header.matchAll(MEMBERS), ([, quoted]) => quoted).includes(tag)
}
