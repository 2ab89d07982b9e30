// The operator's page by keyboard: what is due, what an action will do before it is done, refusals in words,
// and a key that is nowhere but in the memory of the page.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { OPERATOR_SCOPES, type OperatorScope } from '../../schemas/tiers.ts'
import { suiteFolder } from '../support/folder.ts'
import {
  FORMS,
  type FormName,
  contextOf,
  hasBrowser,
  inPage,
  launchBrowser,
  violationsOf,
} from '../support/http/browser.ts'
import { Clock, type TestService, bearer, startTestService, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { NOW, QUESTION, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

const HOUR_MS = 3_600_000
const inHours = (hours: number) => new Date(Date.parse(NOW) + hours * HOUR_MS).toISOString()
const HOSTILE = '<img src=x onerror="document.title=1"> & a very long title '.padEnd(190, 'W')
const OVERDUE = [uuidOf(60, 1), uuidOf(60, 2), uuidOf(60, 3)] as const
const CLOSING = uuidOf(60, 4)
const QUESTIONS = [
  [OVERDUE[0], 'Has it rained in Oslo?', -900, -800],
  [OVERDUE[1], HOSTILE, -900, -790],
  [OVERDUE[2], 'Has it snowed in Oslo?', -900, -780],
  [CLOSING, 'Will it rain in Oslo?', -900, 5],
  [uuidOf(60, 5), 'Will it ever rain in Oslo?', 50, 5000],
] as const

describe.skipIf(!hasBrowser)("the operator's page", async () => {
  const folder = await suiteFolder()
  const clock = new Clock(NOW)
  const released = new MemoryStore()
  let browser: Browser
  beforeAll(async () => {
    await copyReleasedWorld(released)
    browser = await launchBrowser()
  })
  afterAll(() => browser.close())

  let service: TestService
  let key: string
  let page: Page
  let context: BrowserContext
  let trouble: string[]

  const keyFor = (...scopes: readonly OperatorScope[]) =>
    service.components.registry.createOperatorKey('the operator', clock.now(), scopes)

  async function open(form: FormName): Promise<void> {
    ;({ page, context, trouble } = await contextOf(browser, form))
    await page.goto(`${service.url}/operator`)
  }

  beforeEach(async () => {
    clock.set(NOW)
    service = await startTestService(await testComponents({ store: copyOf(released), folder, clock }))
    key = await keyFor(...OPERATOR_SCOPES)
    const questions = QUESTIONS.map(([question_id, title, opens, closes]) => ({
      question_id,
      title,
      category: 'weather',
      opened_at: inHours(opens),
      closes_at: inHours(closes),
    }))
    const answer = await service.client.send('PUT', '/operator/questions', {
      body: { questions },
      headers: { 'Content-Type': 'application/json', ...bearer(key) },
    })
    if (answer.status !== 200) throw new Error(answer.text)
    await open('light')
    return async () => {
      await context.close()
      await service.stop()
    }
  })

  const press = (...keys: string[]) =>
    keys.reduce((done, one) => done.then(() => page.keyboard.press(one)), Promise.resolve())
  const said = () => page.locator('.said')
  const effect = () => page.locator('#ask-effect')
  const focused = () =>
    inPage<string>(page, `(document.activeElement.querySelector('a') ?? document.activeElement).textContent`)
  const titlesOf = (list: string) => page.locator(`[data-list=${list}] .asked`).allTextContents()
  const outcomeOf = async (id: string) => {
    await service.client.get('/operator/agenda', bearer(key))
    return (await service.client.get(`/questions/${id}`)).json<{
      outcome: string | null
      closes_at: string
    }>()
  }

  async function enter(entered = key): Promise<void> {
    // The skip link leads past the navigation. A key that was refused leaves the focus in the field.
    if ((await inPage(page, 'document.activeElement.name')) !== 'key') await press('Tab', 'Enter', 'Tab')
    await page.keyboard.type(entered)
    await press('Enter')
    await said()
      .filter({ hasText: /overdue,|key/ })
      .waitFor()
  }

  async function findById(id: string): Promise<void> {
    await press('/')
    await page.keyboard.type(id)
    await press('Enter')
    await page.locator(`[id="done-${id}"]`).waitFor()
  }

  test('lists what is due, and moves by keys', async () => {
    expect(await page.locator('#work').isVisible()).toBe(false)
    await enter()
    expect(await titlesOf('overdue')).toEqual(
      ['Closed?', ...QUESTIONS.slice(0, 3).map(([, title]) => title)].toSorted((a, b) => order(a) - order(b)),
    )
    expect(await titlesOf('closing')).toEqual(['Will it rain in Oslo?'])
    expect(await titlesOf('opening')).toEqual(['Will it ever rain in Oslo?'])
    expect(await said().textContent()).toBe('4 overdue, 1 closing within a day, 1 opening within a week.')
    const first = await focused()
    await press('j')
    expect(await focused()).toBe((await titlesOf('overdue'))[1])
    await press('ArrowUp', 'k')
    expect(await focused()).toBe(first)
    expect(await page.title()).toContain('Resolve questions')
    await press('?')
    expect(await page.locator('#keys').isVisible()).toBe(true)
    await press('Escape')
    expect(await page.locator('#keys').isVisible()).toBe(false)
    expect(trouble).toEqual([])
  })

  const ORDER = [QUESTIONS[0][1], QUESTIONS[1][1], QUESTIONS[2][1], 'Closed?'] as const
  const order = (title: string) => (ORDER as readonly string[]).indexOf(title)

  test('resolves, after it said what that does and asked once', async () => {
    await enter()
    const [first, second] = await titlesOf('overdue')
    // The outcome is known now, not since the lists were read.
    clock.set('2026-03-01T12:00:07.000Z')
    await press('y')
    await effect().filter({ hasText: 'Resolves' }).waitFor()
    const shows = 'It shows everyone’s forecasts of the question, for good, also if it is a mistake.'
    expect(await effect().locator('p').allTextContents()).toEqual([
      `Resolves “${first}” as yes, known since 2026-03-01 12:00:07 UTC.`,
      shows,
    ])
    expect((await outcomeOf(OVERDUE[0])).outcome).toBeNull()
    await press('Escape')
    expect((await outcomeOf(OVERDUE[0])).outcome).toBeNull()
    expect(await focused()).toBe(first)
    await press('n')
    await effect().filter({ hasText: 'as no' }).waitFor()
    await press('Enter')
    await said()
      .filter({ hasText: `“${first}” is resolved as no.` })
      .waitFor()
    expect((await outcomeOf(OVERDUE[0])).outcome).toBe('no')
    expect(await focused()).toBe(second)
    expect(await titlesOf('done')).toEqual([first])
    await press('a')
    await effect().filter({ hasText: 'scores nobody' }).waitFor()
    expect(await effect().textContent()).toContain(shows)
    await press('Enter')
    await said().filter({ hasText: 'is annulled. 2 overdue' }).waitFor()
    expect((await outcomeOf(OVERDUE[1])).outcome).toBe('annulled')
    expect(trouble).toEqual([])
  })

  test('tells what the next release corrects and which forecasts count no longer', async () => {
    await enter()
    await findById(QUESTION.resolved)
    expect(await focused()).toBe('Question "0"')
    await press('n')
    await effect().filter({ hasText: 'A release has it as yes' }).waitFor()
    await page.locator('[name=resolved_at]').fill('2026-01-01 00:00:01')
    expect(await page.getByRole('button', { name: 'Show what it does' }).isVisible()).toBe(true)
    await press('Enter')
    await effect().filter({ hasText: 'made later' }).waitFor()
    expect(await effect().locator('p').allTextContents()).toEqual([
      'Resolves “Question "0"” as no, known since 2026-01-01 00:00:01 UTC.',
      expect.stringMatching(/^\d+ forecasts of \d+ forecasters and agents, made later, no longer count\.$/),
      'A release has it as yes: the next release corrects that to no.',
    ])
    await press('Escape', 'w')
    await effect().filter({ hasText: 'takes that back' }).waitFor()
    await press('Enter')
    await said().filter({ hasText: 'is withdrawn.' }).waitFor()
    expect((await outcomeOf(QUESTION.resolved)).outcome).toBeNull()
    expect(trouble).toEqual([])
  })

  test('corrects a close with a reason, and shows why one is refused', async () => {
    await enter()
    await press('c')
    await page.locator('[name=closes_at]').fill('2020-01-01 00:00')
    await page.locator('[name=reason]').fill('it was another day')
    await press('Enter')
    await effect().locator('.no').first().waitFor()
    expect(await effect().textContent()).toMatch(/^Closes_at is .*2020/i)
    await page.locator('[name=closes_at]').fill('2026-03-01 20:00')
    await press('Enter')
    await effect().filter({ hasText: 'Moves the close' }).waitFor()
    await press('Enter')
    await said().filter({ hasText: 'closes at 2026-03-01 20:00 UTC.' }).waitFor()
    expect((await outcomeOf(OVERDUE[0])).closes_at).toBe('2026-03-01T20:00:00.000Z')
    expect(await titlesOf('closing')).toEqual(['Will it rain in Oslo?', 'Has it rained in Oslo?'])
    expect(trouble).toEqual([])
  })

  test('says in words what is refused, and that nobody answers', async () => {
    await enter('nothing-that-works')
    expect(await said().textContent()).toMatch(/^The key does not work\. The bearer token is not/)
    expect(await page.locator('#work').isVisible()).toBe(false)
    const own = await keyFor('questions')
    await enter(own)
    await press('y')
    await effect().filter({ hasText: 'The key may not do this. This key has the scope questions' }).waitFor()
    await press('Enter')
    await effect().filter({ hasText: 'The key may not do this.' }).waitFor()
    await press('Escape')
    for (const [status, words] of [
      [429, 'Too many calls. Slow down. Try again in 7 seconds.'],
      [503, 'The service cannot do this now. Slow down. Try again in 7 seconds.'],
    ] as const) {
      const headers = { 'Retry-After': '7', 'Content-Type': 'application/problem+json' }
      await page.route('**/operator/agenda', (route) =>
        route.fulfill({ status, headers, body: JSON.stringify({ detail: 'slow down' }) }),
      )
      await press('r')
      await said().filter({ hasText: words }).waitFor()
      await page.unroute('**/operator/agenda')
    }
    await context.setOffline(true)
    await press('r')
    await said().filter({ hasText: 'The service did not answer: is there a network?' }).waitFor()
    await context.setOffline(false)
    await press('r')
    await said().filter({ hasText: '4 overdue' }).waitFor()
    await press('w')
    expect(await said().textContent()).toMatch(/has no outcome to withdraw\.$/)
    await press('c')
    await service.components.registry.revokeKey(own.split('_')[2]!, clock.now())
    await page.locator('[name=reason]').fill('it was another day')
    await press('Enter')
    await said().filter({ hasText: 'The key does not work.' }).waitFor()
    expect(await page.locator('#work').isVisible()).toBe(false)
    expect(await inPage(page, 'document.activeElement.name')).toBe('key')
  })

  test('keeps the key in no storage, cookie, address or document, and forgets it', async () => {
    const withKey = new Set<string>()
    page.on('request', (request) => {
      if (JSON.stringify([request.url(), request.headers(), request.postData()]).includes(key)) {
        withKey.add(`${request.method()} ${new URL(request.url()).pathname}`)
        expect(request.headers()['authorization']).toBe(`Bearer ${key}`)
      }
    })
    await enter()
    await press('y')
    await effect().filter({ hasText: 'Resolves' }).waitFor()
    await press('Enter')
    await said().filter({ hasText: 'is resolved as yes.' }).waitFor()
    await findById(OVERDUE[0])
    expect([...withKey].toSorted()).toEqual([
      'GET /operator/agenda',
      'POST /operator/preview',
      'PUT /operator/resolutions',
    ])
    const kept = await inPage<string>(
      page,
      `(async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
        (await indexedDB.databases()).length, document.documentElement.outerHTML, Object.values(window).filter((value) => typeof value === 'string'),
        [...document.querySelectorAll('input')].map(({ value }) => value)]))()`,
    )
    expect(kept).not.toContain(key)
    expect(await context.cookies()).toEqual([])
    expect((await context.storageState()).origins).toEqual([])
    expect(await page.locator('[name=key]').getAttribute('autocomplete')).toBe('off')
    await page.reload()
    expect(await page.locator('[name=key]').inputValue()).toBe('')
    expect(await page.locator('#work').isVisible()).toBe(false)
    await enter()
    await page.getByRole('button', { name: 'Forget the key' }).click()
    expect(await page.locator('#work').isVisible()).toBe(false)
    expect(await page.locator('.task').count()).toBe(0)
    expect(trouble).toEqual([])
  })

  test.for(Object.keys(FORMS).filter((form) => /light|dark|phone/.test(form)) as FormName[])(
    'is fit for everyone in every state, %s',
    async (form) => {
      await context.close()
      await open(form)
      const check = async () => {
        expect(await violationsOf(page)).toEqual([])
        const [width, room] = await inPage<[number, number]>(
          page,
          '[document.documentElement.scrollWidth, innerWidth]',
        )
        expect(width).toBeLessThanOrEqual(room)
        const wide = await inPage(
          page,
          `[...document.querySelectorAll('dialog[open]')].some((dialog) => dialog.scrollWidth > dialog.clientWidth)`,
        )
        expect(wide).toBe(false)
      }
      await check()
      await enter()
      await check()
      await press('j', 'y')
      await effect().filter({ hasText: 'Resolves' }).waitFor()
      await check()
      await press('Escape', 'c')
      await check()
      await press('Escape', '?')
      await check()
      await press('Escape')
      expect(trouble).toEqual([])
    },
  )
})
