// Reads the credentials in the store: the record of an issue, and the files that it names.
import {
  type CredentialFile,
  type CredentialFileEntry,
  type CredentialIssue,
  credentialFile,
  credentialIssue,
} from '../../schemas/credentials.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { canonical, decoded, sha256Hex } from '../proof/canonical.ts'
import { lastNumbered } from '../store/numbered.ts'
import { credentialIssuePath, credentialsPrefix } from '../store/paths.ts'
import { recordAt } from '../store/records.ts'
import { type Store, readChecked } from '../store/store.ts'

/** Returns the number of the last issue of credentials; 0 if there is none. */
export function lastIssue(store: Store, known = 0): Promise<number> {
  return lastNumbered(store, credentialIssuePath, known)
}

export function readIssue(store: Store, issue: number): Promise<CredentialIssue | undefined> {
  return recordAt(store, credentialIssuePath(issue), credentialIssue).get()
}

const MAKE_DIGITS = 16

/** Returns a text that identifies the inputs of an issue besides the issue before it. */
export function makeOf({
  form,
  release,
  url,
  keys,
}: Pick<CredentialIssue, 'form' | 'release' | 'url' | 'keys'>): string {
  return sha256Hex(canonical([form, release, url, keys])).slice(0, MAKE_DIGITS)
}

/** @throws ServiceError `corrupt` for a file that is gone or damaged. */
export async function readCredentialFile(
  store: Store,
  issue: number,
  record: CredentialIssue,
  file: CredentialFileEntry,
): Promise<CredentialFile> {
  const bytes = await readIssueBytes(store, issue, record, file)
  const parsed = credentialFile.safeParse(JSON.parse(decoded(bytes)))
  if (parsed.success) return parsed.data
  const reason = parsed.error.issues[0]?.message
  throw new ServiceError('corrupt', `${file.path} is no file of credentials: ${reason}`)
}

/** @throws ServiceError `corrupt` as `readCredentialFile`. */
export async function readIssueBytes(
  store: Store,
  issue: number,
  record: CredentialIssue,
  { path, sha256 }: Pick<CredentialFileEntry, 'path' | 'sha256'>,
): Promise<Uint8Array> {
  const whole = credentialsPrefix(issue, makeOf(record)) + path
  const found = await readChecked(store, whole, (bytes) => {
    if (sha256Hex(bytes) === sha256) return bytes
    throw new ServiceError('corrupt', `${whole} must have the SHA-256 ${sha256}`)
  })
  if (found) return found
  throw new ServiceError('corrupt', `${whole} is in its record and not in the store`)
}
