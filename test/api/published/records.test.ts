// What anyone may look up: questions by page and by id, the daily history, the method, the document of the
// API.
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { signed } from '../../../api/pages/wording.ts'
import type { SnapshotRow } from '../../../api/published/history.ts'
import { canonical } from '../../../pipeline/proof/canonical.ts'
import type { ListedQuestion } from '../../../schemas/answers.ts'
import { expectValid } from '../../support/json-schema.ts'
import { expectProblem, pointersOf } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import {
  Clock,
  SECRET,
  type TestService,
  importRows,
  registerAgent,
  release,
  testComponents,
  testService,
} from '../../support/http/service.ts'
import { NOW, QUESTION, forecasterId, releaseWorld, uuidOf } from '../../support/worlds/world.ts'

const DAYS = ['2026-01-31', '2026-02-05', '2026-02-06', '2026-03-01']

let service: TestService
let agentId: string
const clock = new Clock(NOW)

test.beforeAll(async ({ folder, serve }) => {
  const components = await testComponents({ folder, clock })
  const asOf = (day: string) => ({ asOf: new Date(`${day}T06:00:00.000Z`) })
  ;({ agentId } = await releaseWorld(components, asOf(DAYS[0]!)))
  for (const day of DAYS.slice(1)) await release(components, asOf(day))
  // A second release of a day leaves its snapshot as it is.
  await release(components, { asOf: new Date(`${DAYS[3]!}T12:00:00.000Z`) })
  service = await serve(components)
})

interface Page {
  questions: ListedQuestion[]
  next_cursor: string | null
}

