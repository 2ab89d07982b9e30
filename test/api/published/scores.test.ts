// Scores per question over HTTP: what they hold, how they are paged, and what is answered where there are
// none.
import { describe, expect } from 'vitest'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { FileStore } from '../../../pipeline/store/file.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { QuestionScore } from '../../../schemas/answers.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder, testFolder } from '../../support/folder.ts'
import { expectValid } from '../../support/json-schema.ts'
import { expectProblem, pointersOf } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import {
  type Client,
  Clock,
  type TestService,
  bearer,
  importRows,
  registerAgent,
  release,
  testComponents,
  testService,
} from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, QUESTION, copyReleasedWorld, csvOf, forecasterId, uuidOf } from '../../support/worlds/world.ts'

interface Page {
  agent_id?: string
  user_id?: string
  release: number
  scores: QuestionScore[]
  next_cursor: string | null
}

/** Of the world. */
const RESOLVED = 52
const folder = await suiteFolder()
const clock = new Clock(NOW)
const store = new MemoryStore()
let service: TestService
let agentId: string

test.beforeAll(async ({ serve }) => {
  ;({ agentId } = await copyReleasedWorld(store))
  service = await serve(await testComponents({ store, folder, clock }))
})

const page = async (path: string, client: Client = service.client): Promise<Page> => {
  const answer = await client.get(path)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.headers['cache-control']).toBe('public, max-age=60')
  expect(answer.headers).not.toHaveProperty('x-service-signature')
  expectValid(path.startsWith('/agents') ? 'agent-scores' : 'forecaster-scores', answer.json())
  return answer.json<Page>()
}
const ofAgent = () => `/agents/${agentId}/scores`
const ofForecaster = `/forecaster/${forecasterId(0)}/scores`

async function all(path: string, limit: number): Promise<QuestionScore[][]> {
  const pages: QuestionScore[][] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const found: Page = await page(`${path}?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`)
    pages.push(found.scores)
    cursor = found.next_cursor
  }
  return pages
}

describe('the scores per question', () => {
  test('of an agent are what it got on each, with titles, newest first', async () => {
    const { scores, ...rest } = await page(ofAgent())
    expect(rest).toEqual({
      agent_id: agentId,
      release: 1,
      as_of: NOW,
      environment: 'production',
      methodology_version: METHODOLOGY.version,
      next_cursor: null,
    })
    expect(scores).toHaveLength(RESOLVED)
    const places = scores.map(({ settled_at, question_id }) => `${settled_at} ${question_id}`)
    expect(places).toEqual(places.toSorted().toReversed())
    expect(scores.find(({ question_id }) => question_id === QUESTION.resolved)).toMatchObject({
      title: 'Question "0"',
      outcome: 'yes',
      resolved_at: '2026-01-21T00:00:00.000Z',
      settled: true,
      settled_at: '2026-01-31T00:00:00.000Z',
      witnessed: true,
      cluster: 'event:event-0',
      forecasts: 2,
      contested: true,
    })
  })

  test('add up to the published numbers', async () => {
    for (const path of [`/agents/${agentId}`, `/forecaster/${forecasterId(3)}`]) {
      const { scores } = await page(`${path}/scores`)
      const metrics = (await service.client.get(`${path}/metrics`)).json<Record<string, number>>()
      const sum = (of: (score: QuestionScore) => number) =>
        scores.reduce((total, score) => total + of(score), 0)
      expect(scores).toHaveLength(metrics['resolved_questions']!)
      expect(sum(({ contested }) => Number(contested))).toBe(metrics['contested_questions'])
      expect(sum(({ forecasts }) => forecasts)).toBe(metrics['forecasts'])
      const judged = sum(({ contested, judged_coverage }) => (contested ? judged_coverage : 0))
      expect(judged / metrics['contested_questions']!).toBeCloseTo(metrics['coverage']!, 6)
      expect(sum(({ peer_score }) => peer_score) / scores.length).toBeCloseTo(metrics['peer_score']!, 6)
      const covered = sum(({ coverage }) => coverage)
      expect(sum(({ brier, coverage }) => brier * coverage) / covered).toBeCloseTo(metrics['brier']!, 6)
    }
  })

  test.for([1, 7, 26, 51, 52, 53, 1000])('come in pages of %i, each question once', async (limit) => {
    const pages = await all(ofForecaster, limit)
    expect(pages.map(({ length }) => length)).toEqual(
      Array.from({ length: Math.ceil(RESOLVED / limit) }, (_, index) =>
        Math.min(limit, RESOLVED - index * limit),
      ),
    )
    expect(pages.flat()).toEqual((await page(ofForecaster)).scores)
  })

  test('are the same from files, and their ids in any case', { tags: ['slow'] }, async () => {
    const own = await testFolder()
    const onDisk = await FileStore.begin(`${own}/store`)
    for (const [path, bytes] of store.objects) await onDisk.put(path, bytes)
    const { client } = await testService(await testComponents({ store: onDisk, folder: own, clock }))
    for (const path of [ofAgent(), ofForecaster]) {
      expect((await client.get(path)).text).toBe((await service.client.get(path)).text)
      expect((await client.get(path.replace(agentId, agentId.toUpperCase()))).text).toBe(
        (await client.get(path)).text,
      )
    }
  })

  test('have no title where the node does not know the question', async () => {
    const components = await testComponents({ store, folder, clock })
    const { client } = await testService({ ...components, store: withoutQuestions() })
    const { scores } = await page(ofForecaster, client)
    expect(scores).toHaveLength(RESOLVED)
    expect(scores.every(({ title }) => title === null)).toBe(true)
  })

  function withoutQuestions(): MemoryStore {
    const own = copyOf(store)
    for (const path of own.objects.keys()) if (path.startsWith('tables/questions/')) own.objects.delete(path)
    return own
  }
})

