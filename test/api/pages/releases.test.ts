// The pages of releases: what each changed is what its own payloads say, and what can no longer be known is
// said to be so.
import { expect } from 'vitest'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Components } from '../../../jobs/components/components.ts'
import { suiteFolder } from '../../support/folder.ts'
import { spaced } from '../../support/http/page-text.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import {
  type Client,
  Clock,
  type TestService,
  importRows,
  release,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { TITLES } from '../../../schemas/payloads.ts'
import { copyOf } from '../../support/store-content.ts'
import { FORECASTERS, NOW, copyReleasedWorld, forecasterId, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const store = new MemoryStore()
const RELEASES = 4

let agentId: string
let service: TestService

const componentsOver = (over: MemoryStore): Promise<Components> =>
  testComponents({ store: over, folder, clock: new Clock(NOW) })

const outcomes = (count: number, outcome: string) =>
  Array.from({ length: count }, (_, index) => `${uuidOf(1, index)},${outcome},2026-01-31T00:00:00.000Z\n`)

test.beforeAll(async ({ serve }) => {
  ;({ agentId } = await copyReleasedWorld(store))
  const components = await componentsOver(store)
  const say = (lines: string[]) =>
    importRows(components, 'resolutions', `question_id,outcome,resolved_at\n${lines.join('')}`)
  // Most questions are annulled, so that nobody has enough of them, and then some have an outcome again.
  await say(outcomes(40, 'annulled'))
  await release(components)
  await say(outcomes(30, 'yes'))
  await release(components)
  await release(components)
  service = await serve(components)
})

/** Returns the text of a page, with a space between cells. */
async function textOf(path: string, { client }: { client: Client } = service): Promise<string> {
  const { status, text } = await client.get(path)
  expect(status, text).toBe(200)
  return spaced(text.replaceAll(/<[^>]*>/g, ' '))
}

const HEIGHTS: readonly string[] = TITLES

/** What the payloads of a release and of the one before it say of titles. */
async function titlesBy(number: number): Promise<{ won: string[]; lost: string[] }> {
  const titleIn = async (path: string, of: number) => {
    const answer = await service.client.get(`${path}/verification?release=${of}`)
    const { certification, badge } = answer.json<{ certification?: string; badge?: string }>()
    return HEIGHTS.indexOf(certification ?? badge ?? 'none')
  }
  const [won, lost]: [string[], string[]] = [[], []]
  const people = Array.from({ length: FORECASTERS }, (_, index) => forecasterId(index))
  for (const id of [agentId, ...people]) {
    const path = id === agentId ? `/agents/${id}` : `/forecaster/${id}`
    const before = number === 1 ? 0 : await titleIn(path, number - 1)
    const now = await titleIn(path, number)
    if (now > before) won.push(id)
    if (now < before) lost.push(id)
  }
  return { won, lost }
}

test('titles won and lost are those by which the payloads of two releases differ', async () => {
  let all = 0
  for (let number = 1; number <= RELEASES; number++) {
    const { won, lost } = await titlesBy(number)
    const { text } = await service.client.get(`/view/releases/${number}`)
    const page = await textOf(`/view/releases/${number}`)
    expect(page).toContain(`Titles won ${won.length} `)
    expect(page).toContain(`Titles lost ${lost.length} `)
    for (const id of [...won, ...lost]) expect(text).toContain(`/${id}"`)
    all += won.length + lost.length
  }
  expect(all).toBeGreaterThan(2)
})

test('the list has every release once, newest first, with what it changed', async () => {
  const { text } = await service.client.get('/view/releases')
  const listed = Array.from(text.matchAll(/<a href="\/view\/releases\/(\d+)">Release/g), ([, n]) => n)
  expect(listed).toEqual(['4', '3', '2', '1'])
  const page = await textOf('/view/releases')
  const day = '2026-03-01 12:00 UTC'
  expect(page).toContain(`Release 4 ${day} 0 0 0 0`)
  expect(page).toContain(`Release 3 ${day} +30 `)
  expect(page).toContain(`Release 2 ${day} −40 `)
  expect(page).toContain(`Release 1 ${day} +52 0 `)
})

test('the page of a release has its corrections, and leads to what it said and to its neighbours', async () => {
  const { text } = await service.client.get('/view/releases/2')
  expect(text).toContain(`<a href="/view/questions/${uuidOf(1, 0)}"><bdi>Question &quot;0&quot;</bdi></a>`)
  expect(await textOf('/view/releases/2')).toMatch(/Question &quot;0&quot; outcome yes annulled/)
  for (const to of [
    '/view/agents?release=2',
    '/view/forecasters?release=2',
    '/releases/2',
    '/view/releases/1',
    '/view/releases/3',
  ]) {
    expect(text).toContain(`href="${to}"`)
    expect((await service.client.get(to)).status).toBe(200)
  }
  expect((await service.client.get('/view/releases/4')).text).toContain('href="/view/agents"')
})

test('other pages lead to the page of their release', async () => {
  for (const path of ['/view/agents', `/view/agents/${agentId}`]) {
    expect((await service.client.get(path)).text).toContain('<a href="/view/releases/4">Release 4</a>')
  }
})

test('what retention has deleted is not known, and the rest stays', { tags: ['slow'] }, async () => {
  const thinned = copyOf(store)
  await thinReleases({ store: thinned, now: () => new Date(NOW), log: () => undefined }, RELEASES, 2)
  const over = await startTestService(await componentsOver(thinned))
  const list = await textOf('/view/releases', over)
  const day = '2026-03-01 12:00 UTC'
  expect(list).toContain(`Release 4 ${day} 0 0 0 0`)
  for (const number of [1, 2, 3]) {
    expect(list).toMatch(new RegExp(`${number} ${day} [+−]\\d+ \\d+ not known not known`))
    const page = await textOf(`/view/releases/${number}`, over)
    expect(page).toContain('Not known: the files that say it are deleted.')
    expect(page.includes('The operator deleted on 2026-03-01')).toBe(number < 3)
  }
  await over.stop()
})

test('a release or a page of the list that there is not is a 404 in words', async () => {
  expectProblem(
    await service.client.get('/view/releases/5'),
    404,
    /there is no release 5: the current one is 4/,
  )
  expectProblem(
    await service.client.get('/view/releases?page=2'),
    404,
    /there is no page 2 of releases: the last one is 1/,
  )
  expectProblem(await service.client.get('/view/releases/x'), 422, /must be the number of a release/)
})
