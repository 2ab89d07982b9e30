// Checks the credentials that were issued for a release: who has one, the facts in it, its signature, and
// which ones the status lists revoke.
import { type Secured, isSignedBy, proofOptions } from '../credentials/data-integrity.ts'
import { FORM, credentialOf, issuerOf, statusListOf } from '../credentials/documents.ts'
import { holdersOf, indicesFor, revokedIn } from '../credentials/issue.ts'
import { lastIssue, readCredentialFile, readIssue, readIssueBytes } from '../credentials/read.ts'
import { canonicalText, decoded } from '../proof/canonical.ts'
import { credentialIssuePath } from '../store/paths.ts'
import { isThinned } from '../release/read.ts'
import type { Store } from '../store/store.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { AuditReport } from './report.ts'

/** Checks the last issue, if it is of this release. */
export async function checkCredentials(
  store: Store,
  { release, files }: ReleaseManifest,
  report: AuditReport,
): Promise<void> {
  const issue = await lastIssue(store)
  const record = issue === 0 ? undefined : await readIssue(store, issue)
  if (record?.release !== release || (await isThinned(store, release))) return
  if (record.form !== FORM) {
    report.notes.push('another version of the service issued the credentials: it checks them')
    return
  }
  const fault = (what: string) => report.faults.push(`${credentialIssuePath(issue)}: ${what}`)
  const key = record.keys[0]!
  const options = proofOptions(`${issuerOf(record.url)}#${key}`, record.as_of)
  const securedBy = (document: ReturnType<typeof credentialOf>, proofValue: string): Secured => ({
    ...document,
    proof: [{ ...options, proofValue }],
  })
  const holders = await holdersOf(store, release, files)
  const before = issue === 1 ? undefined : await readIssue(store, issue - 1)
  const { indices, next_index } = await indicesFor(store, issue - 1, before, record, holders)
  if (record.next_index !== next_index) {
    fault(`next_index is ${record.next_index}, and after the issue before it must be ${next_index}`)
  }
  const standing = new Set<number>()
  for (const file of record.files) {
    for (const [id, held] of Object.entries(await readCredentialFile(store, issue, record, file))) {
      if (standing.has(held.index)) fault(`the index ${held.index} of ${id} is that of another one too`)
      standing.add(held.index)
      const facts = holders[file.entity_type].get(id)
      holders[file.entity_type].delete(id)
      const { proof, ...stated } = held
      const expected = facts && { index: indices[file.entity_type].get(id)!, ...facts }
      if (!expected) fault(`${id} is not certified, and has a credential`)
      else if (canonicalText(stated) !== canonicalText(expected)) {
        fault(
          `the credential of ${id} says ${canonicalText(stated)}, and the release ${canonicalText(expected)}`,
        )
      } else if (
        !(await isSignedBy(securedBy(credentialOf(record, file.entity_type, id, expected), proof), key))
      ) {
        fault(`the key ${key} has not signed the credential of ${id}`)
      } else report.credentials_checked += 1
    }
  }
  for (const [id] of [...holders.agent, ...holders.forecaster]) {
    fault(`${id} is certified, and has no credential`)
  }
  for (const [number, file] of record.status_lists.entries()) {
    const bytes = await readIssueBytes(store, issue, record, file)
    const list = JSON.parse(decoded(bytes)) as Partial<Secured>
    const expected = statusListOf(record, number, revokedIn(number, next_index, standing))
    const secured = securedBy(expected, list.proof?.[0]?.proofValue ?? '')
    if (canonicalText(list) !== canonicalText(secured) || !(await isSignedBy(secured, key))) {
      fault(
        `status list ${number} does not revoke every credential that does not stand any more, or is not signed by ${key}`,
      )
    }
  }
}
