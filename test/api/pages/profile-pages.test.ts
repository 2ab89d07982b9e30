// The pages about one entity over HTTP: which answer there is for whom, from what, and for how long.
import { expect } from 'vitest'
import { assignAgents, retireAgents } from '../../../jobs/agents/agents.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { suiteFolder } from '../../support/folder.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import {
  Clock,
  type TestService,
  importRows,
  registerAgent,
  release,
  testComponents,
  testService,
} from '../../support/http/service.ts'
import { spaced } from '../../support/http/page-text.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, QUESTION, copyReleasedWorld, csvOf, forecasterId, uuidOf } from '../../support/worlds/world.ts'

const OWNER = 'Laboratory / of "Owners"'
const NOBODY = '00000000-0000-4000-8000-00000000dead'

const folder = await suiteFolder()
let service: TestService
let agentId: string

test.beforeAll(async ({ components, world, serve }) => {
  ;({ agentId } = world)
  await assignAgents(components, [agentId], { owner: OWNER })
  await importRows(
    components,
    'resolutions',
    `question_id,outcome,resolved_at\n${QUESTION.resolved},no,2026-01-21T00:00:00.000Z\n`,
  )
  await release(components)
  service = await serve(components)
})

test('a profile is a page that is rendered once, and that no script of others gets into', async () => {
  const path = `/view/agents/${agentId}`
  const first = await service.client.get(path)
  expect(first.status).toBe(200)
  expect(first.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(first.headers['content-security-policy']).toContain("default-src 'none'")
  expect(first.headers['cache-control']).toBe('public, max-age=60')
  const etag = first.headers.etag!
  const again = await service.client.get(`/view/agents/${agentId.toUpperCase()}`)
  expect(again.text).toBe(first.text)
  expect((await service.client.get(path, { 'If-None-Match': etag })).status).toBe(304)
})

test('a profile has the verification as the API sends it', async () => {
  const { client } = service
  const [page, verification] = [
    await client.get(`/view/agents/${agentId}`),
    await client.get(`/agents/${agentId}/verification`),
  ]
  expect(page.text).toContain(`<pre id="payload">${verification.text.replaceAll('"', '&quot;')}</pre>`)
  expect(page.text).toContain(
    `<code id="signature">${String(verification.headers['x-service-signature'])}</code>`,
  )
})

test('a correction is on the profiles of those who answered', async () => {
  for (const path of [`/view/agents/${agentId}`, `/view/forecasters/${forecasterId(0)}`]) {
    const { text } = await service.client.get(path)
    expect(spaced(text.replace(/<[^>]*>/g, ''))).toContain(
      'Release 2 replaces the outcome of one of these questions. Question &quot;0&quot;: no, no longer yes.',
    )
  }
})

test('every link of the pages leads somewhere', { tags: ['slow'] }, async () => {
  const { client } = service
  const pages = [
    `/view/agents/${agentId}`,
    `/view/agents/${agentId}/questions`,
    `/view/forecasters/${forecasterId(0)}`,
    `/view/owners/${encodeURIComponent(OWNER)}`,
  ]
  const links = new Set<string>()
  for (const path of pages) {
    const { status, text } = await client.get(path)
    expect([path, status]).toEqual([path, 200])
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    for (const [, link] of text.matchAll(/ (?:href|src)="([^"]+)"/g)) {
      if (link!.startsWith('#')) expect(ids).toContain(link!.slice(1))
      else links.add(link!)
    }
  }
  for (const link of links) expect([link, (await client.get(link)).status]).toEqual([link, 200])
})

test(
  'a question with an outcome that has not closed is marked, and counts for nothing',
  { tags: ['slow'] },
  async () => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    const components = await testComponents({ store, folder, clock: new Clock(NOW) })
    const early = uuidOf(1, 2000)
    await importRows(
      components,
      'questions',
      `question_id,title,opened_at,closes_at\n${early},Before 2027?,2026-01-01T00:00:00Z,2027-01-01T00:00:00Z\n`,
    )
    await importRows(
      components,
      'resolutions',
      `question_id,outcome,resolved_at\n${early},yes,2026-02-01T00:00:00Z\n`,
    )
    const forecast = `forecaster,${forecasterId(0)},${early},0.9,2026-01-02T00:00:00Z`
    await importRows(components, 'forecasts', csvOf([forecast]))
    await release(components)
    const { client } = await testService(components)
    const scores = await client.get(`/forecaster/${forecasterId(0)}/scores?limit=1`)
    expect(scores.json()['scores']).toMatchObject([
      { question_id: early, settled: false, settled_at: null, contested: false },
    ])
    const path = `/view/forecasters/${forecasterId(0)}`
    const [shown, all] = [(await client.get(path)).text, (await client.get(`${path}/questions`)).text]
    expect(shown).toContain('1 question has an outcome and has not closed yet: it counts from its close on.')
    expect(shown).toContain('All 53 questions')
    for (const text of [shown, all]) {
      expect(text).toMatch(
        /Before 2027\?.*<td>yes<\/td><td class="n">90\u00a0%<\/td><td class="n">not closed yet<\/td>/,
      )
    }
  },
)

test('an agent that no release has covered yet has a page that says so', async () => {
  const { agentId: fresh } = await registerAgent(service.client)
  const { status, text } = await service.client.get(`/view/agents/${fresh}`)
  expect(status).toBe(200)
  expect(text).toContain('Its record is in the first results that are published after its first forecast')
  expect(text).toContain('noindex')
})

test('whom nobody knows has no page, and neither has a page beyond the last', async () => {
  const { client } = service
  const missing: [path: string, detail: RegExp][] = [
    [`/view/agents/${NOBODY}`, /^there is no agent /],
    [`/view/forecasters/${NOBODY}`, /^no release has a forecaster /],
    [`/view/agents/${NOBODY}/questions`, /^there is no agent /],
    ['/view/owners/nobody', /has no agent of an owner "nobody"/],
    [`/view/agents/${agentId}/questions?page=2`, /^there is no page 2: the last one is 1$/],
  ]
  for (const [path, detail] of missing) expectProblem(await client.get(path), 404, detail)
  expectProblem(await client.get(`/view/agents/${agentId}/questions?page=0`), 422, /page/)
})

test('a release made by four threads has the same pages as one made by one', { tags: ['slow'] }, async () => {
  const world = new MemoryStore()
  const { agentId: retiring } = await copyReleasedWorld(world)
  const pagesBy = async (threads: string) => {
    const settings = { DUCKDB_THREADS: threads }
    const store = copyOf(world)
    const components = await testComponents({ store, folder, clock: new Clock(NOW), settings })
    await retireAgents(components, [retiring])
    await release(components)
    const { client } = await testService(components)
    const paths = [`/view/agents/${retiring}`, `/view/forecasters/${forecasterId(1)}`]
    return Promise.all(paths.map(async (path) => (await client.get(path)).text))
  }
  const [one, four] = [await pagesBy('1'), await pagesBy('4')]
  expect(one[0]).toContain('Retired on')
  expect(four).toEqual(one)
})
