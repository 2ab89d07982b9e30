// Checks the credentials that were issued for a release: who has one, the facts in it, its signature, and
// which ones the status lists revoke.
import { type Proof, isSignedBy, proofOptions } from '../credentials/data-integrity.ts'
import { FORM, credentialOf, issuerOf, statusListOf } from '../credentials/documents.ts'
import { holdersOf } from '../credentials/issue.ts'
import { lastIssue, readCredentialFile, readIssue, readIssueBytes } from '../credentials/read.ts'
import { ENTRIES_PER_LIST } from '../credentials/status-list.ts'
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
  const isSigned = (document: ReturnType<typeof credentialOf>, proofValue: string) =>
    isSignedBy({ ...document, proof: { ...options, proofValue } }, key)
  const holders = await holdersOf(store, release, files)
  const revoked: number[] = []
  const indices = new Set<number>()
  for (const file of record.files) {
    for (const [id, held] of Object.entries(await readCredentialFile(store, issue, record, file))) {
      if (indices.has(held.index)) fault(`the index ${held.index} of ${id} is that of another one too`)
      indices.add(held.index)
      const facts = holders[file.entity_type].get(id)
      holders[file.entity_type].delete(id)
      if ('revoked' in held) {
        revoked.push(held.index)
        if (facts) fault(`${id} holds the title ${facts.title}, and its credential is revoked`)
        continue
      }
      const { proof, ...stated } = held
      const expected = facts && { index: held.index, ...facts }
      if (!expected) fault(`${id} holds no title that a credential is made for, and has one`)
      else if (canonicalText(stated) !== canonicalText(expected)) {
        fault(
          `the credential of ${id} says ${canonicalText(stated)}, and the release ${canonicalText(expected)}`,
        )
      } else if (!isSigned(credentialOf(record, file.entity_type, id, expected), proof)) {
        fault(`the key ${key} has not signed the credential of ${id}`)
      } else report.credentials_checked += 1
    }
  }
  for (const [id, { title }] of [...holders.agent, ...holders.forecaster]) {
    fault(`${id} holds the title ${title}, and has no credential`)
  }
  for (const [number, file] of record.status_lists.entries()) {
    const own = revoked.filter((index) => Math.floor(index / ENTRIES_PER_LIST) === number)
    const { proof, ...list } = JSON.parse(
      decoded(await readIssueBytes(store, issue, record, file)),
    ) as ReturnType<typeof statusListOf> & { proof: Proof }
    const expected = statusListOf(record, number, own)
    if (canonicalText(list) !== canonicalText(expected) || !isSigned(expected, proof.proofValue)) {
      fault(
        `status list ${number} does not revoke those who have lost their titles, or is not signed by ${key}`,
      )
    }
  }
}
