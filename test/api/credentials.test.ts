// The calls about credentials: what they answer, and why there is none.
import { beforeAll, describe, expect, test } from 'vitest'
import { isSignedBy, type Secured } from '../../pipeline/credentials/data-integrity.ts'
import { issueCredentials } from '../../pipeline/credentials/issue.ts'
import { credentialKeyText } from '../../pipeline/credentials/keys.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { openBadgeCredential } from '../../schemas/credentials.ts'
import { suiteFolder } from '../support/folder.ts'
import {
  type TestService,
  release,
  startTestService,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { HOLDERS, importCertified } from '../support/worlds/certified-world.ts'
import { LOG_KEY, writeLog } from '../support/worlds/written-log.ts'
import { copyReleasedWorld, forecasterId, uuidOf } from '../support/worlds/world.ts'

const KEY = credentialKeyText(new Uint8Array(32).fill(1))
const folder = await suiteFolder()
let service: TestService
let agentId: string

beforeAll(async () => {
  const store = new MemoryStore()
  ;({ agentId } = await copyReleasedWorld(store))
  const settings = { PUBLIC_URL: 'https://forecasts.example.org', CREDENTIAL_SIGNING_KEY: KEY }
  const components = { ...(await testComponents({ folder, store, settings })), signers: [LOG_KEY] }
  await importCertified(components)
  await release(components)
  await issueCredentials(components, 2)
  await writeLog(store, 2)
  service = await startTestService(components)
  return () => service.stop()
})

describe('a credential', () => {
  test('is that of the release, under a key that the issuer names', async () => {
    const answer = await service.client.get(`/forecaster/${HOLDERS[0]}/credential`)
    expect(answer.headers['content-type']).toBe('application/vc')
    const credential = openBadgeCredential.parse(answer.json())
    expect(credential).toMatchObject({
      name: 'Certified forecaster',
      issuer: { id: 'did:web:forecasts.example.org' },
    })
    const issuer = (await service.client.get('/.well-known/did.json')).json<{
      verificationMethod: { id: string; publicKeyMultibase: string }[]
    }>()
    expect(issuer.verificationMethod.map(({ id }) => id)).toEqual([credential.proof[0]!.verificationMethod])
    const [key] = issuer.verificationMethod
    expect(await isSignedBy(credential as unknown as Secured, key!.publicKeyMultibase)).toBe(true)
    expect((await service.client.get('/did.json')).text).toBe(JSON.stringify(issuer))
  })

  test.for([
    ['application/ld+json, application/json', 'application/ld+json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['application/json;q=0.5, application/vc', 'application/vc'],
    ['*/*', 'application/vc'],
    ['text/html', 'application/vc'],
  ] as const)('is sent to who asks with `Accept: %s` as %s', async ([accept, type]) => {
    for (const path of [`/forecaster/${HOLDERS[0]}/credential`, '/credentials/status/0']) {
      const { status, headers, text } = await service.client.get(path, { Accept: accept })
      expect([status, headers['content-type'], headers.vary]).toEqual([200, type, 'Accept'])
      expect(text).toBe((await service.client.get(path)).text)
    }
  })

  test('names a status list, which is there', async () => {
    const credential = openBadgeCredential.parse(
      (await service.client.get(`/forecaster/${HOLDERS[0]}/credential`)).json(),
    )
    const { pathname } = new URL(credential.credentialStatus.statusListCredential)
    expect((await service.client.get(pathname)).json()).toMatchObject({
      id: credential.credentialStatus.statusListCredential,
      type: ['VerifiableCredential', 'BitstringStatusListCredential'],
    })
    expect((await service.client.get('/credentials/status/1')).status).toBe(404)
  })

  test('names evidence that is there, of people too', async () => {
    const { evidence } = openBadgeCredential.parse(
      (await service.client.get(`/forecaster/${HOLDERS[0]}/credential`)).json(),
    )
    const paths = evidence.map(({ id }) => id.replace('https://forecasts.example.org', ''))
    const answers = await Promise.all(paths.map((path) => service.client.get(path)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test.for([
    [
      'of an agent that lacks skill says so',
      () => `/agents/${agentId}`,
      'no-certificate',
      'its title is measured: the interval of its skill is not above 0',
    ],
    [
      'of a person who has too little skill says so',
      () => `/forecaster/${forecasterId(5)}`,
      'no-certificate',
      'its title is measured: its evidence is',
    ],
    ['of nobody', () => `/agents/${uuidOf(9, 9)}`, 'not-found', 'there is no agent'],
  ] as const)('%s', async ([, path, type, detail]) => {
    const answer = await service.client.get(`${path()}/credential`)
    expect([answer.status, answer.json()]).toMatchObject([404, { type: `/problems/${type}` }])
    expect(answer.json<{ detail: string }>().detail).toContain(detail)
  })
})

test('a service without a key has none, and says so', async () => {
  const { client } = await testService({ folder })
  expect((await client.get('/.well-known/did.json')).json()).toMatchObject({
    detail: 'this service issues no credentials',
  })
  expect((await client.get('/credentials/status/0')).status).toBe(404)
})
