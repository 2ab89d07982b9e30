// The leaderboards, and the questions of an entity, as whole tables in CSV.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callsOfRows } from '../../../api/limits/page-calls.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { QuestionScore } from '../../../schemas/answers.ts'
import type { LeaderboardFile } from '../../../schemas/payloads.ts'
import { suiteFolder } from '../../support/folder.ts'
import { Clock, type TestService, startTestService, testComponents } from '../../support/http/service.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { HOSTILE_NAMES, releasePageWorld } from '../../support/worlds/page-world.ts'
import { NOW, forecasterId, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
const store = new MemoryStore()
let service: TestService
let empty: TestService
beforeAll(async () => {
  const made = (at: MemoryStore) => testComponents({ store: at, folder, clock: new Clock(NOW) })
  const components = await made(store)
  await releasePageWorld(components)
  service = await startTestService(components)
  empty = await startTestService(await made(new MemoryStore()))
})
afterAll(async () => {
  await service.stop()
  await empty.stop()
})

test.for([
  ['agent', '/view/agents.csv', 'agents-release-1.csv'],
  ['forecaster', '/view/forecasters.csv', 'forecasters-release-1.csv'],
])('all of kind %s are lines of %s, in the order of the leaderboard', async ([kind, path, name]) => {
  const { status, headers, text } = await service.client.get(path!)
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(headers['content-disposition']).toBe(`attachment; filename="${name}"`)
  const { entries } = (await service.client.get(`/leaderboard/${kind}`)).json<LeaderboardFile>()
  const [head, ...lines] = text.trimEnd().split('\r\n')
  const ids = entries.map((entry) => ('agent_id' in entry ? entry.agent_id : entry.user_id))
  expect(lines.map((line) => line.split(',')[0])).toEqual(ids)
  expect(head).toContain(
    'rank,rank_interval_lower,rank_interval_upper,skill,skill_interval_lower,skill_interval_upper,skill_interval_level,board_interval_lower,board_interval_upper,pool,pool_size,contested_questions,peer_score,brier,median_skill,answered_share',
  )
  expect(head).not.toContain('trend')
})

test('all questions of an entity are lines of one answer, in the order and with the numbers of its scores', async () => {
  const id = forecasterId(0)
  const { headers, text } = await service.client.get(`/view/forecasters/${id}/questions.csv`)
  expect(headers['content-disposition']).toBe(`attachment; filename="questions-of-${id}.csv"`)
  const { scores } = (await service.client.get(`/forecaster/${id}/scores?limit=1000`)).json<{
    scores: QuestionScore[]
  }>()
  const [head, ...lines] = text.trimEnd().split('\r\n')
  expect(scores.length).toBeGreaterThan(50)
  const names = head!.split(',')
  const column = (name: string) => lines.map((line) => line.split(',')[names.indexOf(name)])
  expect(column('question_id')).toEqual(scores.map(({ question_id }) => question_id))
  expect(column('brier')).toEqual(scores.map(({ brier }) => String(brier)))
  expect(column('resolved_at')).toEqual(scores.map(({ resolved_at }) => resolved_at))
  expectProblem(
    await service.client.get(`/view/forecasters/${uuidOf(9, 9)}/questions.csv`),
    404,
    /no release has/,
  )
  const page = await service.client.get(`/view/forecasters/${id}/questions`)
  expect(page.text).toContain(`href="/view/forecasters/${id}/questions.csv"`)
})

test('numbers are those of the payload, and names are quoted', async () => {
  const { text } = await service.client.get('/view/agents.csv')
  const { entries } = (await service.client.get('/leaderboard/agent')).json<LeaderboardFile>()
  const { board_interval: bar, skill } = entries[0]!
  expect(text).toContain(`,${skill},`)
  expect(text).toContain(`,${bar!.lower},${bar!.upper},`)
  expect(text).toContain(`"${HOSTILE_NAMES[1]!.replaceAll('"', '""')}"`)
})

test('a store without a release has no table', async () => {
  expectProblem(await empty.client.get('/view/agents.csv'), 404, /there is no release yet/)
})

test('HEAD has the same headers and no body', async () => {
  const head = await fetch(`${service.url}/view/agents.csv`, { method: 'HEAD' })
  expect(head.status).toBe(200)
  expect(head.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(await head.text()).toBe('')
})

test('a table whose first page is lost is no half answer, but a 503', async () => {
  const path = [...store.objects.keys()].find((key) => key.includes('leaderboard/forecaster'))!
  const bytes = store.objects.get(path)!
  store.objects.delete(path)
  expect((await service.client.get('/view/forecasters.csv')).status).toBe(503)
  store.objects.set(path, bytes)
  expect((await service.client.get('/view/forecasters.csv')).status).toBe(200)
})

test('pages lead to it', async () => {
  for (const path of ['/', '/view/agents']) {
    expect((await service.client.get(path)).text).toContain('href="/view/agents.csv"')
  }
  expect((await empty.client.get('/')).text).not.toContain('.csv">')
})

test('a table counts one call for each five hundred rows, so that a limit of a minute admits a large board', () => {
  expect([0, 1, 500, 501, 60_000].map(callsOfRows)).toEqual([1, 1, 1, 2, 120])
})