describe('GET /questions', () => {
  const get = async (query: string, client = service.client): Promise<Page> => {
    const answer = await client.get(`/questions${query}`)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-cache')
    expectValid('question-page', answer.json())
    return answer.json<Page>()
  }

  async function pages(query: string): Promise<ListedQuestion[][]> {
    const all: ListedQuestion[][] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await get(`?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`)
      all.push(page.questions)
      cursor = page.next_cursor
    }
    return all
  }

  const inOrder = (questions: ListedQuestion[]) =>
    questions.toSorted((a, b) => (a.closes_at + a.question_id < b.closes_at + b.question_id ? -1 : 1))

  test('gives all 56 questions in the order of their close', async () => {
    const { questions, next_cursor } = await get('')
    expect(questions).toHaveLength(56)
    expect(next_cursor).toBeNull()
    expect(questions).toEqual(inOrder(questions))
  })

  // 56 = 8 · 7, so the last page is full and no empty one follows.
  test.for([1, 7, 10, 55, 56, 57, 1000])('gives each once over pages of %d', async (limit) => {
    const all = await pages(`limit=${limit}`)
    expect(all.map(({ length }) => length)).toEqual(
      Array.from({ length: Math.ceil(56 / limit) }, (_, index) => Math.min(limit, 56 - index * limit)),
    )
    expect(all.flat()).toEqual((await get('')).questions)
  })

  test.for([
    ['upcoming', 1],
    ['open', 1],
    ['closed', 1],
    ['resolved', 53],
  ] as const)('filters by status: %s', async ([status, count]) => {
    const found = (await pages(`status=${status}&limit=9`)).flat()
    expect(found).toHaveLength(count)
    expect(found.every((question) => question.status === status)).toBe(true)
    expect(found).toEqual((await get('')).questions.filter((question) => question.status === status))
  })

  test('leaves out what is said at length', async () => {
    for (const question of (await get('')).questions) {
      expect(question).not.toHaveProperty('resolution_criteria')
      expect(question).not.toHaveProperty('background')
    }
  })

  test('has it at the side of each question where it is asked for', async () => {
    const one = (await service.client.get(`/questions/${QUESTION.open}`)).json()
    const { questions } = await get(`?ids=${QUESTION.open},${QUESTION.annulled}&include=texts&limit=1000`)
    expect(questions).toHaveLength(2)
    expect(questions.find(({ question_id }) => question_id === QUESTION.open)).toEqual(one)
    expect(questions.find(({ question_id }) => question_id === QUESTION.annulled)).toMatchObject({
      resolution_criteria: null,
      background: null,
    })
  })

  test.for([
    ['q=question', 52],
    ['q=QUESTION+%221%22', 1],
    ['q=question+1+0', 0],
    [`q=${encodeURIComponent('Open?')}`, 1],
    ['q=que', 0],
    ['category=simulated', 53],
    ['category=Simulated', 0],
    ['category=', 0],
    ['closes_before=2026-01-31T00:00:00Z', 0],
    ['closes_before=2026-01-31T00:00:00.001Z', 53],
    ['opened_after=2026-01-01T00:00:00Z', 1],
    ['opened_after=2025-12-31T23:59:59.999Z', 56],
    [
      'category=simulated&q=question&status=resolved&closes_before=2026-02-01T00:00:00Z&opened_after=2025-01-01T00:00:00Z',
      52,
    ],
    ['category=simulated&q=annulled&status=open', 0],
    ['source=example-platform', 1],
    ['source=', 0],
    ['event_id=nothing', 0],
    [`ids=${QUESTION.open.toUpperCase()},${uuidOf(5, 999)},${QUESTION.annulled},${QUESTION.open}`, 2],
    [`ids=${QUESTION.open}&status=resolved`, 0],
    ['closes_after=2026-01-31T00:00:00Z', 3],
    ['resolved_after=2026-01-01T00:00:00Z&status=open', 0],
    ['updated_after=2020-01-01T00:00:00Z', 56],
    ['updated_after=2030-01-01T00:00:00Z', 0],
    // The same instant with an offset, with a plus that arrives as a space, and with decimals that are cut.
    ['closes_before=2026-01-31T01:00:00%2B01:00', 0],
    ['closes_before=2026-01-31T01:00:00+01:00', 0],
    ['closes_before=2026-01-30T19:00:00.0019999999-05:00', 53],
  ] as const)('filters by %s', async ([query, count]) => {
    expect((await pages(`${query}&limit=7`)).flat()).toHaveLength(count)
  })

  test('filters by when the outcome became known, with or without a status', async () => {
    const after = '2026-01-21T00:00:00.000Z'
    const all = (await get('')).questions
    const expected = all.filter(({ resolved_at }) => resolved_at !== null && resolved_at > after)
    expect(expected).not.toHaveLength(0)
    for (const status of ['', '&status=resolved']) {
      expect((await pages(`resolved_after=${after}${status}&limit=7`)).flat()).toEqual(expected)
    }
  })

  test(
    'goes on at the right place when questions come and go between two pages',
    { tags: ['slow'] },
    async () => {
      const moving = new Clock(NOW)
      const components = await testComponents({ clock: moving })
      const line = (number: number, closes: string) => `${uuidOf(5, number)},t,2026-01-01T00:00:00Z,${closes}`
      const columns = 'question_id,title,opened_at,closes_at'
      const first = [2, 4, 6, 8].map((number) => line(number, '2027-01-01T00:00:00Z'))
      await importRows(components, 'questions', [columns, ...first].join('\n'))
      const { client } = await testService(components)
      const one = await get('?limit=2', client)
      expect(one.questions.map(({ question_id }) => question_id)).toEqual([uuidOf(5, 2), uuidOf(5, 4)])
      moving.set('2026-03-01T13:00:00.000Z')
      // One before the cursor, one after it, and the last of the page moved to the end.
      const later = [
        line(1, '2027-01-01T00:00:00Z'),
        line(5, '2027-01-01T00:00:00Z'),
        line(4, '2028-01-01T00:00:00Z'),
      ]
      await importRows(components, 'questions', [columns, ...later].join('\n'))
      await client.get(`/questions/${uuidOf(5, 5)}`)
      const two = await get(`?limit=9&cursor=${one.next_cursor}`, client)
      expect(two.questions.map(({ question_id }) => question_id)).toEqual(
        [5, 6, 8, 4].map((number) => uuidOf(5, number)),
      )
    },
  )

  test.for([
    ['a status nobody has', 'status=pending', '/status'],
    ['no rows', 'limit=0', '/limit'],
    ['too many rows', 'limit=1001', '/limit'],
    ['half a row', 'limit=1.5', '/limit'],
    ['a limit that is a word', 'limit=all', '/limit'],
    ['a cursor that no page gave', 'cursor=abc', '/cursor'],
    ['a cursor that is empty', 'cursor=', '/cursor'],
    ['a long cursor', `cursor=${'a'.repeat(201)}`, '/cursor'],
    ['an unknown parameter', 'page=2', '/page'],
    ['words that are none', 'q=%3F!', '/q'],
    ['no words', 'q=', '/q'],
    ['too many words', `q=${Array.from({ length: 21 }, (_, nth) => nth).join('+')}`, '/q'],
    ['a long text', `q=${'a'.repeat(401)}`, '/q'],
    ['a long category', `category=${'a'.repeat(201)}`, '/category'],
    ['a time without an offset', 'closes_before=2026-01-31T00:00:00', '/closes_before'],
    ['a day', 'closes_before=2026-01-31', '/closes_before'],
    ['a time that does not exist', 'opened_after=2026-02-30T00:00:00Z', '/opened_after'],
    ['an offset that does not exist', 'opened_after=2026-02-01T00:00:00%2B25:00', '/opened_after'],
    ['an id that is none', `ids=${QUESTION.open},2`, '/ids'],
    ['no ids', 'ids=', '/ids'],
    ['too many ids', `ids=${Array.from({ length: 101 }, () => QUESTION.open).join()}`, '/ids'],
    ['a part that no question has', 'include=forecasts', '/include'],
    ['an hour that does not exist', 'opened_after=2026-02-01T25:00:00Z', '/opened_after'],
  ] as const)('answers 422 to %s', async ([, query, pointer]) => {
    expect(pointersOf(await service.client.get(`/questions?${query}`))).toEqual([pointer])
  })

  test('answers an empty list where there are no questions', async () => {
    const { client } = await testService()
    expect(await get('', client)).toEqual({ questions: [], next_cursor: null })
  })
})

