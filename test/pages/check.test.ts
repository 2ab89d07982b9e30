// The checks in the browser, by proof and by secret: right and wrong records, and that nothing leaves the
// page while they run.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { signingKeyOf, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { receiptHeader, receiptsOf } from '../../pipeline/proof/receipts.ts'
import { contextOf, hasBrowser, inPage, launchBrowser } from '../support/http/browser.ts'
import { type PageServices, startPageServices } from '../support/worlds/page-world.ts'
import { Client, OTHER_SECRET, SECRET } from '../support/http/service.ts'
import { forecasterId } from '../support/worlds/world.ts'

describe.skipIf(!hasBrowser)('the check of a record', () => {
  let services: PageServices
  let browser: Browser
  let record: { payload: string; signature: string; proof: string; vkey: string }
  beforeAll(async () => {
    services = await startPageServices()
    browser = await launchBrowser()
    const client = new Client(services.full)
    const answer = await client.get(`/forecaster/${forecasterId(0)}/verification`)
    record = {
      payload: answer.text,
      signature: String(answer.headers['x-service-signature']),
      proof: (await client.get(`/forecaster/${forecasterId(0)}/verification/proof`)).text,
      vkey: (await client.get('/log/vkey')).text.trim(),
    }
  })
  afterAll(async () => {
    await browser.close()
    await services.stop()
  })

  let page: Page
  let trouble: string[]
  const requests: string[] = []
  beforeEach(async () => {
    const opened = await contextOf(browser, 'light')
    ;({ page, trouble } = opened)
    // The browser asks for the icon after everything else.
    await page.goto(`${services.full}/view/verify`, { waitUntil: 'networkidle' })
    for (const details of await page.locator('details:has(form)').all())
      await details.locator('summary').click()
    requests.length = 0
    page.on('request', (request) => requests.push(request.url()))
    return () => opened.context.close()
  })

  /** What a form says in the end, each step on a line of its own. */
  async function checked(check: 'proof' | 'secret', filled: Record<string, string>): Promise<string> {
    const form = page.locator(`form[data-check=${check}]`)
    for (const [name, value] of Object.entries(filled)) await form.locator(`[name=${name}]`).fill(value)
    await form.getByRole('button').click()
    const output = form.locator('output')
    await output.filter({ hasText: /✓ It holds|✗/ }).waitFor()
    return output.innerText()
  }

  type Filled = { payload: string; signature: string; secret: string }
  const verdict = ({ payload, signature, secret }: Filled) =>
    checked('secret', { payload, signature, secret })
  const proven = ({ payload, proof, vkey }: Omit<typeof record, 'signature'>) =>
    checked('proof', { payload, proof, vkey })

  test('holds for what was sent, and for a copy with a line break at its end', async () => {
    expect(await verdict({ ...record, secret: SECRET })).toMatch(/^✓ It holds: .*release 1, as of 2026-/)
    expect(await verdict({ ...record, payload: `${record.payload}\n`, secret: SECRET })).toMatch(
      /^✓ It holds/,
    )
    expect(requests).toEqual([])
    expect(trouble).toEqual([])
  })

  test('holds while a secret is replaced, when there are two signatures', async () => {
    const signature = `v1=${'0'.repeat(64)}, ${record.signature}`
    expect(await verdict({ ...record, signature, secret: SECRET })).toMatch(/^✓ It holds/)
  })

  test('does not hold for one changed byte, another secret, or another signature', async () => {
    const changed = record.payload.replace('"release":1', '"release":2')
    expect(changed).not.toBe(record.payload)
    expect(await verdict({ ...record, payload: changed, secret: SECRET })).toMatch(/^✗ It does not hold/)
    expect(await verdict({ ...record, secret: OTHER_SECRET })).toMatch(/^✗ It does not hold/)
    const other = `v1=${'0'.repeat(64)}`
    expect(await verdict({ ...record, signature: other, secret: SECRET })).toMatch(/^✗ It does not hold/)
    expect(await verdict({ ...record, signature: 'nothing', secret: SECRET })).toMatch(
      /^✗ The signature must/,
    )
    expect(requests).toEqual([])
    expect(trouble).toEqual([])
  })

  test('shows each step of a proof that holds, with the key that signed', async () => {
    for (const proof of [record.proof, record.proof.trimEnd(), record.proof.replaceAll('\n', '\r\n')]) {
      const steps = (await proven({ ...record, proof })).split('\n')
      expect(steps).toEqual([
        expect.stringMatching(/^✓ these bytes are in the tree “forecaster” of release 1, among \d+$/),
        '✓ that is entry 0 of 1 under the checkpoint of log.example/forecasts',
        `✓ the checkpoint is signed by ${record.vkey}`,
        expect.stringMatching(
          /^✓ It holds, with the keys that you gave. The record is of the forecaster \S+, in release 1, as of 2026-/,
        ),
      ])
    }
    expect(await proven({ ...record, payload: `${record.payload}\n` })).toContain('✓ It holds')
    expect(requests).toEqual([])
    expect(trouble).toEqual([])
  })

  test('says what of a proof does not hold', async () => {
    const changed = record.payload.replace('"environment":"production"', '"environment":"productioN"')
    expect(changed).not.toBe(record.payload)
    expect(await proven({ ...record, payload: changed })).toBe(
      '✗ these bytes are not in the tree “forecaster” of release 1',
    )
    const other = signingKeyOf('log.example/forecasts', 'log', Buffer.alloc(32, 2))
    const wrongKey = await proven({ ...record, vkey: verifierKeyText(other.verifier) })
    expect(wrongKey).toMatch(/^✗ no known key of "log.example\/forecasts" signed the checkpoint, but /)
    expect(wrongKey).toContain(`: known are log.example/forecasts+${other.verifier.keyId}, so give a key of`)
    expect(await proven({ ...record, vkey: 'x' })).toContain('✗ this is no verifier key: "x"')
    expect(await proven({ ...record, proof: 'a' })).toMatch(/^✗ /)
    expect(await proven({ ...record, proof: 'c2sp.org/tlog-proof@v1\n' })).toBe(
      '✗ the proof ends too early: ""',
    )
    expect(requests).toEqual([])
    expect(trouble).toEqual([])
  })

  test('takes a receipt as its header has it', async () => {
    const keys = [signingKeyOf('log.example/forecasts', 'log', Buffer.alloc(32, 1))]
    const forecast = canonical({ agent_id: 'a', forecast_id: 'f', probability: 0.5 })
    const uuid = '01a20020-4150-7589-9944-627481000007'
    const [receipt] = receiptsOf([forecast], { origin: 'log.example/forecasts', uuid }, keys)
    const payload = Buffer.from(forecast).toString('utf8')
    const header = receiptHeader(receipt!)
    for (const proof of [header, `X-Service-Receipt: ${header}\n`]) {
      expect(await proven({ ...record, payload, proof })).toContain(
        'The record is the forecast f of the agent a.',
      )
    }
    expect(await proven({ ...record, proof: header })).toBe(
      '✗ only forecasts have receipts, and the body has no forecast_id',
    )
    expect(requests).toEqual([])
  })

  test.each(['proof', 'secret'] as const)(
    'by %s takes a file that is dropped, byte for byte',
    async (check) => {
      await inPage(
        page,
        `(() => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([${JSON.stringify(record.payload)}], 'verification.json'))
        const field = document.querySelector('form[data-check=${check}] [name=payload]')
        field.dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }))
      })()`,
      )
      await page.waitForFunction(
        `document.querySelector('form[data-check=${check}] [name=payload]').value !== ""`,
      )
      const { proof, vkey, signature } = record
      const filled = check === 'proof' ? { proof, vkey } : { signature, secret: SECRET }
      expect(await checked(check, filled)).toContain('✓ It holds')
      expect(requests).toEqual([])
    },
  )

  test('on a profile needs nothing: the record is there, and the service has the proof', async () => {
    await page.goto(`${services.full}/view/forecasters/${forecasterId(0)}`, { waitUntil: 'networkidle' })
    // The card is loaded as it comes into view.
    await Promise.all([page.waitForResponse('**/card.svg'), page.locator('#show').scrollIntoViewIfNeeded()])
    requests.length = 0
    const [first, ...steps] = (await checked('proof', {})).split('\n')
    expect(first).toMatch(/^✓ these bytes are in the tree “forecaster” of release 1, among /)
    expect(steps.at(-1)).toMatch(
      /^✓ It holds, with the key that this service names: compare it with one from elsewhere/,
    )
    const asked = `${services.full}/forecaster/${forecasterId(0)}/verification/proof?release=1`
    expect(requests).toEqual([asked, `${services.full}/log/vkey`])
    requests.length = 0
    expect(await checked('proof', { vkey: record.vkey })).toContain('It holds, with the keys that you gave')
    expect(requests).toEqual([asked])
    requests.length = 0
    expect(await checked('secret', { secret: OTHER_SECRET })).toMatch(/^✗ It does not hold/)
    expect(await checked('secret', { secret: SECRET })).toMatch(/^✓ It holds/)
    expect(requests).toEqual([])
    expect(trouble).toEqual([])
  })

  test('on a profile says what the service answered where it has no proof', async () => {
    await page.goto(`${services.full}/view/forecasters/${forecasterId(0)}`)
    await inPage(page, `document.querySelector('form[data-check=proof]').dataset.proof = '/nothing'`)
    expect(await checked('proof', {})).toMatch(/^✗ The service answered 404: /)
  })

  test('of a profile where there is no public log, has the secret alone', async () => {
    await page.goto(`${services.full}/sandbox/view/forecasters`)
    await page.locator('main a[href*="/view/forecasters/"]').first().click()
    await page.waitForURL('**/sandbox/view/forecasters/*')
    expect(await page.locator('form[data-check=proof]').count()).toBe(0)
    expect(await page.locator('form[data-check=secret]').isVisible()).toBe(true)
  })

  test('where the browser offers no cryptography, it says so and leaves the commands', async () => {
    const context = await browser.newContext()
    await context.addInitScript('Object.defineProperty(crypto, "subtle", { value: undefined })')
    const plain = await context.newPage()
    await plain.goto(`${services.full}/view/verify`)
    expect(await plain.locator('[data-insecure]').isVisible()).toBe(true)
    // The service answers the form of links and codes.
    for (const form of await plain.locator('form[data-check]:not([data-check=any])').all())
      expect(await form.isVisible()).toBe(false)
    expect(await plain.getByText('openssl dgst').isVisible()).toBe(true)
    await context.close()
  })
})
