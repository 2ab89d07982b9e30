// A reader's way through pages, counted: a followed link or a submitted form is one click.
import type { Locator, Page } from 'playwright-core'

export class Clicks {
  readonly page: Page
  count = 0

  constructor(page: Page) {
    this.page = page
  }

  /** Clicks on a link or a button, and waits for the page that it leads to. */
  async click(target: Locator): Promise<void> {
    this.count += 1
    await Promise.all([this.page.waitForEvent('load'), target.click()])
  }

  /** Clicks on a link to a place of the same page. */
  async jump(target: Locator): Promise<void> {
    this.count += 1
    await target.click()
  }

  /** Fills a field, and sends its form with the key Enter. */
  async submit(field: Locator, text: string): Promise<void> {
    this.count += 1
    await field.fill(text)
    await Promise.all([this.page.waitForEvent('load'), field.press('Enter')])
  }
}