describe('GET /questions/{question_id}', () => {
  test('shows an open question', async () => {
    const answer = await service.client.get(`/questions/${QUESTION.open.toUpperCase()}`)
    expect(answer.status).toBe(200)
    expectValid('question', answer.json())
    expect(answer.json()).toEqual({
      question_id: QUESTION.open,
      title: 'Open?',
      category: null,
      url: 'https://example.org/open',
      event_id: null,
      event: null,
      source: 'example-platform',
      source_id: 'o-1',
      resolution_criteria: 'Yes, if it is open.\n\nNo, if "closed".',
      background: '\t<b>Nobody</b> knows.',
      opened_at: '2026-01-01T00:00:00.000Z',
      closes_at: '2027-02-05T00:00:00.000Z',
      status: 'open',
      outcome: null,
      resolved_at: null,
      known_at: null,
      updated_at: NOW,
    })
  })

  test.for([
    [
      'resolved',
      { status: 'resolved', outcome: 'yes', resolved_at: '2026-01-21T00:00:00.000Z', title: 'Question "0"' },
    ],
    ['annulled', { status: 'resolved', outcome: 'annulled', resolved_at: '2026-01-26T00:00:00.000Z' }],
    ['closed', { status: 'closed', outcome: null }],
    ['upcoming', { status: 'upcoming', outcome: null }],
  ] as const)('shows one that is %s', async ([state, expected]) => {
    const answer = await service.client.get(`/questions/${QUESTION[state]}`)
    expectValid('question', answer.json())
    expect(answer.json()).toMatchObject(expected)
  })

  test('answers 404 to one nobody knows and 422 to what is no id', async () => {
    expectProblem(await service.client.get(`/questions/${uuidOf(9, 9)}`), 404, new RegExp(uuidOf(9, 9)))
    expect(pointersOf(await service.client.get('/questions/first'))).toEqual(['/question_id'])
  })

  test('finds one that was imported after the node started, without being told', async () => {
    const components = await testComponents({ clock, settings: { REFRESH_MS: '60000' } })
    const { client } = await testService(components)
    const path = `/questions/${uuidOf(5, 1)}`
    expect((await client.get(path)).status).toBe(404)
    const line = `${uuidOf(5, 1)},new,2026-01-01T00:00:00Z,2027-01-01T00:00:00Z`
    await importRows(components, 'questions', `question_id,title,opened_at,closes_at\n${line}\n`)
    expect((await client.get(path)).status).toBe(200)
  })
})

