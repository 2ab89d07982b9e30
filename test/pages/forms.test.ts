// Every page in every form: it answers, nothing is wrong in the browser, nothing is asked for elsewhere,
// nothing overflows, and axe finds nothing.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  FORM_NAMES,
  contextOf,
  hasBrowser,
  inPage,
  launchBrowser,
  violationsOf,
  withoutScripts,
} from '../support/http/browser.ts'
import { type PageServices, startPageServices } from '../support/worlds/page-world.ts'
import { PAGE_ROUTES } from './routes.ts'

describe.skipIf(!hasBrowser)('a page', () => {
  let services: PageServices
  let browser: Browser
  beforeAll(async () => {
    services = await startPageServices()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await services.stop()
  })

  describe.for(FORM_NAMES)('%s', (form) => {
    let opened: Awaited<ReturnType<typeof contextOf>>
    /** Set where axe cannot run in the form itself. */
    let staged: Page | undefined
    beforeAll(async () => {
      opened = await contextOf(browser, form)
      if (form === 'without JavaScript') staged = await withoutScripts(browser)
    })
    afterAll(async () => {
      await opened.context.close()
      await staged?.close()
    })

    test.for(PAGE_ROUTES)('$name', async ({ service, path, status = 200 }) => {
      const { page, trouble } = opened
      trouble.length = 0
      const answer = await page.goto(services[service] + path)
      expect(answer?.status()).toBe(status)
      const expected = status === 200 ? [] : [expect.stringContaining(`status of ${status}`)]
      expect(trouble).toEqual(expected)
      const [width, room] = await inPage<[number, number]>(
        page,
        '[document.documentElement.scrollWidth, innerWidth]',
      )
      expect(width).toBeLessThanOrEqual(room)
      await staged?.goto(services[service] + path)
      expect(await violationsOf(staged ?? page)).toEqual([])
    })
  })
})
