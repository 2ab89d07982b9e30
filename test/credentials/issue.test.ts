// Credentials are issued after a release: for whom, with which index, under which key, and whole whatever
// happens.
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { Credentials } from '../../api/published/credentials.ts'
import { type Secured, isSignedBy } from '../../pipeline/credentials/data-integrity.ts'
import { type CredentialIssuer, issueCredentials } from '../../pipeline/credentials/issue.ts'
import { credentialKeyText, parseCredentialKey } from '../../pipeline/credentials/keys.ts'
import { lastIssue, makeOf } from '../../pipeline/credentials/read.ts'
import type { MemoryStore } from '../../pipeline/store/memory.ts'
import { credentialIssuePath, manifestPath } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { CredentialIssue } from '../../schemas/credentials.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { contentOf, copyOf, recordIn, setRecord } from '../support/store-content.ts'
import { boardAgent, boardPerson, putBoards, storeOfBoards } from '../support/worlds/boards.ts'
import { runs } from '../support/runs.ts'

const key = (seed: number) => parseCredentialKey(credentialKeyText(new Uint8Array(32).fill(seed)))
const [KEY, OTHER] = [key(1), key(2)]
const ISSUER: CredentialIssuer = { url: 'https://forecasts.example.org', keys: [KEY] }

let store: MemoryStore

beforeEach(async () => {
  store = await storeOfBoards()
})

const issue = (release: number, issuer: CredentialIssuer | null = ISSUER, into: Store = store) =>
  issueCredentials({ store: into, credentialIssuer: issuer ?? undefined, log: () => undefined }, release)

async function served(): Promise<Credentials> {
  const credentials = new Credentials(store)
  await credentials.refresh()
  return credentials
}

async function credentialOf(
  release: number,
  entityType: EntityType,
  id: string,
): Promise<Secured | undefined> {
  const bytes = await (await served()).issuedCredential(release, entityType, id)
  return bytes && (JSON.parse(Buffer.from(bytes).toString()) as Secured)
}

const agentCredential = (release: number, number: number) =>
  credentialOf(release, 'agent', boardAgent(number))

/** The indices that the first status list revokes. */
async function revoked(): Promise<number[]> {
  const bytes = await (await served()).statusList(0)
  const list = JSON.parse(Buffer.from(bytes!).toString()) as Secured & {
    credentialSubject: { encodedList: string }
  }
  expect(await isSignedBy(list, KEY.multikey)).toBe(true)
  const bits = gunzipSync(Buffer.from(list.credentialSubject.encodedList.slice(1), 'base64url'))
  return [...bits].flatMap((byte, at) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte & (0x80 >> bit)).map((bit) => 8 * at + bit),
  )
}

const indexOf = (credential: Secured | undefined) =>
  (credential?.['credentialStatus'] as { statusListIndex: string } | undefined)?.statusListIndex

test('everyone who is certified gets one, which the key has signed', async () => {
  putBoards(store, 1, {
    agents: { 1: 'certified', 2: 'measured', 3: 'none' },
    people: { 1: 'none', 2: 'certified', 3: 'measured' },
  })
  await issue(1)
  const found = await Promise.all([
    ...[1, 2, 3].map((number) => credentialOf(1, 'agent', boardAgent(number))),
    ...[1, 2, 3].map((number) => credentialOf(1, 'forecaster', boardPerson(number))),
  ])
  expect(found.map((credential) => credential?.['name'])).toEqual([
    'Certified forecaster',
    undefined,
    undefined,
    undefined,
    'Certified forecaster',
    undefined,
  ])
  for (const credential of found)
    if (credential) expect(await isSignedBy(credential, KEY.multikey)).toBe(true)
  expect(await revoked()).toEqual([])
  expect(found[0]).toMatchObject({
    id: `https://forecasts.example.org/agents/${boardAgent(1)}/credential#1`,
    validFrom: '2026-03-01T12:00:00.000Z',
    validUntil: '2026-05-30T12:00:00.000Z',
    proof: [{ created: '2026-03-01T12:00:00.000Z' }],
  })
})

test('an agent is named in it, and a person is not', async () => {
  putBoards(store, 1, { agents: { 1: 'certified' }, people: { 1: 'certified' } })
  await issue(1)
  expect(JSON.stringify(await agentCredential(1, 1))).toContain(String.raw`"identityHash":"agent \"1\""`)
  const all = [...store.objects].filter(([path]) => path.startsWith('credentials/'))
  expect(all.map(([, bytes]) => Buffer.from(bytes).toString()).join()).not.toContain('A Name')
})

