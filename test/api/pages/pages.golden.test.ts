// The pages of a fixed store, whole: test/cases/pages/*.html, and of an empty one what differs: *.txt.
// `vitest run -u` writes them anew. The same bytes come from one thread and from four, which is asked of the
// pages about one entity too.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { differenceFrom, steady } from '../../support/http/page-goldens.ts'
import { suiteFolder } from '../../support/folder.ts'
import {
  HOSTILE_OWNER,
  HOSTILE_QUESTION,
  agentIdOf,
  releasePageWorld,
} from '../../support/worlds/page-world.ts'
import { Clock, type TestService, startTestService, testComponents } from '../../support/http/service.ts'
import { NOW, QUESTION, forecasterId } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const services: TestService[] = []
let empty: TestService

beforeAll(async () => {
  const made = (threads: string) =>
    testComponents({
      store: new MemoryStore(),
      folder,
      clock: new Clock(NOW),
      settings: { DUCKDB_THREADS: threads, PUBLIC_URL: 'https://forecasts.example.org' },
    })
  for (const threads of ['1', '4']) {
    const components = await made(threads)
    await releasePageWorld(components)
    const service = await startTestService(components)
    services.push(service)
    // Until it has read what stands, a node does not tell how many have answered.
    const question = async () => (await service.client.get(`/view/questions/${HOSTILE_QUESTION}`)).text
    await vi.waitUntil(async () => (await question()).includes('so far'), 60_000)
  }
  empty = await startTestService(await made('1'))
})
afterAll(async () => {
  for (const service of [...services, empty]) await service.stop()
})

test.for([
  ['landing', '/'],
  ['leaderboard', '/view/agents'],
  ['questions', '/view/questions?status=open'],
  ['question-hostile', `/view/questions/${HOSTILE_QUESTION}`],
  ['question-resolved', `/view/questions/${QUESTION.resolved}`],
  ['search', '/view/search?q=1'],
  ['compare', `/view/compare?a=${agentIdOf(0)}&b=${forecasterId(1)}`],
  [
    'compare-several',
    `/view/compare?a=${agentIdOf(0)}&b=${agentIdOf(1)}&c=${forecasterId(0)}&d=${forecasterId(1)}`,
  ],
  ['check', '/view/verify'],
  ['sitemap', '/sitemap.xml'],
])('%s is as it was, whatever the number of threads', async ([name, path]) => {
  const [one, four] = await Promise.all(services.map(({ client }) => client.get(path!)))
  expect(one!.text).toBe(four!.text)
  await expect(steady(one!.text)).toMatchFileSnapshot(
    `../../cases/pages/${name}.${name === 'sitemap' ? 'xml' : 'html'}`,
  )
})

test.for([
  `/view/agents/${agentIdOf(0)}`,
  `/view/agents/${agentIdOf(0)}/questions`,
  `/view/agents/${agentIdOf(2)}`,
  `/view/forecasters/${forecasterId(0)}`,
  '/view/forecasters',
  `/view/owners/${encodeURIComponent(HOSTILE_OWNER)}`,
  `/agents/${agentIdOf(0)}/badge.svg`,
])('%s is the same from one thread and from four', async (path) => {
  const [one, four] = await Promise.all(services.map(({ client }) => client.get(path)))
  expect(one!.status).toBe(200)
  expect(one!.text).toBe(four!.text)
})

test.for<{ name: string; path: string; whole: string; swaps: [RegExp, string][] }>([
  { name: 'landing-empty', path: '/', whole: '/', swaps: [] },
  {
    name: 'leaderboard-empty',
    path: '/sandbox/view/forecasters',
    whole: '/view/agents',
    swaps: [
      [/agent/g, 'forecaster'],
      [/(="(?:https:..[^/]*)?)\//g, '$1/sandbox/'],
    ],
  },
])('$name, of an empty store, differs from the full page as it did', async ({ name, path, whole, swaps }) => {
  const full = steady((await services[0]!.client.get(whole)).text)
  const { text } = await empty.client.get(path)
  const like = swaps.reduce((page, [from, to]) => page.replaceAll(from, to), full)
  await expect(differenceFrom(like, steady(text))).toMatchFileSnapshot(`../../cases/pages/${name}.txt`)
})
