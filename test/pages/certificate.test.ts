// The check of a certificate in the browser: pasted, dropped as a badge, and by a link; whole, changed,
// revoked, run out, and of others.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Signer } from '../../pipeline/credentials/data-integrity.ts'
import { issuerOf, statusListOf } from '../../pipeline/credentials/documents.ts'
import { credentialKeyText, parseCredentialKey } from '../../pipeline/credentials/keys.ts'
import { signingKeyOf, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Components } from '../../jobs/components/components.ts'
import { startService } from '../../jobs/serve/service.ts'
import { suiteFolder } from '../support/folder.ts'
import { contextOf, hasBrowser, inPage, launchBrowser, violationsOf } from '../support/http/browser.ts'
import { Client, Clock, testComponents } from '../support/http/service.ts'
import { HOLDERS } from '../support/worlds/certified-world.ts'
import {
  CREDENTIAL_KEY,
  CREDENTIAL_URL,
  credentialWorld,
  releaseAt,
} from '../support/worlds/credential-world.ts'
import { START, after } from '../support/worlds/sandbox.ts'
import { LOG_VKEY } from '../support/worlds/written-log.ts'

const folder = await suiteFolder()
const RELEASED = after(60)
const DAY_MS = 86_400_000
const daysLater = (days: number) => new Date(Date.parse(RELEASED) + days * DAY_MS)

interface Credential {
  '@context': string[]
  id: string
  issuer: { id: string; url: string }
  proof: Record<string, string>[]
  [member: string]: unknown
}

