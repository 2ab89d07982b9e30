// The tasks that readers come with, and within how many clicks they are done, without JavaScript.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contextOf, hasBrowser, inPage, launchBrowser } from '../support/http/browser.ts'
import { Clicks } from '../support/http/clicks.ts'
import { HOSTILE_QUESTION, type PageServices, startPageServices } from '../support/worlds/page-world.ts'

describe.skipIf(!hasBrowser)('a reader', () => {
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

  /** Does a task from the landing page of the sandbox on, and returns its clicks. */
  async function clicksOf(task: (clicks: Clicks) => Promise<void>): Promise<number> {
    const { context, page } = await contextOf(browser, 'without JavaScript')
    try {
      await page.goto(`${services.full}/sandbox/`)
      const clicks = new Clicks(page)
      await task(clicks)
      return clicks.count
    } finally {
      await context.close()
    }
  }

  const search = (clicks: Clicks, text: string) =>
    clicks.submit(clicks.page.getByRole('search').getByRole('searchbox'), text)
  const heading = (clicks: Clicks) => clicks.page.locator('h1').innerText()

  test('finds somebody by name', async () => {
    const whole = await clicksOf(async (clicks) => {
      await search(clicks, 'simulated-forecaster-2')
      expect(await heading(clicks)).toBe('simulated-forecaster-2')
    })
    expect(whole).toBe(1)
    const part = await clicksOf(async (clicks) => {
      await search(clicks, 'forecaster')
      await clicks.click(clicks.page.getByRole('link', { name: 'simulated-forecaster-2' }))
      expect(await heading(clicks)).toBe('simulated-forecaster-2')
    })
    expect(part).toBe(2)
  })

  test('finds the best of a topic', async () => {
    const { context, page } = await contextOf(browser, 'without JavaScript')
    await page.goto(`${services.full}/`)
    const clicks = new Clicks(page)
    await clicks.click(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Agents' }))
    await clicks.click(
      page.getByRole('navigation', { name: 'Topics' }).getByRole('link', { name: 'simulated' }),
    )
    expect(await heading(clicks)).toBe('Which agents forecast simulated best?')
    expect(await page.locator('tbody tr').first().innerText()).toContain('1–2')
    expect(clicks.count).toBe(2)
    await context.close()
  })

  test('sees what was forecast on a question, and who was closest', async () => {
    const clicked = await clicksOf(async (clicks) => {
      const { page } = clicks
      await clicks.click(page.getByRole('link', { name: 'Questions', exact: true }))
      await clicks.click(page.getByRole('link', { name: /^resolved/ }))
      await clicks.click(page.locator('tbody th a').first())
      expect(await page.getByRole('img', { name: /^The last forecasts/ }).count()).toBe(1)
      const closest = page.locator('h2:text("Closest at the end") + table a').first()
      const name = await closest.innerText()
      await clicks.click(closest)
      expect(await heading(clicks)).toContain(name)
    })
    expect(clicked).toBe(4)
  })

  test('learns how to answer an open question', async () => {
    const clicked = await clicksOf(async (clicks) => {
      const { page } = clicks
      await clicks.click(page.getByRole('link', { name: 'Questions', exact: true }))
      await clicks.click(page.locator('tbody th a').first())
      await clicks.jump(page.getByRole('link', { name: 'How to answer' }))
      expect(page.url()).toMatch(/\/view\/questions\/[^/]+#answer$/)
      expect(await inPage(page, 'document.querySelector("#answer").getBoundingClientRect().top >= 0')).toBe(
        true,
      )
      expect(await page.locator('#answer ~ pre').innerText()).toMatch(
        /\/agents\/.*\/forecast.*"probability"/s,
      )
    })
    expect(clicked).toBe(3)
  })

  test('opens a question of many lines wherever its title is clicked, between two lines too', async () => {
    const { context, page } = await contextOf(browser, 'light')
    await page.goto(`${services.full}/view/questions?status=open`)
    const title = page.locator(`main a[href$="${HOSTILE_QUESTION}"]`)
    const { x, y, height } = (await title.boundingBox())!
    expect(height).toBeGreaterThan(60)
    for (let down = 1; down < height - 1; down += 1) {
      const hit = `document.elementFromPoint(${x + 5}, ${y + down})?.closest('a')?.pathname`
      expect(await inPage(page, hit), `${down} of ${height}`).toBe(`/view/questions/${HOSTILE_QUESTION}`)
    }
    const clicks = new Clicks(page)
    await clicks.click(title)
    expect(await heading(clicks)).toContain('<script>alert(1)</script>')
    await context.close()
  })

  test('compares two', async () => {
    const clicked = await clicksOf(async (clicks) => {
      await search(clicks, 'simulated-forecaster-2')
      await clicks.click(clicks.page.getByRole('link', { name: 'compare with another' }))
      await clicks.submit(clicks.page.getByLabel('With'), 'simulated-forecaster-3')
      expect(await heading(clicks)).toBe('simulated-forecaster-2 and simulated-forecaster-3, side by side')
    })
    expect(clicked).toBe(3)
  })
})
