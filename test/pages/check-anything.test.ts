// Links, names, files and records in the one field; the snippets of "Show it"; and the certificate on paper.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { contextOf, hasBrowser, inPage, launchBrowser } from '../support/http/browser.ts'
import { Client } from '../support/http/service.ts'
import { type PageServices, agentIdOf, startPageServices } from '../support/worlds/page-world.ts'
import { forecasterId } from '../support/worlds/world.ts'

describe.skipIf(!hasBrowser)('what somebody was shown', () => {
  let services: PageServices
  let browser: Browser
  let client: Client
  const person = `/forecaster/${forecasterId(0)}`
  beforeAll(async () => {
    services = await startPageServices()
    browser = await launchBrowser()
    client = new Client(services.full)
  })
  afterAll(async () => {
    await browser.close()
    await services.stop()
  })

  let page: Page
  let trouble: string[]
  beforeEach(async () => {
    const opened = await contextOf(browser, 'light')
    ;({ page, trouble } = opened)
    await page.goto(`${services.full}/view/verify`, { waitUntil: 'networkidle' })
    return () => opened.context.close()
  })
  const field = () => page.locator('form[data-check=any] [name=q]')
  const said = async (verdict = /✓ It holds|✗/) => {
    const output = page.locator('form[data-check=any] output').filter({ hasText: verdict })
    await output.waitFor()
    return output.innerText()
  }

  test('is a link genuine: it leads to the check of the profile', async () => {
    await field().fill(`${services.full}/view/forecasters/${forecasterId(0)}`)
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.waitForURL(`**/view/forecasters/${forecasterId(0)}#check`)
    expect(await page.locator('#check').isVisible()).toBe(true)
  })

  test('a name leads to the search', async () => {
    await field().fill('agent-07')
    await field().press('Enter')
    await page.waitForURL('**/view/search?q=agent-07')
    expect(trouble).toEqual([])
  })

  test('a mistake says in a sentence what to do, and stays in the field', async () => {
    await field().fill('/view/agents/nobody')
    await field().press('Enter')
    await page.locator('#said').waitFor()
    expect(await page.locator('#said').innerText()).toMatch(
      /^✗ That link leads to no agent, forecaster or question .*Copy the whole address/,
    )
    expect(await field().inputValue()).toBe('/view/agents/nobody')
    trouble.length = 0
  })

  test.each(['verification', 'metrics', 'rankings', 'advanced-metrics'])(
    'the text of a record of %s is checked here, and leaves the page never',
    async (kind) => {
      const record = (await client.get(`${person}/${kind}`)).text
      const requests: string[] = []
      page.on('request', (request) => {
        // The browser asks for the icon when it likes.
        if (!request.url().endsWith('/icon.svg')) requests.push(request.url() + (request.postData() ?? ''))
      })
      await field().fill(record)
      await page.getByRole('button', { name: 'Check', exact: true }).click()
      expect(await said()).toMatch(/✓ these bytes are in the tree “forecaster” of release 1[^]*✓ It holds/)
      expect(requests).toEqual([
        `${services.full}/log/vkey`,
        `${services.full}${person}/${kind}/proof?release=1`,
      ])
      await field().fill(record.replace('"release":1', '"release": 1'))
      await page.getByRole('button', { name: 'Check', exact: true }).click()
      expect(await said()).toMatch(/^✗ This record was reformatted/)
      expect(trouble).toEqual([])
    },
  )

  test('the file of a record is checked as it is dropped', async () => {
    const file = (await client.get(`${person}/verification`)).text
    const drop = (text: string) =>
      inPage(
        page,
        `(() => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([${JSON.stringify(text)}], 'verification.json'))
        document.dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }))
      })()`,
      )
    await drop(file)
    expect(await said()).toMatch(
      /✓ the checkpoint is signed by [^]*✓ It holds, with the key that this service names/,
    )
    await drop(file.replace('"release":1', '"release":2'))
    // The verdict on the first file may still stand.
    expect(await said(/✗ /)).not.toContain('✓ It holds')
    trouble.length = 0
  })

  test('the snippets have the address of the service, and a button that copies each', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`${services.full}/view/agents/${agentIdOf(0)}`)
    const snippet = page.locator('pre[data-copy=Markdown]')
    const address = `${services.full}/agents/${agentIdOf(0)}/badge.svg`
    expect(await snippet.innerText()).toContain(`(${address})`)
    expect(await page.locator('main').innerText()).not.toContain('$FVS_URL/agents/x')
    await page.getByRole('button', { name: 'Copy Markdown', exact: true }).click()
    await page.getByText('Copied.').waitFor()
    expect(await inPage<string>(page, 'navigator.clipboard.readText()')).toBe(await snippet.innerText())
    expect(trouble).toEqual([])
  })

  test.each([0, 1, 2, 3])(
    'the certificate of agent %d is the first page of its print, and fits on it',
    async (index) => {
      const opened = await contextOf(browser, 'print')
      await opened.page.goto(`${services.full}/view/agents/${agentIdOf(index)}`)
      const certificate = opened.page.locator('.certificate')
      const box = (await certificate.boundingBox())!
      expect(box.height).toBeGreaterThan(300)
      expect(box.y + box.height).toBeLessThanOrEqual(1047)
      expect(await opened.page.locator('h1').isVisible()).toBe(false)
      const pdf = (await opened.page.pdf({ format: 'A4' })).toString('latin1')
      expect(pdf.match(/\/Type\s*\/Page\b/g)!.length).toBeGreaterThan(1)
      await opened.context.close()
    },
  )
})
