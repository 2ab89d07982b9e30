// A real Chromium for the tests of pages, and the forms in which it looks at them.
import axe, { type AxeResults } from 'axe-core'
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core'
import { external } from '../external.ts'

const found = external(
  ['CHROMIUM'],
  'these tests need Chromium: install chromium and export CHROMIUM=$(command -v chromium)',
)
/** Whether there is a browser; without one the tests are skipped. */
export const hasBrowser = found !== undefined

export function launchBrowser(): Promise<Browser> {
  // Its own sandbox needs rights that a container seldom has, and root never.
  return chromium.launch({ executablePath: found!.CHROMIUM, args: ['--no-sandbox'] })
}

/** How people look at a page. */
export const FORMS = {
  light: { viewport: { width: 1100, height: 800 }, colorScheme: 'light' },
  dark: { viewport: { width: 1100, height: 800 }, colorScheme: 'dark' },
  'as wide as a phone': { viewport: { width: 360, height: 740 } },
  'without JavaScript': { viewport: { width: 1100, height: 800 }, javaScriptEnabled: false },
  // A4 at 96 dots to the inch, without its margins.
  print: { viewport: { width: 718, height: 1047 } },
} as const
export type FormName = keyof typeof FORMS
export const FORM_NAMES = Object.keys(FORMS) as FormName[]

/** A context that notes everything that must not happen. */
export async function contextOf(
  browser: Browser,
  form: FormName,
): Promise<{ context: BrowserContext; page: Page; trouble: string[] }> {
  const context = await browser.newContext(FORMS[form])
  const page = await context.newPage()
  const trouble: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) trouble.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const isOwn = request.isNavigationRequest() || sameOrigin(request.url(), request.frame().url())
    if (!isOwn) trouble.push(`request: ${request.url()}`)
  })
  if (form === 'print') await page.emulateMedia({ media: 'print' })
  return { context, page, trouble }
}

function sameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin
}

/**
 * A page as a browser without JavaScript shows it, in one that has it: axe is a program, too.
 *
 * The document comes without its scripts, and what stands in `noscript` is content.
 */
export async function withoutScripts(browser: Browser): Promise<Page> {
  const page = await browser.newPage(FORMS.light)
  await page.route('**', async (route) => {
    if (route.request().resourceType() !== 'document') return route.continue()
    const response = await route.fetch()
    const body = (await response.text())
      .replaceAll(/<script.*?<\/script>/g, '')
      .replaceAll(/<(\/?)noscript>/g, '<$1div>')
    return route.fulfill({ response, body })
  })
  return page
}

/**
 * The value of an expression in the page. It is a text, because the types of a browser are not those of this
 * program.
 */
export function inPage<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate(expression)
}

/**
 * What axe finds wrong, a line each. It is evaluated, not loaded, so that the page's own policy stays in
 * force.
 */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await inPage<AxeResults>(page, "axe.run({ resultTypes: ['violations'] })")
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}
