// What a node answers that has just started: at once what is published, and what depends on questions once it
// has read them.
import { describe, expect, onTestFinished, test } from 'vitest'
import { startService } from '../../../jobs/serve/service.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Checks } from '../../../schemas/answers.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { errorLog } from '../../support/http/error-log.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { RawSocket } from '../../support/http/raw-socket.ts'
import { inboxRows } from '../../support/inbox-rows.ts'
import { expectProblem } from '../../support/http/problem.ts'
import {
  type Answer,
  Client,
  Clock,
  bearer,
  testComponents,
  withSandbox,
} from '../../support/http/service.ts'
import { NOW, QUESTION, copyReleasedWorld, forecasterId } from '../../support/worlds/world.ts'

const FORECAST = { question_id: QUESTION.open, probability: 0.5 }
const checksOf = (answer: Answer): Checks => answer.json<{ checks: Checks }>().checks
/** A node on a store with a release, whose reads of a table end as `reading` does. */
async function startedNode(reading: () => Promise<void>, table = 'questions') {
  const memory = new MemoryStore()
  const agent = await copyReleasedWorld(memory)
  const asked = Promise.withResolvers<void>()
  const store = new FaultStore(memory, {
    before: async ({ path }) => {
      if (!path.startsWith(`tables/${table}/`)) return
      asked.resolve()
      await reading()
    },
  })
  const { logger, lines } = errorLog()
  const components = { ...(await testComponents({ store, clock: new Clock(NOW) })), logger }
  const service = await startService(withSandbox(components), { scheduler: false })
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= service.stop())
  onTestFinished(stop)
  const client = new Client(service.url)
  const submit = (headers: Record<string, string> = {}) =>
    client.post(`/agents/${agent.agentId}/forecast`, FORECAST, { ...bearer(agent.key), ...headers })
  const published = () => client.get(`/forecaster/${forecasterId(0)}/verification`)
  const readyForForecasts = () => client.get('/readyz?for=forecasts')
  const { url } = service
  return {
    agent,
    asked: asked.promise,
    client,
    lines,
    published,
    readyForForecasts,
    stop,
    store,
    submit,
    url,
  }
}

/** One that reads the table when the test says so. */
async function heldNode(table?: string) {
  const gate = Promise.withResolvers<void>()
  onTestFinished(() => {
    gate.resolve()
  })
  const node = await startedNode(() => gate.promise, table)
  return {
    ...node,
    letGo: () => {
      gate.resolve()
    },
  }
}

