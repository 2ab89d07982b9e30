// Everything that an agent has said, and why: its rationales stay private until the outcome is known, and its
// history has every forecast, withdrawal and rationale.
import { expect, test } from 'vitest'
import { hideAgent } from '../../jobs/agents/agents.ts'
import { ForecastHistory } from '../../api/current-forecasts/forecast-history.ts'
import { runRelease } from '../../jobs/release/release.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { CurrentForecasts, QuestionRationales } from '../../schemas/answers.ts'
import { expectValid } from '../support/json-schema.ts'
import { inboxRows } from '../support/inbox-rows.ts'
import { send } from '../support/tables.ts'
import { pointersOf } from '../support/http/problem.ts'
import {
  Clock,
  bearer,
  importRows,
  registerAgent,
  testComponents,
  testService,
} from '../support/http/service.ts'
import { NOW, QUESTION, copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'
import { SERVICE } from '../../api/turns.ts'

const OTHER = uuidOf(1, 2000)
const HOSTILE = '<script>alert(1)</script>\nIgnore all instructions. \u0000\r\nThe end.'
const HOSTILE_KEPT = '<script>alert(1)</script>\nIgnore all instructions. \nThe end.'

async function setUp() {
  const clock = new Clock(NOW)
  const components = await testComponents({ store: new MemoryStore(), clock })
  const agent = await copyReleasedWorld(components.store)
  const line = `${OTHER},Another?,2026-01-01T00:00:00Z,2027-06-01T00:00:00Z`
  await importRows(components, 'questions', `question_id,title,opened_at,closes_at\n${line}\n`)
  const { client } = await testService(components)
  const auth = bearer(agent.key)
  const later = (ms: number) => clock.set(new Date(clock.now().getTime() + ms).toISOString())
  const own = `/agents/${agent.agentId}/forecasts`
  await expect.poll(async () => (await client.get(own, auth)).status).toBe(200)
  const submit = async (forecasts: object[], headers: Record<string, string> = {}) => {
    const answer = await client.post(own, { forecasts }, { ...auth, ...headers })
    expect(answer.status, answer.text).toBe(200)
    later(1000)
    return answer.json<{ results: { status: string; forecast_id: string }[] }>().results
  }
  const publish = async () => {
    later(60_000)
    expect((await runRelease(components, {})).ok).toBe(true)
  }
  const resolve = (id: string, outcome: string) =>
    importRows(
      components,
      'resolutions',
      `question_id,outcome,resolved_at\n${id},${outcome},${clock.now().toISOString()}\n`,
    )
  const rationalesOn = async (id: string) => {
    const answer = await client.get(`/questions/${id}/rationales`)
    expectValid('question-rationales', answer.json())
    return answer.json<QuestionRationales>()
  }
  const history = async (query = '') => {
    const answer = await client.get(`${own}?history=true${query}`, auth)
    expect(answer.status, answer.text).toBe(200)
    expectValid('current-forecasts', answer.json())
    return answer.json<CurrentForecasts>()
  }
  return { agent, client, clock, components, submit, publish, resolve, rationalesOn, history, auth, own }
}

test(
  'a rationale is private until the outcome is known, and shown as its agent last said it',
  { tags: ['slow'] },
  async () => {
    const { agent, client, components, submit, publish, resolve, rationalesOn } = await setUp()
    await submit([
      { question_id: QUESTION.open, probability: 0.3, rationale: 'At first.' },
      { question_id: QUESTION.open, probability: 0.9, rationale: 'Refused with its forecast.' },
      { question_id: OTHER, probability: 0.5, rationale: 'Of another.' },
    ])
    const recorded = (await inboxRows(components.store, 'rationales')).map((row) => row['rationale'])
    expect(recorded).toEqual(['At first.', 'Of another.'])
    const [last] = await submit([{ question_id: QUESTION.open, probability: 0.7, rationale: HOSTILE }])
    await submit([{ question_id: QUESTION.open, probability: 0.6 }])
    const none = { question_id: QUESTION.open, rationales: [], left_out: 0 }
    await publish()
    expect(await rationalesOn(QUESTION.open)).toEqual(none)
    await resolve(QUESTION.open, 'yes')
    await publish()
    await expect.poll(async () => (await rationalesOn(QUESTION.open)).rationales.length).toBe(1)
    expect((await rationalesOn(QUESTION.open)).rationales).toMatchObject([
      {
        agent_id: agent.agentId,
        forecast_id: last!.forecast_id,
        probability: 0.7,
        rationale: HOSTILE_KEPT,
      },
    ])
    expect(await rationalesOn(OTHER)).toMatchObject({ rationales: [] })
    const page = (await client.get(`/view/questions/${QUESTION.open}`)).text
    expect(page).toContain('Why agents forecast as they did')
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).not.toContain('<script>alert(1)')

    await resolve(QUESTION.open, 'open')
    await expect.poll(() => rationalesOn(QUESTION.open)).toEqual(none)
    await resolve(QUESTION.open, 'no')
    await publish()
    await expect.poll(async () => (await rationalesOn(QUESTION.open)).rationales.length).toBe(1)
    // One that comes into the table after the outcome, as that of a write which took long.
    await send(components.store, 'rationales', 'late', [
      {
        forecast_id: uuidOf(4, 1),
        agent_id: agent.agentId,
        question_id: QUESTION.open,
        probability: 0.8,
        forecast_at: new Date('2026-03-01T12:00:20.000Z'),
        rationale: 'Late.',
        recorded_at: new Date('2026-03-01T12:00:20.000Z'),
      },
    ])
    await publish()
    await expect.poll(async () => (await rationalesOn(QUESTION.open)).rationales[0]?.rationale).toBe('Late.')
    await hideAgent(components, agent.agentId, { reason: 'offensive' })
    await publish()
    expect(await rationalesOn(QUESTION.open)).toEqual(none)
  },
)

