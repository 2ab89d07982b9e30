// An earlier release answers as it did while it was the current one, until it is thinned: calls in the same
// bytes, and pages in the same words below a banner, with the links of that release.
import { describe, expect } from 'vitest'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { allRoutes } from '../../../api/routes/all.ts'
import { inRelease } from '../../../api/pages/site.ts'
import { assignAgents, hideAgent } from '../../../jobs/agents/agents.ts'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Components } from '../../../jobs/components/components.ts'
import { suiteFolder } from '../../support/folder.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import {
  type Answer,
  Clock,
  type TestService,
  importRows,
  release,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, copyReleasedWorld, forecasterId, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const PUBLIC_URL = 'https://forecasts.example.org'
/** A settled question whose outcome no release changes. */
const SETTLED = uuidOf(1, 1)
/** One whose outcome release 2 changes. */
const CHANGED = uuidOf(1, 0)
const A_MINUTE = 'public, max-age=60'

const store = new MemoryStore()
let agentId: string
let service: TestService
/** What the current release answered to each path, by release. */
const served: Record<number, Record<string, Answer>> = {}

const componentsOver = (over: MemoryStore): Promise<Components> =>
  testComponents({ store: over, folder, clock: new Clock(NOW), settings: { PUBLIC_URL } })

/** Of the agent from release 2 on. */
const OWNER = 'somebody'

const callsOf = (path: string): string[] =>
  ['', '/verification', '/metrics', '/rankings', '/advanced-metrics', '/scores'].map((call) => path + call)

const calls = (): string[] => [
  ...callsOf(`/agents/${agentId}`),
  ...callsOf(`/forecaster/${forecasterId(2)}`),
  '/leaderboard/agent',
  '/leaderboard/forecaster',
  '/view/agents.csv',
  '/view/forecasters.csv',
  ...['answers', 'last-forecasts', 'course'].map((table) => `/view/questions/${SETTLED}/${table}.csv`),
]

const pagePaths = (): string[] => [
  '/view/agents',
  '/view/forecasters',
  `/view/agents/${agentId}`,
  `/view/forecasters/${forecasterId(2)}`,
  `/view/forecasters/${forecasterId(2)}/questions`,
  `/view/questions/${SETTLED}`,
]

/** Pages and a record of release 1 with the name of the agent. */
const named = (): string[] => [
  '/view/agents',
  `/view/agents/${agentId}`,
  `/view/questions/${SETTLED}`,
  `/agents/${agentId}/verification`,
]

async function keepServed(number: number, components: Components, others: string[] = []): Promise<void> {
  const { client, stop } = await startTestService(components)
  served[number] = {}
  for (const path of [...calls(), ...pagePaths(), ...others]) {
    const answer = await client.get(path)
    expect(answer.status, path).toBe(200)
    served[number][path] = answer
  }
  await stop()
}

test.beforeAll(async ({ serve }) => {
  ;({ agentId } = await copyReleasedWorld(store))
  const components = await componentsOver(store)
  await keepServed(1, components)
  const outcome = `question_id,outcome,resolved_at\n${uuidOf(1, 0)},no,2026-01-31T00:00:00.000Z\n`
  await importRows(components, 'resolutions', outcome)
  await assignAgents(components, [agentId], { owner: OWNER })
  await release(components)
  await keepServed(2, components, [`/owners/${OWNER}`, ...named().map((path) => `${path}?release=1`)])
  await hideAgent(components, agentId, { reason: 'a name of another' })
  await release(components)
  service = await serve(components)
})