describe('while the questions are read', () => {
  test(
    'what is published is served, and the node is ready, but not for forecasts',
    { tags: ['slow'] },
    async () => {
      const { asked, client, letGo, published, readyForForecasts } = await heldNode()
      const first = await published()
      expect(first.status).toBe(200)
      await asked
      expect((await published()).text).toBe(first.text)
      const ready = await client.get('/readyz')
      expect(ready.status).toBe(200)
      expect(checksOf(ready).questions).toMatchObject({ ok: false, detail: 'the questions are not read yet' })
      expectProblem(await readyForForecasts(), 503, /^the questions are not read yet$/)
      letGo()
      await expect.poll(async () => (await readyForForecasts()).status).toBe(200)
      expect(checksOf(await readyForForecasts()).questions).toMatchObject({
        ok: true,
        detail: 'the questions were read',
      })
    },
  )

  test(
    'no call is told that a question is not there, and none is kept waiting long',
    { tags: ['slow'] },
    async () => {
      const { agent, client, letGo, readyForForecasts, store, submit } = await heldNode()
      const once = { 'Idempotency-Key': 'the-first-of-this-node' }
      const batch = { forecasts: [FORECAST] }
      const [own, forecaster] = [`/agents/${agent.agentId}`, forecasterId(0)]
      const answers = await Promise.all([
        submit(once),
        client.post(`${own}/forecasts`, batch, bearer(agent.key)),
        client.get(`${own}/forecasts`, bearer(agent.key)),
        client.get('/questions'),
        client.get(`/questions/${QUESTION.open}`),
        client.get(`/forecaster/${forecaster}/scores`),
        client.get('/view/questions'),
        client.get(`/view/questions/${QUESTION.open}`),
        client.get(`/view/forecasters/${forecaster}`),
        client.get(`/view/forecasters/${forecaster}/questions`),
      ])
      for (const answer of answers) {
        expect([answer.status, answer.headers['retry-after'], answer.text]).toEqual([
          503,
          '2',
          expect.stringMatching(/has not read the questions yet|still reads which/),
        ])
      }
      expect(await inboxRows(store, 'forecasts')).toEqual([])
      letGo()
      await expect.poll(async () => (await readyForForecasts()).status).toBe(200)
      expect((await submit(once)).status).toBe(200)
      expect((await client.get('/questions')).json<{ questions: object[] }>().questions).not.toEqual([])
    },
  )

  test('a submission waits for them, and is durable once it is answered', async () => {
    const { agent, asked, client, letGo, store, submit } = await heldNode()
    const submitted = submit()
    await asked
    letGo()
    const answer = await submitted
    expect(answer.status).toBe(200)
    const { forecast_id } = answer.json()
    expect((await inboxRows(store, 'forecasts')).map((row) => row['forecast_id'])).toEqual([forecast_id])
    const read = await client.get(`/agents/${agent.agentId}/forecasts`, bearer(agent.key))
    expect(read.json()).toMatchObject({ forecasts: [{ forecast_id }] })
  })

  test('the node stops, and answers first what is under way', async () => {
    const { agent, asked, letGo, stop, store, url } = await heldNode()
    const submitted = await RawSocket.open(url)
    const body = JSON.stringify(FORECAST)
    submitted.send(
      `POST /agents/${agent.agentId}/forecast HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${agent.key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      '',
      body,
    )
    // The call has arrived, and waits for the questions.
    await submitted.received(/100 Continue/)
    await asked
    const stopped = stop()
    letGo()
    expect(await submitted.closed).toMatch(/HTTP\/1.1 200 OK[^]*Connection: close/)
    await stopped
    expect(await inboxRows(store, 'forecasts')).toHaveLength(1)
  })
})

test('while it is not known what keys have used, calls with one wait or are told so, and all others are answered', async () => {
  const { agent, asked, client, letGo, published } = await heldNode('usage')
  const path = `/forecaster/${forecasterId(0)}/verification`
  const withKey = { 'X-API-Key': agent.key }
  const first = client.get(path, withKey)
  await asked
  expect((await published()).status).toBe(200)
  expectProblem(await first, 503, /has not loaded this month's usage yet/)
  const next = [client.get('/usage', withKey), client.get(path, withKey)]
  for (const answer of await Promise.all(next)) {
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '2'])
  }
  letGo()
  await expect.poll(async () => (await client.get(path, withKey)).status).toBe(200)
  expect((await client.get('/usage', withKey)).json()).toMatchObject({ calls: 1 })
})

test('a node that cannot read the questions says so, serves what is published, and tries again', async () => {
  let damaged = true
  const node = await startedNode(async () => {
    if (damaged) throw new ServiceError('corrupt', 'tables/questions/x is damaged')
  })
  const { client, lines, published, readyForForecasts, submit } = node
  expectProblem(await submit(), 503, /^this node has not read the questions yet;/)
  const unready = await readyForForecasts()
  expectProblem(unready, 503, /^the questions could not be read \(corrupt\)$/)
  expect(checksOf(unready).questions.ok).toBe(false)
  expect((await client.get('/readyz')).status).toBe(200)
  expect((await published()).status).toBe(200)
  expect((await client.get('/metrics')).text).toMatch(/fvs_corrupt_total\{environment="production"\} [1-9]/)
  damaged = false
  await expect.poll(async () => (await submit()).status).toBe(200)
  expect((await readyForForecasts()).status).toBe(200)
  // Once, however often it was tried.
  const told = lines.map((line) => JSON.parse(line) as { check?: string; err?: { message: string } })
  expect(told.map(({ check, err }) => [check, err?.message])).toEqual([
    ['questions', 'tables/questions/x is damaged'],
  ])
})