describe('reads of the store', () => {
  test('are three for the first call about a part, and then one', async () => {
    const counted = new FaultStore(copyOf(store))
    const components = await testComponents({
      store: counted,
      folder,
      clock,
      settings: { REFRESH_MS: '60000' },
    })
    const { client } = await testService(components)
    const readsOf = async (path: string) => {
      counted.calls.length = 0
      await page(path, client)
      return counted.calls.map(
        ({ operation, path: read }) => `${operation} ${read.split('/').slice(2).join('/')}`,
      )
    }
    const rows = 'range scores/000.parquet'
    expect(await readsOf(`${ofAgent()}?limit=1`)).toEqual(['get row-groups/000.json', rows, rows])
    expect(await readsOf(`${ofAgent()}?limit=2`)).toEqual([rows])
    expect(await readsOf(`${ofForecaster}?limit=2`)).toHaveLength(3)
    expect(await readsOf(`/forecaster/${forecasterId(5)}/scores`)).toEqual(['range scores/001.parquet'])
  })

  test('of a damaged part answer 503, and again 200 once it is whole', async () => {
    const own = copyOf(store)
    const { client } = await testService(await testComponents({ store: own, folder, clock }))
    for (const path of ['releases/00000001/row-groups/000.json', 'releases/00000001/scores/000.parquet']) {
      const whole = own.objects.get(path)!
      own.objects.set(path, whole.with(20, whole[20]! ^ 1))
      expectProblem(await client.get(ofAgent()), 503, /./)
      own.objects.set(path, whole)
      expect((await page(ofAgent(), client)).scores).toHaveLength(RESOLVED)
    }
  })
})

describe('where there are no scores', () => {
  test('the answer says why', async () => {
    const fresh = await registerAgent(service.client)
    const answer = await service.client.get(`/agents/${fresh.agentId}/scores`)
    expectProblem(answer, 404, /was registered at .* and no release has covered it yet: .*; /)
    expect(answer.json()).toMatchObject({ type: '/problems/not-released-yet' })
    expectProblem(await service.client.get(`/agents/${uuidOf(9, 9)}/scores`), 404, /there is no agent/)
    expectProblem(await service.client.get(`/agents/${forecasterId(0)}/scores`), 404, /there is no agent/)
    for (const id of [uuidOf(0, 0), uuidOf(9, 9), agentId]) {
      expectProblem(await service.client.get(`/forecaster/${id}/scores`), 404, /no release has a forecaster/)
    }
    expect(pointersOf(await service.client.get('/agents/me/scores'))).toEqual(['/agent_id'])
  })

  test('before the first release it says when that is due', async () => {
    const { client } = await testService()
    const fresh = await registerAgent(client)
    const answer = await client.get(`/agents/${fresh.agentId}/scores`)
    expectProblem(answer, 404, /no release has covered it yet/)
    expectProblem(await client.get(ofForecaster), 404, /no release has a forecaster/)
  })

  test('though the entity is released, the list is empty', { tags: ['slow'] }, async () => {
    const own = copyOf(store)
    const components = await testComponents({ store: own, folder, clock })
    // Before, between and after those with scores.
    const idle = [uuidOf(0, 1), forecasterId(2).replace(/.$/, 'f'), uuidOf(5, 1)]
    await importRows(
      components,
      'forecasters',
      ['user_id,display_name', ...idle.map((id) => `${id},Idle`), ''].join('\n'),
    )
    await release(components)
    const { client } = await testService(components)
    const { agentId: fresh, key } = await registerAgent(client)
    const forecast = { question_id: QUESTION.open, probability: 0.5 }
    expect((await client.post(`/agents/${fresh}/forecast`, forecast, bearer(key))).status).toBe(200)
    await release(components)
    await expect.poll(async () => (await client.get(`/agents/${fresh}`)).status).toBe(200)
    for (const path of [...idle.map((id) => `/forecaster/${id}/scores`), `/agents/${fresh}/scores`]) {
      expect(await page(path, client)).toMatchObject({ release: 3, scores: [], next_cursor: null })
    }
    expect((await page(ofForecaster, client)).scores).toHaveLength(RESOLVED)
  })
})

