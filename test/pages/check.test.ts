// The check in the browser: right and wrong records, and that nothing leaves the page while it runs.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { contextOf, hasBrowser, inPage, launchBrowser } from '../support/browser.ts'
import { type PageServices, startPageServices } from '../support/page-world.ts'
import { Client, OTHER_SECRET, SECRET } from '../support/service.ts'
import { forecasterId } from '../support/world.ts'

describe.skipIf(!hasBrowser)('the check of a record', () => {
  let services: PageServices
  let browser: Browser
  let record: { payload: string; signature: string }
  beforeAll(async () => {
    services = await startPageServices()
    browser = await launchBrowser()
    const answer = await new Client(services.full).get(`/forecaster/${forecasterId(0)}/verification`)
    record = { payload: answer.text, signature: String(answer.headers['x-service-signature']) }
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
    requests.length = 0
    page.on('request', (request) => requests.push(request.url()))
    return () => opened.context.close()
  })

  async function verdict(filled: { payload: string; signature: string; secret: string }): Promise<string> {
    for (const [name, value] of Object.entries(filled)) await page.fill(`[name=${name}]`, value)
    await page.getByRole('button', { name: 'Check' }).click()
    const output = page.locator('output')
    await output.filter({ hasText: /./ }).waitFor()
    return output.innerText()
  }

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

  test('takes a file that is dropped, byte for byte', async () => {
    await inPage(
      page,
      `(() => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([${JSON.stringify(record.payload)}], 'verification.json'))
        document.querySelector('textarea').dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }))
      })()`,
    )
    await page.waitForFunction('document.querySelector("textarea").value !== ""')
    await page.fill('[name=signature]', record.signature)
    await page.fill('[name=secret]', SECRET)
    await page.getByRole('button', { name: 'Check' }).click()
    await page.locator('output.yes').waitFor()
    expect(requests).toEqual([])
  })

  test('on a profile needs only the secret: the record is there', async () => {
    await page.goto(`${services.full}/view/forecasters/${forecasterId(0)}`, { waitUntil: 'networkidle' })
    requests.length = 0
    for (const [secret, verdictShown] of [
      [OTHER_SECRET, /^✗ It does not hold/],
      [SECRET, /^✓ It holds/],
    ] as const) {
      await page.fill('form [name=secret]', secret)
      await page.getByRole('button', { name: 'Check' }).click()
      const output = page.locator('form output')
      await output.filter({ hasText: /./ }).waitFor()
      expect(await output.innerText()).toMatch(verdictShown)
    }
    expect(requests).toEqual([])
    expect(trouble).toEqual([])
  })

  test('where the browser offers no cryptography, it says so and leaves the commands', async () => {
    const context = await browser.newContext()
    await context.addInitScript('Object.defineProperty(crypto, "subtle", { value: undefined })')
    const plain = await context.newPage()
    await plain.goto(`${services.full}/view/verify`)
    expect(await plain.locator('[data-insecure]').isVisible()).toBe(true)
    expect(await plain.locator('form').isVisible()).toBe(false)
    expect(await plain.getByText('openssl dgst').isVisible()).toBe(true)
    await context.close()
  })
})
