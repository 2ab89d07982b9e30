// Readers without JavaScript, without a mouse, and of names that would rather be markup.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contextOf, hasBrowser, inPage, launchBrowser } from '../support/http/browser.ts'
import {
  HOSTILE_NAMES,
  type PageServices,
  agentIdOf,
  startPageServices,
} from '../support/worlds/page-world.ts'
import { Client } from '../support/http/service.ts'
import { PAGE_ROUTES } from './routes.ts'

/** Numbers every control that can be seen, in the order of the document, and returns how many there are. */
const MARK_CONTROLS = `(() => {
  const controls = [...document.querySelectorAll('a[href]:not([tabindex="-1"]), button, input, select, textarea, summary, [tabindex="0"]')]
  const visible = controls.filter((control) => control.checkVisibility())
  visible.forEach((control, place) => (control.dataset.place = String(place)))
  return visible.length
})()`

describe.skipIf(!hasBrowser)('pages', () => {
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

  async function looking<T>(
    form: 'without JavaScript' | 'light',
    look: (page: Page) => Promise<T>,
  ): Promise<T> {
    const { context, page } = await contextOf(browser, form)
    try {
      return await look(page)
    } finally {
      await context.close()
    }
  }

  test('without JavaScript, every link on every page leads somewhere, and every anchor to its heading', async () => {
    const client = new Client(services.full)
    const seen = new Set<string>()
    await looking('without JavaScript', async (page) => {
      for (const { service, path } of PAGE_ROUTES.filter((route) => route.service === 'full')) {
        await page.goto(services[service] + path)
        const links = await page.$$eval('a[href], link[href]', (all) =>
          all.map((each) => each.getAttribute('href')!),
        )
        for (const link of links) {
          if (link.startsWith('#'))
            expect(await page.locator(`[id="${link.slice(1)}"]`).count(), link).toBe(1)
          else if (link.startsWith('/')) seen.add(link)
          else expect(link).toMatch(/^https:\/\//)
        }
      }
    })
    expect(seen.size).toBeGreaterThan(30)
    const broken: string[] = []
    for (const link of seen) {
      const { status } = await client.get(link)
      if (status !== 200) broken.push(`${status} ${link}`)
    }
    expect(broken).toEqual([])
  })

  test('without JavaScript, every number and word of a verification is on the profile', async () => {
    const path = `/agents/${agentIdOf(0)}`
    const { text } = await new Client(services.full).get(`${path}/verification`)
    await looking('without JavaScript', async (page) => {
      await page.goto(`${services.full}/view${path}`)
      const shown = await page.locator('body').innerText()
      const values = text.match(/-?\d+(\.\d+)?|"[^"]*"/g)!
      expect(values.length).toBeGreaterThan(20)
      expect(values.filter((value) => !shown.includes(value))).toEqual([])
    })
  })

  test('by keyboard alone, every control of every page is reached, in order', async () => {
    await looking('light', async (page) => {
      for (const { service, path } of PAGE_ROUTES) {
        await page.goto(services[service] + path)
        const controls = await inPage<number>(page, MARK_CONTROLS)
        const reached: string[] = []
        for (let press = 0; press < controls; press++) {
          await page.keyboard.press('Tab')
          reached.push(await inPage(page, 'document.activeElement.dataset.place'))
        }
        expect(reached, path).toEqual(Array.from({ length: controls }, (_, place) => String(place)))
      }
    })
  })

  test('the first stop of the keyboard skips to the content', async () => {
    await looking('light', async (page) => {
      await page.goto(`${services.full}/view/agents`)
      await page.keyboard.press('Tab')
      expect(await page.locator(':focus').innerText()).toBe('Skip to the content')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      expect(await inPage(page, 'document.querySelector("main").contains(document.activeElement)')).toBe(true)
    })
  })

  test('hostile names stay text', async () => {
    await looking('light', async (page) => {
      await page.goto(`${services.full}/view/agents`)
      const shown = await page.locator('main th a bdi').allInnerTexts()
      expect(new Set(shown)).toEqual(new Set(HOSTILE_NAMES))
      expect(await page.title()).toContain('Leaderboard')
      expect(await page.locator('main script, main [onload]').count()).toBe(0)
    })
  })
})