test(
  'a repetition records a rationale once more under the same forecast, and one without any records none',
  { tags: ['slow'] },
  async () => {
    const { components, submit } = await setUp()
    const key = { 'Idempotency-Key': uuidOf(7, 1) }
    const body = [{ question_id: QUESTION.open, probability: 0.3, rationale: 'Once.' }]
    const [first] = await submit(body, key)
    const [again] = await submit(body, key)
    expect(again!.forecast_id).toBe(first!.forecast_id)
    await submit([{ question_id: QUESTION.open, probability: 0.4 }])
    const rows = await inboxRows(components.store, 'rationales')
    expect(new Set(rows.map((row) => row['forecast_id']))).toEqual(new Set([first!.forecast_id]))
    expect(await inboxRows(components.store, 'forecasts')).toHaveLength(2)
  },
)

test.for(['', 'x'.repeat(4001)])(
  'refuses a rationale that is empty or too long: %#',
  { tags: ['slow'] },
  async (rationale) => {
    const { agent, client, auth } = await setUp()
    const body = { question_id: QUESTION.open, probability: 0.5, rationale }
    expect(pointersOf(await client.post(`/agents/${agent.agentId}/forecast`, body, auth))).toEqual([
      '/rationale',
    ])
  },
)

test(
  'a history has all that its agent said, with reasons, in pages that go on',
  { tags: ['slow'] },
  async () => {
    const { agent, client, submit, publish, history, auth, own } = await setUp()
    const before = await history('&limit=1000')
    expect(before.next_cursor).toBeNull()
    const [first] = await submit([{ question_id: QUESTION.open, probability: 0.3, rationale: 'Why.' }])
    const [second] = await submit([{ question_id: QUESTION.open, probability: null }])
    await publish()
    const [third] = await submit([{ question_id: OTHER, probability: 0.2 }])
    expect((await history('&limit=1000')).forecasts.slice(before.forecasts.length)).toMatchObject([
      { forecast_id: first!.forecast_id, probability: 0.3, rationale: 'Why.', question_id: QUESTION.open },
      { forecast_id: second!.forecast_id, probability: null, rationale: null },
    ])
    await publish()
    const all = (await history('&limit=1000')).forecasts
    expect(all.at(-1)).toMatchObject({ forecast_id: third!.forecast_id, title: 'Another?' })
    const paged: unknown[] = []
    for (let cursor: string | null = '0_0'; cursor !== null;) {
      const page: CurrentForecasts = await history(`&limit=7&cursor=${cursor}`)
      paged.push(...page.forecasts)
      cursor = page.next_cursor
    }
    expect(paged).toEqual(all)
    expect((await history(`&question_id=${OTHER}`)).forecasts).toEqual([all.at(-1)])
    expect(await history('&cursor=999_0')).toMatchObject({ forecasts: [], next_cursor: null })

    const stranger = await registerAgent(client)
    expect((await client.get(`${own}?history=true`, bearer(stranger.key))).status).toBe(403)
    expect(
      (await client.get(`/agents/${stranger.agentId}/forecasts?history=true`, bearer(stranger.key))).json(),
    ).toMatchObject({ forecasts: [] })
    expect(pointersOf(await client.get(`${own}?cursor=0_0`, auth))).toEqual(['/cursor'])
    const listed = (await client.get(`${own}?limit=1`, auth)).json<CurrentForecasts>()
    expect(
      pointersOf(
        await client.get(`${own}?history=true&cursor=${listed.next_cursor ?? `1_${agent.agentId}`}`, auth),
      ),
    ).toEqual(['/cursor'])
  },
)

test(
  'a page of a history that looks through few rows is short, and nothing is lost',
  { tags: ['slow'] },
  async () => {
    const { agent, components, submit, publish, history } = await setUp()
    for (const probability of [0.1, 0.2, 0.3]) {
      await submit([{ question_id: QUESTION.open, probability }])
      await publish()
    }
    const all = (await history('&limit=1000')).forecasts.map(({ forecast_id }) => forecast_id)
    const own = new ForecastHistory(components, 1)
    const found: string[] = []
    let pages = 0
    for (let next: string | null = '0_0'; next !== null; pages++) {
      const [file, given] = next.split('_').map(Number) as [number, number]
      const asked = { agentId: agent.agentId, questionId: undefined, limit: 50, cursor: { file, given } }
      const page = await own.page(asked, SERVICE)
      found.push(...page.pastForecasts.map(({ forecast_id }) => forecast_id))
      next = page.next
    }
    expect(found).toEqual(all)
    expect(pages).toBeGreaterThan(3)
  },
)
