// A new instance with agents alone, all of it over HTTP: by the prices of a market an agent that knows better is
// certified, and one that repeats the price is not.
// @module-tag slow
import { expect } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { OPERATOR_SCOPES } from '../../schemas/tiers.ts'
import { suiteFolder } from '../support/folder.ts'
import { test } from '../support/http/fixtures.ts'
import { Clock, bearer, registerAgent, release, testComponents } from '../support/http/service.ts'
import { uuidOf } from '../support/worlds/world.ts'

const WEEKS = 15
const A_WEEK = 5
const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 5)

const folder = await suiteFolder()
const questionOf = (week: number, nth: number) => uuidOf(70 + week, nth)
const endsYes = (nth: number) => nth % 2 === 0

test('an agent is certified by prices alone, and a copy of the price is not', async ({ serve }) => {
  const clock = new Clock(new Date(START_MS).toISOString())
  const store = new MemoryStore()
  const components = await testComponents({ store, folder, clock })
  const service = await serve(components)
  const operator = bearer(await components.registry.createOperatorKey('o', clock.now(), OPERATOR_SCOPES))
  const put = async (kind: string, rows: object[]) => {
    const headers = { 'Content-Type': 'application/json', ...operator }
    const answer = await service.client.send('PUT', `/operator/${kind}`, { body: { [kind]: rows }, headers })
    expect(answer.status, answer.text).toBe(200)
  }
  const knowing = await registerAgent(service.client)
  const copying = await registerAgent(service.client)

  for (let week = 0; week < WEEKS; week++) {
    const openedMs = START_MS + 7 * week * DAY_MS
    const at = (day: number) => new Date(openedMs + day * DAY_MS).toISOString()
    const ids = Array.from({ length: A_WEEK }, (_, nth) => questionOf(week, nth))
    clock.set(at(0))
    await put(
      'questions',
      ids.map((question_id) => ({ question_id, title: 'Will it?', opened_at: at(0), closes_at: at(2) })),
    )
    for (const [agent, sharpness] of [
      [knowing, 0.25],
      [copying, 0],
    ] as const) {
      const forecasts = ids.map((question_id, nth) => ({
        question_id,
        probability: 0.5 + (endsYes(nth) ? sharpness : -sharpness),
      }))
      const path = `/agents/${agent.agentId}/forecasts`
      const answer = await service.client.post(path, { forecasts }, bearer(agent.key))
      expect(answer.status, answer.text).toBe(200)
    }
    clock.set(at(2))
    const prices = ids.flatMap((question_id) =>
      [0, 1].map((day) => ({ question_id, priced_at: at(day), probability: 0.5, source: 'a market' })),
    )
    await put('prices', prices)
    await put(
      'resolutions',
      ids.map((question_id, nth) => ({
        question_id,
        outcome: endsYes(nth) ? 'yes' : 'no',
        resolved_at: at(2),
      })),
    )
  }
  await release(components)
  expect((await readManifest(store, 1))!.voice_rule).toBe('everyone')

  const verificationOf = async ({ agentId }: typeof knowing) =>
    (await service.client.get(`/agents/${agentId}/verification`)).json()
  await expect
    .poll(() => verificationOf(knowing))
    .toMatchObject({
      certification: 'certified',
      contested_questions: WEEKS * A_WEEK,
      priced_questions: WEEKS * A_WEEK,
      coverage: 0.75,
    })
  expect(await verificationOf(copying)).toMatchObject({ certification: 'measured', market_skill: 0 })
})
