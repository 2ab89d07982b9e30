// The audit of the credentials of a release finds each that says what no release says.
import { beforeEach, expect, test } from 'vitest'
import { checkCredentials } from '../../pipeline/audit/credentials-check.ts'
import type { AuditReport } from '../../pipeline/audit/report.ts'
import { type CredentialIssuer, issueCredentials } from '../../pipeline/credentials/issue.ts'
import { credentialKeyText, parseCredentialKey } from '../../pipeline/credentials/keys.ts'
import { makeOf } from '../../pipeline/credentials/read.ts'
import { canonical, decoded, sha256Hex } from '../../pipeline/proof/canonical.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import type { MemoryStore } from '../../pipeline/store/memory.ts'
import { credentialIssuePath, credentialsPrefix } from '../../pipeline/store/paths.ts'
import type { CredentialFile, CredentialIssue } from '../../schemas/credentials.ts'
import { recordIn, setRecord } from '../support/store-content.ts'
import { boardAgent, putBoards, storeOfBoards } from '../support/worlds/boards.ts'

const KEY = parseCredentialKey(credentialKeyText(new Uint8Array(32).fill(1)))
const ISSUER: CredentialIssuer = { url: 'https://forecasts.example.org', keys: [KEY] }
const [CERTIFIED, OTHER, LOST] = [1, 2, 3].map(boardAgent) as [string, string, string]
const BOARDS = { agents: { 1: 'certified', 2: 'certified', 3: 'measured' } }

let store: MemoryStore

beforeEach(async () => {
  store = await storeOfBoards()
  putBoards(store, 1, { agents: { 3: 'certified' } })
  await issueCredentials({ store, credentialIssuer: ISSUER, log: () => undefined }, 1)
  putBoards(store, 2, BOARDS)
  await issueCredentials({ store, credentialIssuer: ISSUER, log: () => undefined }, 2)
})

async function audited(release = 2): Promise<{ faults: string[]; checked: number }> {
  const report = { faults: [], credentials_checked: 0 } as unknown as AuditReport
  await checkCredentials(store, (await readManifest(store, release))!, report)
  return { faults: report.faults, checked: report.credentials_checked }
}

/** Changes the first file of the last issue, and the record to fit it, as only the operator can. */
function forge(change: (content: CredentialFile) => void, of: 'files' | 'status_lists' = 'files'): void {
  const record = recordIn(store, credentialIssuePath(2)) as unknown as CredentialIssue
  const file = record[of][0]!
  const path = credentialsPrefix(2, makeOf(record)) + file.path
  const content = JSON.parse(decoded(store.objects.get(path)!)) as CredentialFile
  change(content)
  const bytes = canonical(content)
  store.objects.set(path, bytes)
  Object.assign(file, { size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) })
  setRecord(store, credentialIssuePath(2), record)
}

test('finds nothing in what was issued, and looks at the release that it was issued for', async () => {
  expect(await audited()).toEqual({ faults: [], checked: 2 })
  expect(await audited(1)).toEqual({ faults: [], checked: 0 })
})

test.for([
  [
    'a higher skill',
    (content) => Object.assign(content[CERTIFIED]!, { skill: 0.9 }),
    `the credential of ${CERTIFIED} says`,
  ],
  [
    'a signature by another key',
    (content) => Object.assign(content[CERTIFIED]!, { proof: 'z1' }),
    `the key ${KEY.multikey} has not signed the credential of ${CERTIFIED}`,
  ],
  [
    'one for somebody without a title',
    (content) => Object.assign(content, { [LOST]: { ...content[CERTIFIED], index: 0 } }),
    `${LOST} is not certified, and has a credential`,
  ],
  [
    'one that is left out',
    (content) => delete content[OTHER],
    `${OTHER} is certified, and has no credential`,
  ],
  [
    'an index that was revoked, and is to stand again',
    (content) => Object.assign(content[CERTIFIED]!, { index: 0 }),
    `the credential of ${CERTIFIED} says`,
  ],
  [
    'an index of two',
    (content) => Object.assign(content[OTHER]!, { index: 1 }),
    'is that of another one too',
  ],
] satisfies [string, (content: CredentialFile) => unknown, string][])(
  'finds %s',
  async ([, change, fault]) => {
    forge(change)
    expect((await audited()).faults.join('\n')).toContain(fault)
  },
)

test('finds a status list that does not revoke a lost title', async () => {
  forge((list) => {
    const subject = (list as unknown as { credentialSubject: { encodedList: string } }).credentialSubject
    subject.encodedList = `${subject.encodedList.slice(0, 20)}A${subject.encodedList.slice(21)}`
  }, 'status_lists')
  expect((await audited()).faults).toEqual([
    `credentials/00000002.json: status list 0 does not revoke every credential that does not stand any more, or is not signed by ${KEY.multikey}`,
  ])
})