describe('GET /snapshots/{entity_type}/{entity_id}', () => {
  interface HistoryAnswer {
    entity_type: string
    entity_id: string
    snapshots: SnapshotRow[]
  }
  const get = async (query = '', entity = `forecaster/${forecasterId(0)}`): Promise<HistoryAnswer> => {
    const answer = await service.client.get(`/snapshots/${entity}${query}`)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers['cache-control']).toBe('public, max-age=60')
    expectValid('snapshot-history', answer.json())
    return answer.json<HistoryAnswer>()
  }
  const datesOf = ({ snapshots }: HistoryAnswer) => snapshots.map(({ date }) => date)

  test('gives one row per day, oldest first, of the first release of the day', async () => {
    const history = await get()
    expect(history).toMatchObject({ entity_type: 'forecaster', entity_id: forecasterId(0) })
    expect(history.snapshots.map(({ date, release: number }) => [date, number])).toEqual(
      DAYS.map((day, index) => [day, index + 1]),
    )
    expect(Object.keys(history.snapshots[0]!).toSorted()).toEqual([
      'badge',
      'contested_questions',
      'date',
      'environment',
      'methodology_version',
      'percentile',
      'population',
      'rank',
      'rank_interval',
      'release',
      'resolved_questions',
      'skill',
      'skill_interval',
      'user_id',
    ])
  })

  test(
    'is what a profile shows by date, and that of an earlier release up to its day',
    { tags: ['slow'] },
    async () => {
      const { snapshots } = await get()
      const shownOn = async (query: string) => {
        const { text } = await service.client.get(`/view/forecasters/${forecasterId(0)}${query}`)
        const rows = text.matchAll(
          /<tr><th scope="row"><time datetime="([\d-]+)">[^<]*<\/time><\/th><td class="n">([^<]*)</g,
        )
        return Array.from(rows, ([, date, skill]) => [date, skill]).toReversed()
      }
      const published = snapshots.map(({ date, skill }) => [date, signed(skill!)])
      expect(await shownOn('')).toEqual(published)
      expect(await shownOn('?release=2')).toEqual(published.slice(0, 2))
    },
  )

  test('is signed over the exact bytes, whatever days it is of', async () => {
    for (const query of ['', '?start_date=2026-02-28', '?start_date=2030-01-01']) {
      const { bytes, headers } = await service.client.get(`/snapshots/forecaster/${forecasterId(0)}${query}`)
      expect(bytes).toEqual(Buffer.from(canonical(JSON.parse(bytes.toString()) as object)))
      const hmac = createHmac('sha256', SECRET).update(bytes).digest('hex')
      expect(headers['x-service-signature']).toBe(`v1=${hmac}`)
    }
  })

  test('tells an agent that no release has covered when the next release is due', async () => {
    const fresh = await registerAgent(service.client)
    const [own, single] = [
      await service.client.get(`/snapshots/agent/${fresh.agentId}`),
      await service.client.get(`/agents/${fresh.agentId}/verification`),
    ]
    expectProblem(own, 404, /was registered at .* and no release has covered it yet: .*; /)
    expect(own.json<{ detail: string }>().detail).toBe(single.json<{ detail: string }>().detail)
  })

  test('gives an agent its certification', async () => {
    const { snapshots } = await get('', `agent/${agentId.toUpperCase()}`)
    expect(snapshots.map((row) => 'certification' in row && row.certification)).toEqual([
      'measured',
      'measured',
      'measured',
      'measured',
    ])
  })

  test.for([
    ['start_date=2026-02-05', DAYS.slice(1)],
    ['start_date=2026-02-06', DAYS.slice(2)],
    ['end_date=2026-02-05', DAYS.slice(0, 2)],
    ['end_date=2026-02-04', DAYS.slice(0, 1)],
    ['start_date=2026-02-05&end_date=2026-02-06', DAYS.slice(1, 3)],
    ['start_date=2026-02-06&end_date=2026-02-06', DAYS.slice(2, 3)],
    ['start_date=2026-02-07&end_date=2026-02-28', []],
    ['start_date=1970-01-01&end_date=9999-12-31', DAYS],
  ] as const)('includes both ends: %s', async ([query, days]) => {
    expect(datesOf(await get(`?${query}`))).toEqual(days)
  })

  test.for([
    ['a day that does not exist', 'start_date=2026-02-30', ['/start_date']],
    ['a day without its zeros', 'end_date=2026-2-3', ['/end_date']],
    ['an instant', 'end_date=2026-02-03T00:00:00Z', ['/end_date']],
    ['an empty day', 'start_date=', ['/start_date']],
    ['an end before the start', 'start_date=2026-02-02&end_date=2026-02-01', ['/end_date']],
    ['an unknown parameter', 'from=2026-02-02', ['/from']],
  ] as const)('answers 422 to %s', async ([, query, pointers]) => {
    expect(pointersOf(await service.client.get(`/snapshots/agent/${agentId}?${query}`))).toEqual(pointers)
  })

  test('answers 404 to an entity nobody speaks of, 422 to a kind that there is not', async () => {
    expectProblem(await service.client.get(`/snapshots/agent/${uuidOf(9, 9)}`), 404, new RegExp(uuidOf(9, 9)))
    expectProblem(await service.client.get(`/snapshots/agent/${forecasterId(0)}`), 404, /there is no agent/)
    expectProblem(
      await service.client.get(`/snapshots/forecaster/${agentId}`),
      404,
      /no release has a forecaster/,
    )
    expect(pointersOf(await service.client.get(`/snapshots/team/${agentId}`))).toEqual(['/entity_type'])
    expect(pointersOf(await service.client.get('/snapshots/agent/me'))).toEqual(['/entity_id'])
  })
})

