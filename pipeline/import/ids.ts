// Ids that are made of texts in SQL: version 5 UUIDs (RFC 9562), and ids of people that follow from a secret.
import type { Database } from '../duckdb.ts'
import { PERSON_ID, personId } from './person-ids.ts'
import { rowsWith } from './row.ts'

/** An id that is made of a text. */
export interface MadeId {
  /** The SQL of the text. */
  text: string
  namespace: string
  /** Whether it is that of a person and follows from a secret, as `definePersonIds` has defined. */
  isKeyed?: boolean
}

/** The query of the rows of `source` with ids as further columns. A text that is NULL has no id. */
export function rowsWithIds(source: string, ids: Readonly<Record<string, MadeId>>): string {
  const hashes: Record<string, string> = {}
  const uuids: Record<string, string> = {}
  for (const [name, { text, namespace, isKeyed = false }] of Object.entries(ids)) {
    // The UUID needs the digest five times.
    const hash = `hash_${name}`
    hashes[hash] = isKeyed ? `${PERSON_ID}(${text})` : digest(namespace, text)
    uuids[name] = isKeyed ? hash : `if(${hash} IS NULL, NULL, ${uuidOf(hash)})`
  }
  const hashed = Object.keys(hashes)
  return rowsWith(`(${rowsWith(source, hashes)})`, uuids, hashed)
}

const digest = (namespace: string, text: string) =>
  `sha1(unhex('${namespace.replaceAll('-', '')}') || encode(${text}))`

const uuidOf = (hash: string) =>
  `concat_ws('-', ${hash}[1:8], ${hash}[9:12], '5' || ${hash}[14:16],
    '89ab89ab89ab89ab'[strpos('0123456789abcdef', ${hash}[17])] || ${hash}[18:20], ${hash}[21:32])`

/** Defines the ids of people that follow from a secret. */
export function definePersonIds(database: Database, secret: string, namespace: string): void {
  database.define(PERSON_ID, (userName) => personId(secret, namespace, userName))
}