test('an index is of what was signed: a title that is lost and won again takes a new one', async () => {
  putBoards(store, 1, { agents: { 2: 'certified', 3: 'certified' }, people: { 1: 'certified' } })
  putBoards(store, 2, { agents: { 1: 'certified', 2: 'measured', 3: 'certified' }, retired: [3] })
  putBoards(store, 3, { agents: { 1: 'certified', 2: 'certified' }, people: { 1: 'certified' } })
  const indices = async (release: number) => ({
    agents: await Promise.all(
      [1, 2, 3].map(async (number) => indexOf(await agentCredential(release, number))),
    ),
    person: indexOf(await credentialOf(release, 'forecaster', boardPerson(1))),
    revoked: await revoked(),
  })
  await issue(1)
  expect(await indices(1)).toEqual({ agents: [undefined, '0', '1'], person: '2', revoked: [] })
  await issue(2)
  expect(await indices(2)).toEqual({
    agents: ['3', undefined, undefined],
    person: undefined,
    revoked: [0, 1, 2],
  })
  await issue(3)
  expect(await indices(3)).toEqual({ agents: ['3', '4', undefined], person: '5', revoked: [0, 1, 2] })
})

test('another name and another method are other credentials too', async () => {
  putBoards(store, 1, { agents: { 1: 'certified', 2: 'certified' } })
  putBoards(store, 2, { agents: { 1: 'certified', 2: 'certified' }, renamed: { 2: 'another' } })
  putBoards(store, 3, { agents: { 1: 'certified' } })
  setRecord(store, manifestPath(3), {
    ...recordIn(store, manifestPath(3)),
    methodology_version: '9.0.0',
  })
  await issue(1)
  await issue(2)
  expect([indexOf(await agentCredential(2, 1)), indexOf(await agentCredential(2, 2))]).toEqual(['0', '2'])
  expect(await revoked()).toEqual([1])
  await issue(3)
  expect(indexOf(await agentCredential(3, 1))).toBe('3')
  expect(await revoked()).toEqual([0, 1, 2])
})

