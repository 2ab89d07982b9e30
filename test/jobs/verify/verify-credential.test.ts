// `fvs verify` of credentials, by what their issuer answers: genuine ones, and each way in which one is not.
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { runVerify } from '../../../jobs/verify/verify.ts'
import { runVerifyProof } from '../../../jobs/verify/verify-proof.ts'
import { bakedSvg } from '../../../pipeline/credentials/baking.ts'
import { type Issued, didDocument, issuerOf } from '../../../pipeline/credentials/documents.ts'
import { parseSettings } from '../../../schemas/config.ts'
import { RunningCommand } from '../../support/command.ts'
import {
  DAY_MS,
  ENTITY_ID,
  HELD,
  ISSUE,
  KEY,
  OTHER_KEY,
  credential,
  statusList,
} from '../../support/credentials/samples.ts'
import { REPOSITORY } from '../../support/fenced-blocks.ts'
import { suiteFolder } from '../../support/folder.ts'
import { LOG_VKEY } from '../../support/worlds/written-log.ts'

/** The answers of the issuer by path; every other one is 404. */
let answers: Record<string, unknown>
const server = createServer(({ url }, response) => {
  const found = answers[url!]
  response.writeHead(found === undefined ? 404 : 200)
  response.end(Buffer.isBuffer(found) ? found : JSON.stringify(found))
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
afterAll(() => void server.close())

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const issue: Issued = { ...ISSUE, url }
const issuer = issuerOf(url)
const DID = '/.well-known/did.json'
const LIST = '/credentials/status/0'
const PATH = `/agents/${ENTITY_ID}/credential`
const START = Date.parse(ISSUE.as_of)

beforeEach(() => {
  answers = {
    [DID]: didDocument(issuer, [KEY.multikey]),
    [LIST]: statusList([4, 6], issue),
    [PATH]: credential({}, issue),
  }
})

const folder = await suiteFolder()
let files = 0
async function saved(content: object | Uint8Array): Promise<string> {
  files += 1
  const path = join(folder, `${files}`)
  await writeFile(path, content instanceof Uint8Array ? content : JSON.stringify(content))
  return path
}

/** Checks without any secret. */
const verified = (target: string, now = START + DAY_MS) =>
  runVerify(parseSettings({}), target, { environment: 'production' }, new Date(now))
const words = async (content: object, now?: number) => {
  const { ok, text } = await verified(await saved(content), now)
  expect(ok).toBe(false)
  return text
}

test('says in lines what holds, by which key and list, and what it does not show', async () => {
  const target = await saved(credential({}, issue))
  const { ok, text, json } = await verified(target)
  expect(ok, text).toBe(true)
  expect(text.split('\n')).toEqual([
    `${target}: the credential holds`,
    `  agent-credential of ${ENTITY_ID}, release 12 of production, as of ${ISSUE.as_of}, Certified forecaster`,
    `  it is signed by the key ${issuer}#${KEY.multikey}, which ${url}${DID} names`,
    `  it is good from ${ISSUE.as_of} until 2026-05-30T12:00:00.000Z`,
    `  it is not revoked, says ${url}${LIST} of ${ISSUE.as_of}`,
    `  it does not show that ${issuer} is the service that you mean: compare it with the address that you know`,
    `  it does not show that the public log has the record: for that, give the key of the log, fvs verify '${url}/agents/${ENTITY_ID}/verification?release=12' --vkey KEY`,
  ])
  expect(json).toMatchObject({ ok: true, issuer, record: { id: ENTITY_ID, release: 12 } })
})

test('takes it from an address, a badge, and a service under a path', async () => {
  const text = JSON.stringify(credential({ name: ']]> é' }, issue))
  const badge = Buffer.from(bakedSvg('<svg >\n</svg>', text))
  answers[`/agents/${ENTITY_ID}/badge.svg`] = badge
  const targets = [await saved(badge), `${url}/agents/${ENTITY_ID}/badge.svg`, url + PATH]
  for (const target of targets) expect(await verified(target), target).toMatchObject({ ok: true })
  const inFolder = { ...issue, url: `${url}/sandbox`, environment: 'sandbox' as const }
  answers['/sandbox/did.json'] = didDocument(issuerOf(inFolder.url), [KEY.multikey])
  answers[`/sandbox${LIST}`] = statusList([], inFolder)
  const found = await verified(await saved(credential({}, inFolder)))
  expect(found.ok, found.text).toBe(true)
  expect(found.text).toContain('release 12 of sandbox')
})

test('as a command reads a pipe once, asks for no secret, and exits with 0 and 1', async () => {
  // Good when the test runs, whenever that is.
  const today = { ...issue, as_of: new Date(Math.floor(performance.timeOrigin)).toISOString() }
  answers[LIST] = statusList([], today)
  const env = { VERIFICATION_SIGNING_SECRET: '', FVS_ENV_FILE: undefined }
  const command = 'cat "$0" | "$1" "$2" verify /dev/stdin'
  const ended = async (content: object) =>
    new RunningCommand(
      'sh',
      ['-c', command, await saved(content), process.execPath, `${REPOSITORY}jobs/fvs.js`],
      { cwd: folder, env },
    ).ended
  const genuine = credential({}, today)
  const held = await ended(genuine)
  expect(held.code, held.stderr).toBe(0)
  expect(held.stdout).toContain('/dev/stdin: the credential holds')
  const changed = await ended({ ...genuine, name: 'Clever forecaster' })
  expect(changed.code).toBe(1)
  expect(changed.stdout).toContain('it was changed, or another key has signed it')
})

test('refuses one with a changed byte, in its numbers and in its proof', async () => {
  const genuine = credential({}, issue)
  const text = JSON.stringify(genuine)
  expect(await words(JSON.parse(text.replace('0.317', '0.917')) as object)).toContain(
    'does not hold: it was changed, or another key has signed it',
  )
  const created = { ...genuine.proof[0]!, created: '2026-03-01T12:00:00.001Z' }
  expect(await words({ ...genuine, proof: [created] })).toContain('it was changed')
  const [proof] = genuine.proof
  for (const other of [proof, [], [proof, proof]]) {
    expect(await words({ ...genuine, proof: other })).toContain(
      'it has not the form of those of this service (proof:',
    )
  }
  expect(await words({ ...genuine, more: 'x' })).toContain(
    'no credential of this service has the member "more"',
  )
})

test('refuses one by another key, whether it names that or the one of the issuer', async () => {
  const forged = credential({}, issue, OTHER_KEY)
  expect(await words(forged)).toContain(`names no key "${issuer}#${OTHER_KEY.multikey}", or no longer`)
  const verificationMethod = `${issuer}#${KEY.multikey}`
  expect(await words({ ...forged, proof: [{ ...forged.proof[0]!, verificationMethod }] })).toContain(
    'another key has signed it',
  )
  answers[DID] = { ...didDocument(issuer, [KEY.multikey]), assertionMethod: [] }
  expect(await words(credential({}, issue))).toContain('names no key')
})

test('refuses one out of its time, and names the clock that says so', async () => {
  const early = await words(credential({}, issue), START - 1)
  expect(early).toContain('the clock of this computer says 2026-03-01T11:59:59.999Z')
  const late = await words(credential({}, issue), START + 90 * DAY_MS + 1)
  expect(late).toContain('and the clock of this computer says 2026-05-30T12:00:00.001Z')
  expect(late).toContain('\n  it is signed by the key ')
})

test('refuses one that is revoked, and a list that is not signed, or is another one', async () => {
  answers[LIST] = statusList([HELD.index], issue)
  expect(await words(credential({}, issue))).toContain(`it is revoked, says ${url}${LIST} of ${ISSUE.as_of}`)
  answers[LIST] = statusList([], issue, OTHER_KEY)
  expect(await words(credential({}, issue))).toContain(`its status list ${url}${LIST}: `)
  answers[LIST] = { ...statusList([], issue), id: `${url}/credentials/status/1` }
  expect(await words(credential({}, issue))).toContain('is not the status list that it should be')
  const old = { ...issue, as_of: '2025-06-01T12:00:00.000Z' }
  answers[LIST] = statusList([], old)
  expect(await words(credential({}, issue))).toContain('it is good from 2025-06-01')
})

test('refuses the addresses of others, and asks nobody over plain HTTP', async () => {
  const elsewhere = (given: string) => credential({}, { ...ISSUE, url: given })
  expect(await words(elsewhere('http://forecasts.example.org'))).toContain('is not https://')
  const renamed = { ...issue, url }
  const foreign = credential({}, renamed)
  expect(
    await words({ ...foreign, issuer: { ...(foreign['issuer'] as object), id: 'did:web:other.example' } }),
  ).toContain(`its address "${url}" is not that of did:web:other.example`)
  expect(
    await words({ ...foreign, issuer: { ...(foreign['issuer'] as object), url: `${url}/?x=` } }),
  ).toContain('its address')
  expect(await words({ ...foreign, credentialSubject: { id: 'https://other.example/agents/1' } })).toContain(
    `are not of ${url}`,
  )
  answers[DID] = didDocument('did:web:other.example', [KEY.multikey])
  expect(await words(foreign)).toContain(`${url}${DID} is of "did:web:other.example"`)
})

test('refuses the credential of another agent than the address asks for', async () => {
  const other = ENTITY_ID.replace(/1$/, '2')
  answers[`/agents/${other}/credential`] = answers[PATH]
  const { ok, text } = await verified(`${url}/agents/${other}/credential`)
  expect([ok, text]).toEqual([false, expect.stringContaining(`the id "${ENTITY_ID}", not "${other}"`)])
})

test('says what could not be checked where the issuer does not answer, and speaks against nobody', async () => {
  delete answers[LIST]
  const text = await words(credential({}, issue))
  expect(text).toContain(`the credential could not be checked: ${url}${LIST} answered 404`)
  expect(text).toContain('\n  it is good from')
  answers[DID] = { id: issuer }
  expect(await words(credential({}, issue))).toContain(
    `could not be checked: ${url}${DID} answers with another document`,
  )
})

test('sends those of others to verifiers of any, and takes no key of a log', async () => {
  expect(await words({ type: ['VerifiableCredential', 'OpenBadgeCredential'] })).toContain('1EdTech')
  const file = await saved(credential({}, issue))
  await expect(runVerifyProof(file, { vkey: [LOG_VKEY], witness: [] })).rejects.toThrow('is a credential')
})
