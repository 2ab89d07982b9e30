// The leaderboard: who stands where, page by page, and stable while a caller pages through one release. And
// profiles.
import { describe, expect } from 'vitest'
import { assignAgents, retireAgents } from '../../../jobs/agents/agents.ts'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { suiteFolder } from '../../support/folder.ts'
import { expectValid } from '../../support/json-schema.ts'
import { expectProblem, pointersOf } from '../../support/http/problem.ts'
import { submitForecasts } from '../../support/worlds/submitted-forecasts.ts'
import { test } from '../../support/http/fixtures.ts'
import { Clock, type TestService, importRows, release, testComponents } from '../../support/http/service.ts'
import {
  FORECASTERS,
  NOW,
  QUESTION,
  copyReleasedWorld,
  forecasterId,
  uuidOf,
} from '../../support/worlds/world.ts'

interface Page {
  release: number
  entries: {
    user_id?: string
    agent_id?: string
    name: string | null
    rank: number | null
    skill: number | null
  }[]
  next_cursor: string | null
}

/** People who were imported by name and have forecast nothing. */
const IDLE = 230
const TOTAL = FORECASTERS + IDLE
const idle = (index: number) => uuidOf(5, index)

const folder = await suiteFolder()
const clock = new Clock(NOW)
const store = new MemoryStore()
let service: TestService
let agentId: string
let key: string

test.beforeAll(async ({ serve }) => {
  const components = await testComponents({ store, folder, clock })
  ;({ agentId, key } = await copyReleasedWorld(store))
  const names = Array.from({ length: IDLE }, (_, index) => `${idle(index)},Person ${index}`)
  await importRows(components, 'forecasters', ['user_id,display_name', ...names, ''].join('\n'))
  await release(components)
  service = await serve(components)
})

async function page(query = '', kind = 'forecaster'): Promise<Page> {
  const answer = await service.client.get(`/leaderboard/${kind}${query}`)
  expect(answer.status, answer.text).toBe(200)
  expectValid('leaderboard-page', answer.json())
  return answer.json<Page>()
}

describe('the leaderboard', () => {
  test('has the ranked in order of rank, and then the others by id', async () => {
    const { entries, next_cursor } = await page(`?limit=${FORECASTERS + 2}`)
    expect(entries.map(({ user_id, rank }) => [user_id, rank])).toEqual([
      ...Array.from({ length: FORECASTERS }, (_, index) => [forecasterId(index), index + 1]),
      [idle(0), null],
      [idle(1), null],
    ])
    expect(entries.at(-1)).toMatchObject({ user_id: idle(1), skill: null })
    expect(next_cursor).toBe(`2_${FORECASTERS + 2}`)
    const rankings = await service.client.get(`/forecaster/${forecasterId(0)}/rankings`)
    const { skill, rank_interval, badge } = rankings.json()
    expect(entries[0]).toMatchObject({ skill, rank_interval, badge })
  })

  test.for([1, 7, 99, 100, 101, 236, 1000])('pages of %i have everyone once', async (limit) => {
    const seen: string[] = []
    let pages = 0
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const { entries, next_cursor }: Page = await page(`?limit=${limit}${query}`)
      expect(entries.length).toBeLessThanOrEqual(limit)
      seen.push(...entries.map(({ user_id }) => user_id!))
      cursor = next_cursor
      pages += 1
    }
    expect(new Set(seen).size).toBe(TOTAL)
    expect(seen).toHaveLength(TOTAL)
    expect(pages).toBe(Math.ceil(TOTAL / limit))
  })

  test.for([
    ['?q=person%2022&limit=3', [22, 220, 221], 3],
    ['?q=ERSON%20229', [229], null],
    ['?name=pERSON%207', [7], null],
    ['?name=Person', [], null],
    ['?q=7&name=person%2017', [17], null],
    ['?q=8&name=person%2017', [], null],
    ['?q=nobody', [], null],
  ] as const)('%s finds by name', async ([query, found, more]) => {
    const { entries, next_cursor } = await page(query)
    expect(entries.map(({ user_id }) => user_id)).toEqual(found.map(idle))
    if (more === null) return expect(next_cursor).toBeNull()
    const rest = await page(`${query}0&cursor=${next_cursor}`)
    expect(rest.entries.map(({ user_id }) => user_id)).toEqual(
      Array.from({ length: 8 }, (_, n) => idle(n + 222)),
    )
    expect(rest.next_cursor).toBeNull()
  })

  test('a page of a search has at most 100, and an entry is as the board has it', async () => {
    const { entries, next_cursor } = await page('?q=person&limit=1000')
    expect(entries).toHaveLength(100)
    const [found] = (await page('?name=person%2042')).entries
    expect(found).toEqual((await page('?limit=1000')).entries.find(({ user_id }) => user_id === idle(42)))
    expect(found).not.toHaveProperty('name')
    expect((await page(`?q=person&limit=1000&cursor=${next_cursor}`)).entries).toHaveLength(100)
  })

  test('refuses a search for nothing, and for what no name has', async () => {
    for (const text of ['', '%0aPerson', 'x'.repeat(201)]) {
      expect(pointersOf(await service.client.get(`/leaderboard/agent?q=${text}`))).toEqual(['/q'])
    }
  })

  test('of agents has their certification', async () => {
    const { entries, next_cursor } = await page('', 'agent')
    expect(entries).toMatchObject([{ agent_id: agentId, certification: 'measured', rank: 1 }])
    expect(next_cursor).toBeNull()
  })

  test('refuses what is no cursor, and one of a release that there is not', async () => {
    for (const cursor of ['x', '1', '0_1', '2_', '2_-1']) {
      expect(pointersOf(await service.client.get(`/leaderboard/agent?cursor=${cursor}`))).toEqual(['/cursor'])
    }
    expectProblem(await service.client.get('/leaderboard/agent?cursor=999_0'), 404, /no release 999/)
    expect(pointersOf(await service.client.get('/leaderboard/team'))).toEqual(['/entity_type'])
    expect(await page('?cursor=2_100000')).toMatchObject({ entries: [], next_cursor: null })
  })
})