test('no run of titles revives an index, or revokes one that stands', async () => {
  const titles = fc.constantFrom('certified', 'measured')
  const boards = fc.array(fc.tuple(titles, titles), { minLength: 2, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(boards, async (releases) => {
      store = await storeOfBoards()
      const everRevoked = new Set<number>()
      for (const [at, [one, two]] of releases.entries()) {
        putBoards(store, at + 1, { agents: { 1: one, 2: two } })
        await issue(at + 1)
        const set = await revoked()
        for (const index of everRevoked) expect(set).toContain(index)
        for (const index of set) everRevoked.add(index)
        for (const number of [1, 2]) {
          const index = indexOf(await agentCredential(at + 1, number))
          if (index !== undefined) expect(set).not.toContain(Number(index))
        }
      }
    }),
    { numRuns: runs(20) },
  )
})

test('a release that was not issued for is made up for by the next', async () => {
  putBoards(store, 1, { agents: { 1: 'certified' } })
  putBoards(store, 2, { agents: { 1: 'certified', 2: 'certified' } })
  putBoards(store, 3, { agents: { 2: 'certified' } })
  await issue(1)
  await issue(3)
  expect([indexOf(await agentCredential(3, 2)), await revoked()]).toEqual(['1', [0]])
})

test('without a key nothing is written, and credentials of the release before the last are not served', async () => {
  putBoards(store, 1, { agents: { 1: 'certified' } })
  await issue(1, null)
  expect(await contentOf(store, 'credentials/')).toEqual({})
  await issue(1)
  expect(await agentCredential(2, 1)).toBeDefined()
  expect(await agentCredential(3, 1)).toBeUndefined()
})

describe('the key', () => {
  beforeEach(async () => {
    putBoards(store, 1, { agents: { 1: 'certified' } })
    await issue(1)
  })

  const keysServed = async () =>
    (await served()).issuer?.verificationMethod.map(({ publicKeyMultibase }) => publicKeyMultibase)

  test('is replaced without a release, and the old one is named until it is left out', async () => {
    const before = await agentCredential(1, 1)
    await issue(1, { ...ISSUER, keys: [OTHER, KEY] })
    expect(await keysServed()).toEqual([OTHER.multikey, KEY.multikey])
    const after = await agentCredential(1, 1)
    expect(await isSignedBy(after!, OTHER.multikey)).toBe(true)
    expect(await isSignedBy(before!, OTHER.multikey)).toBe(false)
    expect(indexOf(after)).toBe(indexOf(before))
    await issue(1, { ...ISSUER, keys: [OTHER] })
    expect(await keysServed()).toEqual([OTHER.multikey])
  })

  test('of another run at the same moment loses, and leaves what was published whole', async () => {
    const own = copyOf(store)
    putBoards(store, 2, { agents: { 1: 'certified' } })
    putBoards(own, 2, { agents: { 1: 'certified' } })
    await issue(2, { ...ISSUER, keys: [OTHER] }, own)
    await issue(2)
    for (const [path, bytes] of own.objects) await store.putIfAbsent(path, bytes)
    expect(await isSignedBy((await agentCredential(2, 1))!, KEY.multikey)).toBe(true)
  })

  test('is used once for a release: the second run writes nothing', async () => {
    const watched = new FaultStore(store)
    await issue(1, ISSUER, watched)
    expect(watched.writes).toBe(0)
    expect(await lastIssue(store)).toBe(1)
  })
})

test('files go with the third issue after theirs, and records stay', async () => {
  for (const release of [1, 2, 3, 4]) {
    putBoards(store, release, { agents: { 1: 'certified' } })
    await issue(release)
  }
  const paths = Object.keys(await contentOf(store, 'credentials/'))
  expect(paths.filter((path) => path.startsWith('credentials/00000001'))).toEqual([
    'credentials/00000001.json',
  ])
  expect(paths.filter((path) => path.startsWith('credentials/00000002'))).toHaveLength(3)
})

test('a file that is damaged or gone stops the next issue, and is named', async () => {
  putBoards(store, 1, { agents: { 1: 'certified' } })
  await issue(1)
  putBoards(store, 2, { agents: { 1: 'certified' } })
  const [path] = [...store.objects.keys()].filter((each) =>
    each.endsWith(`/agent/${boardAgent(1)}.json`),
  ) as [string]
  store.objects.set(path, new TextEncoder().encode('{}'))
  await expect(issue(2)).rejects.toMatchObject({
    kind: 'corrupt',
    message: expect.stringContaining(path) as string,
  })
  store.objects.delete(path)
  await expect(issue(2)).rejects.toMatchObject({
    kind: 'corrupt',
    message: expect.stringContaining(path) as string,
  })
})

describe('cut off at any write, or run twice at once,', () => {
  beforeEach(async () => {
    putBoards(store, 1, { agents: { 1: 'certified', 2: 'certified' }, people: { 1: 'certified' } })
    await issue(1)
    putBoards(store, 2, { agents: { 1: 'measured', 3: 'certified' }, people: { 1: 'certified' } })
  })

  test.for(FAULTS)('it is made up for by the next run, to the same bytes (%s)', async (fault) => {
    const clean = copyOf(store)
    await issue(2, ISSUER, clean)
    const expected = await contentOf(clean, 'credentials/')
    for (let at = 1; ; at++) {
      const own = copyOf(store)
      const cut = new FaultStore(own, { at, fault, crash: true })
      const ended = await issue(2, ISSUER, cut).then(
        () => true,
        () => false,
      )
      if (ended) return expect(at).toBeGreaterThan(4)
      await issue(2, ISSUER, own)
      expect(await contentOf(own, 'credentials/'), `write ${at}`).toEqual(expected)
    }
  })

  test('a slower run for the release before leaves the files of the faster one whole', async () => {
    putBoards(store, 3, { agents: { 4: 'certified' } })
    const isPublished = Promise.withResolvers<void>()
    const slow = new FaultStore(store, {
      before: ({ operation, path }) =>
        operation === 'put' && path.includes('/status/') ? isPublished.promise : undefined,
    })
    const slower = issue(2, ISSUER, slow)
    await issue(3)
    isPublished.resolve()
    await slower
    expect(indexOf(await agentCredential(3, 4))).toBe('3')
    await issue(2)
    expect(indexOf(await agentCredential(3, 4))).toBe('3')
  })

  test('it publishes one issue', async () => {
    await Promise.all([issue(2), issue(2)])
    expect(await lastIssue(store)).toBe(2)
    expect(await revoked()).toEqual([0, 1])
  })
})

test('an issue of another form of documents is served by nobody, and replaced by the next run', async () => {
  putBoards(store, 1, { agents: { 1: 'certified' } })
  await issue(1)
  const record = { ...recordIn(store, credentialIssuePath(1)), form: 0 }
  setRecord(store, credentialIssuePath(1), record)
  const [file] = [...store.objects].find(([path]) => path.includes('/agent/00000000-0000-4000-8003'))!
  // The files of the other version lie where it names them.
  const other = file.replace(/[0-9a-f]{16}/, makeOf(record as unknown as CredentialIssue))
  store.objects.set(other, store.objects.get(file)!)
  await expect(agentCredential(1, 1)).rejects.toMatchObject({ kind: 'unavailable' })
  await issue(1)
  expect(indexOf(await agentCredential(1, 1))).toBe('0')
})
