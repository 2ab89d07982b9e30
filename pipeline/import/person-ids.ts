// Ids of people that are made of user names with a secret, so that nobody finds an id by trying names.
import { createHmac } from 'node:crypto'

/** The columns that name a person. */
const PERSON_COLUMNS = new Set(['user_id', 'entity_id'])

/** The function in SQL that gives the id of a person. */
export const PERSON_ID = 'person_id'

export function isOfPerson(column: string): boolean {
  return PERSON_COLUMNS.has(column)
}

/** Returns the version 8 UUID (RFC 9562) of HMAC-SHA256 over the namespace, a line feed and the user name. */
export function personId(secret: string, namespace: string, userName: string): string {
  const bytes = createHmac('sha256', secret).update(`${namespace}\n${userName}`).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Returns a text by which the secret of a namespace is known again. It has a NUL, which no user name has. */
export function checkOf(secret: string, namespace: string): string {
  return createHmac('sha256', secret).update(`${namespace}\n\0check`).digest('hex')
}