test(
  'a cursor stays with its release when there is a newer one, until that is thinned',
  { tags: ['slow'] },
  async () => {
    const own = await testComponents({ store, folder, clock })
    const first = await page('?limit=3')
    await importRows(own, 'forecasters', `user_id,display_name\n${uuidOf(5, 9999)},One more\n`)
    await release(own)
    await service.client.get('/releases/current')
    await expect.poll(async () => (await page()).release).toBe(3)
    const second = await page(`?limit=3&cursor=${first.next_cursor}`)
    expect([first.release, second.release]).toEqual([2, 2])
    expect(second.entries.map(({ rank }) => rank)).toEqual([4, 5, 6])
    await thinReleases(own, 3, 1)
    const gone = await service.client.get('/leaderboard/forecaster?cursor=1_0')
    expectProblem(gone, 404, /was thinned at/)
    expect(gone.json()).toMatchObject({ type: '/problems/release-thinned' })
  },
)

describe('a profile', () => {
  test(
    'of an agent says what was registered and recorded, and what it has done',
    { tags: ['slow'] },
    async () => {
      const own = await testComponents({ store, folder, clock })
      const forecast = `agent,${agentId},${QUESTION.open},0.4,2026-02-01T10:00:00Z`
      await submitForecasts(store, [forecast])
      // A question whose resolution was withdrawn is open.
      for (const outcome of ['yes', 'open']) {
        const line = `${QUESTION.open},${outcome},2026-02-01T00:00:00Z`
        await importRows(own, 'resolutions', `question_id,outcome,resolved_at\n${line}\n`)
      }
      await assignAgents(own, [agentId], { owner: 'somebody' })
      await retireAgents(own, [agentId])
      const { made } = await release(own)
      expect(made).toBe(true)
      await expect
        .poll(async () => (await service.client.get(`/agents/${agentId}`)).json()['release'])
        .toBe(4)
      const answer = await service.client.get(`/agents/${agentId}`)
      expectValid('agent-profile', answer.json())
      expect(answer.headers['x-service-signature']).toMatch(/^v1=[0-9a-f]{64}$/)
      expect(answer.json()).toMatchObject({
        agent_id: agentId,
        name: 'an agent',
        owner_id: 'somebody',
        registered_at: NOW,
        retired_at: expect.stringMatching(/^2026-03-01T12/) as string,
        last_forecast_at: '2026-02-01T10:00:00.000Z',
        open_forecasts: 1,
        next_close_at: '2027-02-05T00:00:00.000Z',
        overdue_forecasts: 0,
      })
      expect(key).toMatch(/^fv_live_/)
    },
  )

  test('of a person says what was imported', async () => {
    const answer = await service.client.get(`/forecaster/${idle(7)}`)
    expectValid('forecaster-profile', answer.json())
    expect(answer.json()).toMatchObject({
      user_id: idle(7),
      last_forecast_at: null,
      open_forecasts: 0,
      next_close_at: null,
    })
    expect(answer.json()).not.toHaveProperty('name')
    expectProblem(await service.client.get(`/forecaster/${uuidOf(9, 9)}`), 404, /no release has a forecaster/)
  })

  test('of a person has its name apart, in an answer that nothing signs', async () => {
    const answer = await service.client.get(`/people?ids=${idle(7)},${uuidOf(9, 9)}`)
    expectValid('people-names', answer.json())
    expect(answer.json()).toEqual({
      signed: false,
      people: [
        { user_id: idle(7), name: 'Person 7' },
        { user_id: uuidOf(9, 9), name: null },
      ],
    })
    expect(answer.headers['x-service-signature']).toBeUndefined()
  })
})
