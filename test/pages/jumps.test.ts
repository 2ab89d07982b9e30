// Pages that scripts change after they were painted: nothing that one reads moves.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contextOf, hasBrowser, inPage, launchBrowser } from '../support/http/browser.ts'
import { type PageServices, agentIdOf, startPageServices } from '../support/worlds/page-world.ts'

/** Cumulative layout shift, for which 0.1 is good (web.dev/cls). */
const LAYOUT_SHIFT = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)))
})`

describe.skipIf(!hasBrowser)('the layout', () => {
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

  test.for(['/view/verify', `/view/agents/${agentIdOf(0)}`])('of %s stays', async (path) => {
    for (const form of ['light', 'as wide as a phone'] as const) {
      const { context, page } = await contextOf(browser, form)
      await page.goto(services.full + path, { waitUntil: 'networkidle' })
      const shift = await inPage<number>(page, LAYOUT_SHIFT)
      expect(shift, `${path}, ${form}`).toBeLessThan(0.02)
      await context.close()
    }
  })
})
