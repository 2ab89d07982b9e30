// No agent has two forecasts on a question at the same millisecond: the second has the next one.
import { expect, test } from 'vitest'
import { ForecastInstants } from '../../api/current-forecasts/instants.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { Clock, bearer, testComponents, testService } from '../support/http/service.ts'
import { inboxRows } from '../support/inbox-rows.ts'
import { NOW, QUESTION, copyReleasedWorld } from '../support/worlds/world.ts'

const NOW_MS = Date.parse(NOW)

test('forecasts that are submitted at once have times of their own, alone and in a batch', async () => {
  const store = new MemoryStore()
  const { agentId, key } = await copyReleasedWorld(store)
  const { client } = await testService(await testComponents({ store, clock: new Clock(NOW) }))
  const single = (probability: number) =>
    client.post(`/agents/${agentId}/forecast`, { question_id: QUESTION.open, probability }, bearer(key))
  const batch = client.post(
    `/agents/${agentId}/forecasts`,
    { forecasts: [{ question_id: QUESTION.open, probability: 0.4 }] },
    bearer(key),
  )
  const answers = await Promise.all([single(0.1), single(0.2), batch, single(0.3)])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const written = await inboxRows(store, 'forecasts')
  const times = written.filter((row) => row['question_id'] === QUESTION.open).map((row) => row['forecast_at'])
  expect(times.map((at) => (at as Date).getTime() - NOW_MS).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3])
})

test('a time is that of the clock unless the agent has it already, here or by another node', () => {
  const instants = new ForecastInstants()
  const held = (questionId: string, atMs: number) => questionId === 'held' && (atMs === 5 || atMs === 6)
  const next = (agent: string, questions: string[], nowMs: number) =>
    instants.next(agent, questions, nowMs, held)
  expect(next('a', ['q'], 5)).toBe(5)
  expect(next('a', ['q'], 5)).toBe(6)
  expect(next('b', ['q'], 5)).toBe(5)
  expect(next('a', ['r'], 5)).toBe(5)
  expect(next('a', ['r', 'q', 's'], 5)).toBe(7)
  expect(next('a', ['s'], 6)).toBe(8)
  expect(next('a', ['q'], 20)).toBe(20)
  expect(next('a', ['held'], 5)).toBe(7)
})