describe('GET /methodology/version', () => {
  test('gives the version and every parameter', async () => {
    const answer = await service.client.get('/methodology/version')
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('public, max-age=60')
    expectValid('methodology-version', answer.json())
    expect(answer.json()).toMatchObject({
      version: '4.0.0',
      effective_from: '2026-11-29',
      parameters: METHODOLOGY.parameters,
    })
  })

  test('names where the text is, in the version that it names', async () => {
    const { document_url: url, version } = (await service.client.get('/methodology/version')).json<{
      document_url: string
      version: string
    }>()
    const answer = await service.client.get(url)
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('text/markdown; charset=utf-8')
    expect(answer.text).toBe(readFileSync(new URL('../../../docs/methodology.md', import.meta.url), 'utf8'))
    expect(answer.text).toContain(version)
  })
})

describe('what operators ask', () => {
  test.for(['/livez', '/readyz'])('GET %s', async (path) => {
    const answer = await service.client.get(path)
    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({ status: 'ok' })
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test('GET /metrics counts requests by route, so that ids make no labels', async () => {
    await service.client.get(`/questions/${QUESTION.open}`)
    await service.client.get(`/nowhere/${uuidOf(9, 9)}`)
    const answer = await service.client.get('/metrics')
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^text\/plain; version=/)
    expect(answer.text).toMatch(
      /fvs_http_request_seconds_count\{method="GET",route="\/questions\/:question_id",status="200"\} \d+/,
    )
    expect(answer.text).toMatch(
      /fvs_http_request_seconds_count\{method="GET",route="none",status="404"\} \d+/,
    )
    expect(answer.text).toMatch(/^fvs_release\{environment="production"\} 5$/m)
    expect(answer.text).toMatch(/^fvs_commit_queued\{environment="production"\} 0$/m)
    expect(answer.text).not.toContain(uuidOf(9, 9))
  })
})

describe('GET /openapi.json', () => {
  interface Operation {
    responses: Record<string, { content: Record<string, { schema: object }> }>
    parameters: { name: string; in: string; required: boolean }[]
    requestBody?: object
  }
  const get = async () => {
    const answer = await service.client.get('/openapi.json')
    expect(answer.status).toBe(200)
    return answer.json<{ openapi: string; paths: Record<string, Record<string, Operation>> }>()
  }

  test('names every call', async () => {
    const { openapi, paths } = await get()
    expect(openapi).toBe('3.1.0')
    const calls = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(calls.toSorted()).toEqual(
      [
        'POST /agents/register',
        'PATCH /agents/{agent_id}',
        'POST /agents/{agent_id}/forecast',
        'POST /agents/{agent_id}/forecasts',
        'POST /agents/{agent_id}/events/{event_id}/forecast',
        'GET /events/{event_id}',
        'PUT /operator/events',
        'PUT /operator/events/{event_id}/outcome',
        'PUT /operator/prices',
        'DELETE /agents/{agent_id}/forecasts/{question_id}',
        'GET /agents/{agent_id}/verification',
        'GET /agents/{agent_id}/metrics',
        'GET /agents/{agent_id}/rankings',
        'GET /agents/{agent_id}/advanced-metrics',
        'GET /agents/{agent_id}/forecasts',
        'GET /agents/{agent_id}/badge.json',
        'GET /agents/{agent_id}/badge.svg',
        'GET /agents/{agent_id}/card.png',
        'GET /agents/{agent_id}/card.svg',
        'GET /forecaster/{user_id}/card.png',
        'GET /forecaster/{user_id}/card.svg',
        'GET /forecaster/{user_id}/badge.json',
        'GET /forecaster/{user_id}/badge.svg',
        'GET /agents/{agent_id}/credential',
        'GET /forecaster/{user_id}/credential',
        'GET /credentials/status/{list}',
        'GET /.well-known/did.json',
        'GET /data/index.json',
        'GET /did.json',
        'GET /forecaster/{user_id}/verification',
        'GET /forecaster/{user_id}/metrics',
        'GET /forecaster/{user_id}/rankings',
        'GET /forecaster/{user_id}/advanced-metrics',
        'GET /agents/{agent_id}/scores',
        'GET /forecaster/{user_id}/scores',
        'POST /verification/bulk',
        'GET /snapshots/{entity_type}/{entity_id}',
        'GET /methodology',
        'GET /owners/{owner_id}',
        'GET /people',
        'GET /usage',
        'POST /agents/{agent_id}/rotate-key',
        'POST /agents/{agent_id}/retire',
        'POST /agents/{agent_id}/revoke-key',
        'POST /agents/{agent_id}/unretire',
        'PUT /operator/questions',
        'PUT /operator/resolutions',
        'PUT /operator/forecasters',
        'POST /operator/forecasts',
        'PUT /operator/agents/{agent_id}',
        'GET /operator/agenda',
        'POST /operator/preview',
        'GET /releases.atom',
        'GET /feed',
        'GET /leaderboard/{entity_type}',
        'GET /agents/{agent_id}',
        'GET /forecaster/{user_id}',
        'GET /problems',
        'GET /problems/{type}',
        'GET /schemas/{name}',
        'GET /methodology/version',
        'GET /questions',
        'GET /compare',
        'POST /agents/{agent_id}/owner',
        'GET /agents/{agent_id}/owner',
        'DELETE /agents/{agent_id}/owner',
        'GET /agents/{agent_id}/report',
        'GET /questions/{question_id}',
        'GET /questions/{question_id}/rationales',
        ...['/agents/{agent_id}', '/forecaster/{user_id}'].flatMap((entity) =>
          ['verification', 'metrics', 'rankings', 'advanced-metrics'].map(
            (name) => `GET ${entity}/${name}/proof`,
          ),
        ),
        'GET /forecasts/{forecast_id}/proof',
        'GET /log/checkpoint',
        'GET /log/vkey',
        'GET /livez',
        'GET /readyz',
        'GET /releases/current',
        'GET /releases/{release}',
      ].toSorted(),
    )
  })

  test('says of each call what it takes and answers', async () => {
    const { paths } = await get()
    const submit = paths['/agents/{agent_id}/forecast']!['post']!
    expect(Object.keys(submit.responses)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '405',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ])
    expect(submit.requestBody).toBeDefined()
    const history = paths['/snapshots/{entity_type}/{entity_id}']!['get']!
    expect(history.parameters.map(({ name, in: place, required }) => [name, place, required])).toEqual([
      ['entity_type', 'path', true],
      ['entity_id', 'path', true],
      ['start_date', 'query', false],
      ['end_date', 'query', false],
    ])
  })
})
