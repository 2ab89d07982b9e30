// The pages of topics, and the boards by category behind them.
import { expect } from 'vitest'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { releasePrefix } from '../../../pipeline/store/paths.ts'
import type { CategoriesFile, CategoryBoardFile } from '../../../schemas/payloads.ts'
import { test } from '../../support/http/fixtures.ts'
import { Clock, type TestService, testComponents } from '../../support/http/service.ts'
import { HOSTILE_NAMES, releasePageWorld } from '../../support/worlds/page-world.ts'
import { NOW } from '../../support/worlds/world.ts'

const store = new MemoryStore()
let service: TestService
test.beforeAll(async ({ folder, serve }) => {
  const components = await testComponents({ store, folder, clock: new Clock(NOW) })
  await releasePageWorld(components)
  service = await serve(components)
})

const published = <File>(path: string) =>
  JSON.parse(Buffer.from(store.objects.get(`${releasePrefix(1)}${path}`)!).toString()) as File
const simulated = () => published<CategoriesFile>('categories/index.json').categories[1]!

test('the list of topics has every category with its numbers, and leads to its page', async () => {
  const { text } = await service.client.get('/view/topics')
  const { questions, settled_questions: settled, agents, forecasters } = simulated()
  expect(text).toContain('href="/view/topics/simulated"')
  expect(text).toContain('href="/view/topics/%3Ci%3Ecategory%3C%2Fi%3E"')
  const cells = [questions, settled, agents, forecasters].map((count) => `<td class="n">${count}</td>`)
  expect(text).toContain(cells.join(''))
})

test('a topic has its dates, its numbers, the boards of both kinds, and says that it gives no title', async () => {
  const { text } = await service.client.get('/view/topics/simulated')
  expect(text).toContain('2026-01-01')
  for (const kind of ['agent', 'forecaster']) {
    const { entries } = published<CategoryBoardFile>(`categories/000001/${kind}/000000.json`)
    expect(entries.length).toBeGreaterThan(1)
    for (const entry of entries.slice(0, 25)) {
      expect(text).toContain('agent_id' in entry ? entry.agent_id : entry.user_id)
    }
  }
  expect(text).toContain('A topic ranks; it gives no title.')
  expect(text).toContain('href="/view/questions?category=simulated"')
})

test('a board by category has the names of people, which no file of a category has', async () => {
  const { text } = await service.client.get('/view/forecasters?category=simulated')
  expect(text).toContain('&lt;script&gt;')
  const paths = [...store.objects.keys()].filter(
    (path) => path.includes('/categories/') && path.includes('forecaster'),
  )
  expect(paths.length).toBeGreaterThan(0)
  for (const path of paths)
    expect(Buffer.from(store.objects.get(path)!).toString()).not.toContain(HOSTILE_NAMES[0])
})

test('both pages of a topic have its reference forecasts, with a word about them', async () => {
  for (const path of ['/view/topics/simulated', '/view/agents?category=simulated']) {
    const { text } = await service.client.get(path)
    expect(text).toMatch(
      /<tr class="reference"><td class="n place">–<\/td><th scope="row" class="name">The median</,
    )
    expect(text).toContain('take no part and have no place')
  }
})

test('the board of all leads to that of a topic, and its CSV has the entries in their order', async () => {
  expect((await service.client.get('/view/agents')).text).toContain('href="/view/agents?category=simulated"')
  const { headers, text } = await service.client.get('/view/agents.csv?category=simulated')
  expect(headers['content-type']).toBe('text/csv; charset=utf-8')
  const { entries } = published<CategoryBoardFile>('categories/000001/agent/000000.json')
  const ids = entries.map((entry) => ('agent_id' in entry ? entry.agent_id : entry.user_id))
  expect(
    text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[0]),
  ).toEqual(ids)
})

test('the list of questions leads to all topics, and with a category to its topic where that has a board', async () => {
  const textOf = async (query: string) => (await service.client.get(`/view/questions${query}`)).text
  expect(await textOf('')).toContain('<a href="/view/topics">Who forecasts each topic best</a>')
  expect(await textOf('?category=simulated')).toContain('<a href="/view/topics/simulated">Who forecasts')
  const without = await textOf('?category=%3Ci%3Ecategory%3C%2Fi%3E')
  expect(without).not.toContain('href="/view/topics/')
})

test('a search finds a topic by a part of its name', async () => {
  const { text } = await service.client.get('/view/search?q=SIMUL')
  expect(text).toContain('href="/view/topics/simulated"')
})

test.for([
  '/view/topics/nothing',
  '/view/agents?category=nothing',
  '/view/agents?category=simulated&page=2',
  '/view/agents.csv?category=nothing',
])('%s is not found', async (path) => {
  expect((await service.client.get(path)).status).toBe(404)
})

test('a topic that nobody is ranked in says so', async () => {
  const { text } = await service.client.get('/view/agents?category=%3Ci%3Ecategory%3C%2Fi%3E')
  expect(text).toContain('Nobody has enough shared questions of this topic yet.')
})