describe('a cursor', () => {
  test.for(['x', '1', '0_1', '1_', '1_-1', '1_1.5', '1_1234567890', '1_1_1', '', '1_1%00', '٣_١'])(
    '%j is refused',
    async (cursor) => {
      const answer = await service.client.get(`${ofForecaster}?cursor=${encodeURIComponent(cursor)}`)
      expect(pointersOf(answer)).toEqual(['/cursor'])
    },
  )

  test('of a release that there is not is answered 404', async () => {
    expectProblem(await service.client.get(`${ofForecaster}?cursor=99999999_1`), 404, /no release 99999999/)
  })

  test('of another entity, or of no row at all, gives nothing', async () => {
    for (const place of [0, 53, 312, 313, 999_999_999]) {
      expect(await page(`${ofForecaster}?cursor=1_${place}`)).toMatchObject({ scores: [], next_cursor: null })
    }
    expectProblem(
      await service.client.get(`/forecaster/${uuidOf(9, 9)}/scores?cursor=1_52`),
      404,
      /no release/,
    )
    // That of its own last row gives all, as without one.
    expect((await page(`${ofForecaster}?cursor=1_52`)).scores).toEqual((await page(ofForecaster)).scores)
  })

  test(
    'stays with its release when there is a newer one, until that is thinned',
    { tags: ['slow'] },
    async () => {
      const own = copyOf(store)
      const components = await testComponents({ store: own, folder, clock })
      const { client } = await testService(components)
      const first = await page(`${ofForecaster}?limit=50`, client)
      const line = (id: string) => `forecaster,${id},${QUESTION.closed},0.5,2026-01-10T00:00:00Z`
      await importRows(components, 'forecasts', csvOf([line(forecasterId(0)), line(uuidOf(0, 1))]))
      await importRows(
        components,
        'resolutions',
        `question_id,outcome,resolved_at\n${QUESTION.closed},yes,2026-02-20T00:00:00Z\n`,
      )
      await release(components)
      await expect.poll(async () => (await page(ofForecaster, client)).release).toBe(2)
      const newest = await page(`${ofForecaster}?limit=1`, client)
      expect(newest.scores).toMatchObject([{ question_id: QUESTION.closed, title: 'Closed?' }])
      const second = await page(`${ofForecaster}?limit=50&cursor=${first.next_cursor}`, client)
      expect(second).toMatchObject({ release: 1, next_cursor: null })
      expect([...first.scores, ...second.scores]).toEqual((await page(ofForecaster)).scores)
      await thinReleases(components, 2, 1)
      const gone = await client.get(`${ofForecaster}?cursor=${first.next_cursor}`)
      expectProblem(gone, 404, /was thinned at/)
      expect(gone.json()).toMatchObject({ type: '/problems/release-thinned' })
      expect((await page(ofForecaster, client)).scores).toHaveLength(RESOLVED + 1)
    },
  )

  test.for(['limit=0', 'limit=1001', 'limit=all', 'page=2'])('and %s is refused', async (query) => {
    expect(pointersOf(await service.client.get(`${ofForecaster}?${query}`))).toEqual([
      `/${query.split('=')[0]}`,
    ])
  })
})