describe.skipIf(!hasBrowser)('the check of a certificate', () => {
  const clock = new Clock(START)
  const holder = `/forecaster/${HOLDERS[0]}`
  let sandbox: Components
  let service: Awaited<ReturnType<typeof startService>>
  let client: Client
  let browser: Browser
  let credential: string
  beforeAll(async () => {
    sandbox = await credentialWorld(new MemoryStore(), folder, clock)
    const production = await testComponents({ store: new MemoryStore(), folder, clock })
    service = await startService({ production, sandbox }, { scheduler: false, firstCallsMs: 0 })
    await service.loaded
    client = new Client(`${service.url}/sandbox`)
    credential = (await client.get(`${holder}/credential`)).text
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await service.stop()
  })

  let context: BrowserContext
  let page: Page
  let trouble: string[]
  const requests: string[] = []
  beforeEach(async () => {
    ;({ context, page, trouble } = await contextOf(browser, 'light'))
    await page.clock.setFixedTime(daysLater(1))
    await page.goto(`${service.url}/sandbox/view/verify`, { waitUntil: 'networkidle' })
    requests.length = 0
    page.on('request', (request) => requests.push(request.url().replace(service.url, '')))
    return () => context.close()
  })

  /** The steps that the form says in the end. */
  async function said(): Promise<string[]> {
    const output = page.locator('form[data-check=any] output')
    await output.filter({ hasText: /✓ It holds|✗/ }).waitFor()
    return (await output.innerText()).split('\n')
  }

  async function checked(given: string, vkey = ''): Promise<string[]> {
    const form = page.locator('form[data-check=any]')
    await form.locator('details').evaluate((details: { open: boolean }) => (details.open = true))
    await form.locator('[name=q]').fill(given)
    await form.locator('#vkey').fill(vkey)
    await form.getByRole('button', { name: 'Check', exact: true }).click()
    return said()
  }

  /** A document like another one, signed again. */
  function signed({ proof: _proof, ...document }: Credential, over: object, key = CREDENTIAL_KEY): string {
    const made = { ...document, ...over } as Credential
    return JSON.stringify(new Signer(key, made.issuer.id, RELEASED).secured(made))
  }
  const parsed = () => JSON.parse(credential) as Credential

  const GOOD = [
    expect.stringMatching(
      /^✓ The signature holds: it is by the key z6Mk\w+, which did:web:forecasts\.example\.org:sandbox names in \/sandbox\/did\.json\.$/,
    ),
    `✓ It is valid from ${RELEASED} until ${daysLater(90).toISOString()}.`,
    `✓ It was not revoked, says the list of ${RELEASED}, which the same issuer has signed.`,
    expect.stringMatching(/^✓ these bytes are in the tree “forecaster” of release 1, among \d+$/),
    expect.stringMatching(/^✓ that is entry 0 of 1 under the checkpoint of /),
    `✓ the checkpoint is signed by ${LOG_VKEY}`,
    expect.stringMatching(/^✓ The key of the log is the one that this service names at \/sandbox\/log\/vkey/),
    expect.stringMatching(
      /^✓ The credential and that record say the same: certified, skill [\d.]+ between [\d.]+ and [\d.]+ with 95 % confidence, on 60 contested questions\.$/,
    ),
    `✓ It holds. The forecaster ${HOLDERS[0]} has the certificate “Certified forecaster in the sandbox”, by release 1, as of ${RELEASED}.`,
  ]

  test('by its text says each step, and asks nobody but this service', async () => {
    expect(await checked(credential)).toEqual(GOOD)
    expect(requests).toEqual([
      '/sandbox/did.json',
      '/sandbox/credentials/status/0',
      `/sandbox${holder}/verification`,
      '/sandbox/log/vkey',
      `/sandbox${holder}/verification/proof?release=1`,
    ])
    expect(await checked(JSON.stringify(parsed(), null, 2))).toEqual(GOOD)
    expect(trouble).toEqual([])
  })

  test('says so where the reader gave the key of the log, and does not hold with another', async () => {
    const given = await checked(credential, LOG_VKEY)
    expect(given).toContain('✓ The key of the log is one that you gave.')
    expect(given.at(-1)).toBe(GOOD.at(-1))
    const other = signingKeyOf('fvs.example/forecasts', 'log', Buffer.alloc(32, 2))
    const steps = await checked(credential, verifierKeyText(other.verifier))
    expect(steps.at(-1)).toBe(
      `✗ no known key of "fvs.example/forecasts" signed the checkpoint, but fvs.example/forecasts+${LOG_VKEY.split('+')[1]}: known are fvs.example/forecasts+${other.verifier.keyId}, so give a key of that log, from elsewhere`,
    )
  })

  test.for(['credential', 'badge.svg'])('by a link to %s', async (name) => {
    expect(await checked(`${service.url}/sandbox${holder}/${name}`)).toEqual(GOOD)
  })

  test('not by a link to elsewhere', async () => {
    expect(await checked(parsed().id)).toEqual([
      `✗ This page asks nobody but ${service.url}. Open https://forecasts.example.org/view/verify, or paste the credential itself.`,
    ])
    expect(requests).toEqual([])
    const none = `${service.url}/sandbox/forecaster/${'0'.repeat(8)}-0000-4000-8009-000000000009/credential`
    expect((await checked(none)).at(-1)).toMatch(/^✗ The service answered 404: no release has a forecaster/)
  })

  test('of a badge that is dropped anywhere on the page, or chosen', async () => {
    const { bytes } = await client.get(`${holder}/badge.svg`)
    await inPage(
      page,
      `(() => {
        const dataTransfer = new DataTransfer()
        const bytes = Uint8Array.from(atob('${bytes.toString('base64')}'), (character) => character.charCodeAt(0))
        dataTransfer.items.add(new File([bytes], 'badge.svg'))
        document.querySelector('h1').dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true, bubbles: true }))
      })()`,
    )
    expect(await said()).toEqual(GOOD)
    expect(await page.locator('form[data-check=any] [name=q]').inputValue()).toBe(credential)
    await page.reload({ waitUntil: 'networkidle' })
    const file = { name: 'badge.svg', mimeType: 'application/octet-stream', buffer: bytes }
    await page.locator('form[data-check=any] #file').setInputFiles(file)
    expect(await said()).toEqual(GOOD)
    expect(trouble).toEqual([])
  })

  test('does not hold with one changed byte, wherever it is', async () => {
    const [proof] = parsed().proof
    const value = proof!['proofValue']!
    for (const [from, to] of [
      ['"value":"60"', '"value":"61"'],
      ['Certified forecaster', 'Clever forecaster'],
      [HOLDERS[0], HOLDERS[1]],
      [value, `${value.slice(0, -1)}${value.endsWith('2') ? '3' : '2'}`],
    ] as const) {
      const changed = credential.replaceAll(from, to)
      expect(changed).not.toBe(credential)
      expect(await checked(changed)).toEqual([
        '✗ The signature does not hold: the credential was changed, or another key has signed it.',
      ])
    }
    expect(await checked(credential.replace('"name":', '"nane":'))).toEqual([
      '✗ It has the member “"nane"”, which no credential of this service has.',
    ])
  })

  test('does not hold by a key that the issuer does not name', async () => {
    const other = parseCredentialKey(credentialKeyText(new Uint8Array(32).fill(4)))
    expect((await checked(signed(parsed(), {}, other))).at(-1)).toMatch(
      /^✗ The key “"did:web:.*”? is not, or no longer, in \/sandbox\/did\.json\.$/,
    )
  })

  test('says that it was revoked', async () => {
    const issued = {
      release: 2,
      as_of: RELEASED,
      methodology_version: '4.0.0',
      environment: 'sandbox',
      url: CREDENTIAL_URL,
    } as const
    const signer = new Signer(CREDENTIAL_KEY, issuerOf(CREDENTIAL_URL), RELEASED)
    const list = (revoked: number[]) => signer.secured(statusListOf(issued, 0, revoked))
    let body = JSON.stringify(list([0]))
    await page.route('**/credentials/status/0', (route) => route.fulfill({ body }))
    expect((await checked(credential)).at(-1)).toMatch(/^✗ It was revoked: /)
    body = JSON.stringify(list([1, 7, 8]))
    expect(await checked(credential)).toEqual(GOOD)
    // Nobody but the issuer can take a revocation back.
    body = JSON.stringify({ ...list([0]), credentialSubject: list([]).credentialSubject })
    expect((await checked(credential)).at(-1)).toBe(
      '✗ The signature does not hold: the list of revoked credentials was changed, or another key has signed it.',
    )
  })

  test('says when it ran out, and when it is not valid yet', async () => {
    await page.clock.setFixedTime(daysLater(91))
    expect((await checked(credential)).at(-1)).toBe(
      `✗ The credential ran out at ${daysLater(90).toISOString()}. The service has a new one if the title still holds.`,
    )
    await page.clock.setFixedTime(daysLater(-1))
    expect((await checked(credential)).at(-1)).toMatch(/^✗ The credential is not valid before 2026-/)
  })

  test('says that the record has another number, if the issuer signed a wrong one', async () => {
    const wrong = credential.replace('"value":"60"', '"value":"600"')
    expect((await checked(signed(JSON.parse(wrong) as Credential, {}))).at(-1)).toBe(
      '✗ The record says “60” for the questions, and the credential “600”.',
    )
  })

  test('without a public log says whose word it is, and does not hold once the record has no title', async () => {
    await page.route('**/log/vkey', (route) => route.fulfill({ status: 404, body: '{}' }))
    const steps = await checked(credential)
    expect(steps[3]).toBe('✓ This service has no public log, so only its own word stands behind the record.')
    expect(steps.at(-1)).toBe(GOOD.at(-1))
    const record = (await client.get(`${holder}/verification`)).text
    const body = record
      .replace('"badge":"certified"', '"badge":"measured"')
      .replace('"release":1', '"release":2')
    await page.route('**/verification', (route) => route.fulfill({ body }))
    expect((await checked(credential)).at(-1)).toMatch(/^✗ By release 2 the title is gone: measured, skill /)
    trouble.length = 0
  })

  test('of another issuer is not checked, and says where it can be', async () => {
    const issuer = { ...parsed().issuer, id: 'did:web:other.example:badges' }
    expect(await checked(signed(parsed(), { issuer }))).toEqual([
      '✗ It is by another issuer, did:web:other.example:badges, so nothing of it was checked. This service is ' +
        'did:web:forecasts.example.org:sandbox. Check it at https://other.example/badges or with a verifier of Open Badges, ' +
        'such as that of 1EdTech.',
    ])
  })

  test('of garbage says what is wrong in words of its own', async () => {
    const { id, ...rest } = parsed()
    const list = (await client.get('/credentials/status/0')).text
    for (const [given, words] of [
      ['[]', /no record of this service: it names nobody/],
      ['{"a', /begins like one, but it is not whole/],
      ['{}', /no record of this service/],
      ['<svg', /carries no credential/],
      ['<svg xmlns="http://www.w3.org/2000/svg"/>', /carries no credential/],
      ['https:///credential', /This page asks nobody but/],
      [list, /no record of this service/],
      [JSON.stringify(rest), /signature does not hold|no credential of this service/],
      [JSON.stringify({ ...rest, id, proof: 1 }), /has no list of one proof/],
      [JSON.stringify({ ...rest, id, proof: rest.proof[0] }), /has no list of one proof/],
      [JSON.stringify({ ...rest, id, proof: [...rest.proof, ...rest.proof] }), /has no list of one proof/],
      [
        JSON.stringify({ ...parsed(), proof: [{ ...parsed().proof[0], proofValue: 'z0' }] }),
        /signature does not hold/,
      ],
      [JSON.stringify({ ...parsed(), credentialSubject: null }), /no credential of this service has/],
      [JSON.stringify({ type: 'OpenBadgeCredential' }), /who issued it/],
    ] as const) {
      const [step, ...others] = await checked(given)
      expect(step, given).toMatch(words)
      expect(step, given).toMatch(/^✗ /)
      expect(others).toEqual([])
    }
    await page.locator('form[data-check=any] #file').setInputFiles({
      name: 'card.png',
      mimeType: 'image/png',
      buffer: Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1'),
    })
    expect(await said()).toEqual(['✗ This file is no record, no credential and no badge.'])
    expect(trouble).toEqual([])
  })

  test('says so where the service does not answer', async () => {
    await page.route('**/verification', (route) => route.abort())
    expect((await checked(credential)).at(-1)).toBe(
      `✗ The service did not answer for /sandbox${holder}/verification.`,
    )
    trouble.length = 0
  })

  test.for(['light', 'dark', 'as wide as a phone'] as const)(
    'with its steps breaks no rule and nothing overflows, %s',
    async (form) => {
      const opened = await contextOf(browser, form)
      await opened.page.clock.setFixedTime(daysLater(1))
      await opened.page.goto(`${service.url}/sandbox/view/verify`)
      const panel = opened.page.locator('form[data-check=any]')
      await panel.locator('[name=q]').fill(credential)
      await panel.evaluate((element: { requestSubmit: () => void }) => element.requestSubmit())
      await panel.locator('output').filter({ hasText: '✓ It holds' }).waitFor({ state: 'attached' })
      const [width, room] = await inPage<[number, number]>(
        opened.page,
        '[document.documentElement.scrollWidth, innerWidth]',
      )
      expect(width).toBeLessThanOrEqual(room)
      expect(await violationsOf(opened.page)).toEqual([])
      await opened.context.close()
    },
  )

  // It comes last, because the service then has another release.
  test('of an earlier release says what the record says now', async () => {
    await releaseAt(sandbox, clock, after(120))
    await expect.poll(async () => (await client.get(`${holder}/credential`)).text).toContain('credential#2"')
    const steps = await checked(credential)
    expect(steps.slice(0, 2)).toEqual(GOOD.slice(0, 2))
    expect(steps).toContainEqual(
      expect.stringMatching(
        /^✓ The credential is of release 1 and says: certified, .*\. The service answers with the record of release 2 alone, which says: certified, /,
      ),
    )
    expect(steps.at(-1)).toBe(GOOD.at(-1))
    expect((await checked((await client.get(`${holder}/credential`)).text)).at(-1)).toContain('by release 2')
  })
})