describe.for([1, 2])('release %d of 3', (number) => {
  test('answers every call in the bytes that it answered while it was the current one', async () => {
    for (const path of calls()) {
      const { status, bytes, headers } = await service.client.get(`${path}?release=${number}`)
      const then = served[number]![path]!
      expect(status, path).toBe(200)
      expect(bytes.toString(), path).toBe(then.bytes.toString())
      expect(headers['x-service-signature'], path).toBe(then.headers['x-service-signature'])
      expect(headers['cache-control'], path).toBe(A_MINUTE)
    }
  })

  test(
    'has pages that say which one they are, that no search engine lists, and that stay in it',
    { tags: ['slow'] },
    async () => {
      for (const path of pagePaths()) {
        const { status, text, headers } = await service.client.get(`${path}?release=${number}`)
        expect(status, path).toBe(200)
        expect(headers['cache-control']).toBe(A_MINUTE)
        expect(text).toContain(
          `release ${number}</a> of <time datetime="2026-03-01">2026-03-01</time>; <a href="${path}">the current one is 3</a>`,
        )
        expect(text).toContain('<meta name="robots" content="noindex">')
        expect(text).toContain(`<link rel="canonical" href="${PUBLIC_URL}${path}">`)
        expect(text).toContain(`<p class="address">${PUBLIC_URL}${path}?release=${number}</p>`)
        const [, main] = /<main[^>]*>([\s\S]*)<\/main>/.exec(text)!
        const links = Array.from(main!.matchAll(/href="([^"#]*)[^"]*"/g), ([, to]) =>
          to!.replaceAll('&amp;', '&'),
        )
        const own = links.filter((to) => /^\/(?:view\/(?:agents|forecasters)|agents|forecaster)\b/.test(to))
        const others = own.filter((to) => !to.includes(`release=${number}`))
        expect(
          others.filter((to) => !/\/(?:report|proof|badge\.svg|card\.svg|card\.png)\b/.test(to)),
        ).toEqual([])
        for (const to of links) expect((await service.client.get(to)).status, to).toBe(200)
      }
    },
  )
})

test('an owner of an earlier release has the agents of then, and one of a later release is refused in words', async () => {
  const { bytes, headers } = await service.client.get(`/owners/${OWNER}?release=2`)
  expect(bytes.toString()).toBe(served[2]![`/owners/${OWNER}`]!.bytes.toString())
  expect(headers['cache-control']).toBe(A_MINUTE)
  const { text } = await service.client.get(`/view/owners/${OWNER}?release=2`)
  expect(text).toContain('release 2</a> of')
  expect(text).toContain(`href="/view/agents/${agentId}?release=2"`)
  const { name } = served[1]![`/agents/${agentId}`]!.json<{ name: string }>()
  expect(text).not.toContain(name)
  for (const path of [`/owners/${OWNER}`, `/view/owners/${OWNER}`]) {
    expectProblem(
      await service.client.get(`${path}?release=1`),
      404,
      /^release 1 has no agent of an owner "somebody": leave `release` out to ask the current one, 3$/,
    )
  }
})

test('a question whose outcome was changed since says so in an earlier release, and has no table there', async () => {
  const path = `/view/questions/${CHANGED}`
  expect((await service.client.get(path)).text).toContain('answers.csv')
  const { text } = await service.client.get(`${path}?release=1`)
  expect(text).toContain('Release 1 was made with another outcome')
  expect(text).not.toContain('.csv"')
})

test('the name of an agent that was hidden since is on no page', async () => {
  const { name } = served[1]![`/agents/${agentId}`]!.json<{ name: string }>()
  for (const path of ['/view/agents', `/view/agents/${agentId}`, `/view/questions/${SETTLED}`]) {
    expect(served[1]![path]!.text).toContain(`<bdi>${name}</bdi>`)
    expect((await service.client.get(`${path}?release=1`)).text).not.toContain(`<bdi>${name}</bdi>`)
  }
})

test('a cache that asks again gets a page without a name that was hidden meanwhile, and no record of a thinned release', async () => {
  const { name } = served[1]![`/agents/${agentId}`]!.json<{ name: string }>()
  const changed = copyOf(store)
  await thinReleases({ store: changed, now: () => new Date(NOW), log: () => undefined }, 3, 1)
  const thinned = await startTestService(await componentsOver(changed))
  for (const path of named().map((one) => `${one}?release=1`)) {
    const kept = served[2]![path]!
    expect(kept.text).toContain(name)
    expect(kept.headers['cache-control']).toBe(A_MINUTE)
    const again = { 'If-None-Match': kept.headers.etag! }
    const { status, text } = await service.client.get(path, again)
    // Its signature covers the name, so that a record stays as it is until its release is deleted.
    if (path.startsWith('/agents/')) expect(status).toBe(304)
    else {
      expect(status, path).toBe(200)
      expect(text, path).not.toContain(`<bdi>${name}</bdi>`)
    }
    expect((await thinned.client.get(path, again)).status, path).toBe(404)
  }
  await thinned.stop()
})

test('the current release may be named too, and its page has no banner', async () => {
  const path = `/forecaster/${forecasterId(2)}/verification`
  expect((await service.client.get(`${path}?release=3`)).text).toBe((await service.client.get(path)).text)
  const { text } = await service.client.get('/view/forecasters?release=3')
  expect(text).toBe((await service.client.get('/view/forecasters')).text)
})

test('a release that there is not, or not yet, is refused in words', async () => {
  for (const path of [...calls(), ...pagePaths()]) {
    expectProblem(
      await service.client.get(`${path}?release=4`),
      404,
      /^there is no release 4: the current one is 3$/,
    )
    expectProblem(
      await service.client.get(`${path}?release=0`),
      422,
      /must be the number of a release, such as 12/,
    )
  }
})

test('what a release does not have is told apart from what none has', async () => {
  const nobody = uuidOf(9, 9)
  for (const path of [
    `/forecaster/${nobody}/metrics`,
    `/view/forecasters/${nobody}`,
    `/view/agents/${nobody}`,
  ]) {
    expectProblem(
      await service.client.get(`${path}?release=2`),
      404,
      /^release 2 has no (?:agent|forecaster) \S+: leave `release` out to ask the current one, 3$/,
    )
  }
})

test('a list of an earlier release goes on in it, and a cursor of another release is refused', async () => {
  const path = '/leaderboard/forecaster?limit=4&release=1'
  const first = (await service.client.get(path)).json<{ next_cursor: string; entries: object[] }>()
  const next = await service.client.get(`${path}&cursor=${first.next_cursor}`)
  expect(next.json()).toMatchObject({ release: 1, next_cursor: null })
  const whole = served[1]!['/leaderboard/forecaster']!.json<{ entries: object[] }>()
  expect([...first.entries, ...next.json<{ entries: object[] }>().entries]).toEqual(whole.entries)
  const other = await service.client.get(`/leaderboard/forecaster?release=2&cursor=${first.next_cursor}`)
  expectProblem(other, 422, /is of another release than `release`/)
})

test(
  'a release that was thinned is refused, with what to do; the others answer',
  { tags: ['slow'] },
  async () => {
    const changed = copyOf(store)
    await thinReleases({ store: changed, now: () => new Date(NOW), log: () => undefined }, 3, 2)
    const { client, stop } = await startTestService(await componentsOver(changed))
    for (const path of [...calls(), ...pagePaths()]) {
      const refused = await client.get(`${path}?release=1`)
      expect(refused.json()).toMatchObject({ type: '/problems/release-thinned' })
      expectProblem(
        refused,
        404,
        /^release 1 was thinned at \S+: what it published .* deleted; ask for the current release, or for the daily snapshots/,
      )
    }
    for (const path of calls()) {
      const { bytes } = await client.get(`${path}?release=2`)
      expect(bytes.toString(), path).toBe(served[2]![path]!.bytes.toString())
    }
    await stop()
  },
)

test('links stay in a release exactly where the call or page takes one', () => {
  const routes = allRoutes({ version: '1.0.0', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
  for (const { path, method, namesRelease } of routes.filter((route) => route.method === 'GET')) {
    const example = path.replaceAll(/\{\+?\w+\}/g, 'x')
    expect(inRelease(`${example}?a=1#b`, 7), `${method} ${path}`).toBe(
      namesRelease ? `${example}?a=1&release=7#b` : `${example}?a=1#b`,
    )
  }
})
