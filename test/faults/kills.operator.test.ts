// Kills of serving nodes at random moments while an operator's program sends a thousand forecasts of people a
// call, and sends each call again until it is answered: none is lost, none is doubled.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { importBatch, batchOf, SHORT_TIMES, releaseNow, succeeded } from '../support/faults/trouble.ts'
import { choicesOf, faultSeed, report } from '../support/faults/seeded.ts'
import { Client, bearer, testComponents } from '../support/http/service.ts'
import { readRows } from '../support/tables.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { type Running, fvs, startFvs } from '../support/process.ts'
import { onDisk } from '../support/worlds/places.ts'
import { uuidOf } from '../support/worlds/world.ts'

const KILLS = 12
const CALLS = 12
const ROWS = 1_000
const SEED = faultSeed()

test(`an operator's program, FAULT_SEED=${SEED}`, async () => {
  const { whole, chance } = choicesOf(SEED, 9)
  const place = await onDisk()
  const { store } = place
  const { folder } = place.options
  const options = { folder, env: { ...place.options.env, ...SHORT_TIMES } }
  await importBatch(options, 0)
  const made = await succeeded(
    fvs(
      ['keys', 'create', '--kind', 'operator', '--scopes', 'people', '--owner', 'a program', '--json'],
      options,
    ),
  )
  const { api_key: key } = JSON.parse(made.stdout) as { api_key: string }
  const nodes: { running: Running; url: string | undefined }[] = []
  const start = async (slot: number) => {
    const running = startFvs(['serve', '--no-scheduler'], options)
    const node: (typeof nodes)[number] = { running, url: undefined }
    nodes[slot] = node
    const line = await running.logged(/^\{.*"msg":"serving"\}$/).catch(() => undefined)
    if (line !== undefined) node.url = (JSON.parse(line) as { url: string }).url
  }
  await Promise.all([start(0), start(1)])

  let kills = 0
  let isOver = false
  const killing = (async () => {
    while (!isOver) {
      await pause(whole(100, 1500))
      const slot = whole(0, 1)
      const node = nodes[slot]!
      if (node.url === undefined) continue
      node.url = undefined
      node.running.child.kill('SIGKILL')
      await node.running.finished
      kills += 1
      void start(slot)
    }
  })()

  const ids = new Map<string, string>()
  let [unanswered, calls] = [0, 0]
  const [questionId] = batchOf(0)
  for (; calls < CALLS || kills < KILLS; calls++) {
    const atMs = Date.now()
    // Of some calls every second forecast comes late.
    const isMixed = chance(0.3)
    const forecasts = Array.from({ length: ROWS }, (_, n) => ({
      user_id: uuidOf(61, n),
      question_id: questionId,
      probability: ((n + calls) % 1000) / 1000,
      forecast_at: new Date(atMs - 1000 - (isMixed && n % 2 === 1 ? 1_800_000 : 0)).toISOString(),
    }))
    for (;;) {
      const urls = nodes.flatMap(({ url }) => url ?? [])
      const client = urls.length > 0 ? new Client(urls[whole(0, urls.length - 1)]!) : undefined
      const answer = await client
        ?.post('/operator/forecasts', { forecasts }, bearer(key))
        .catch(() => undefined)
      if (answer?.status === 200) {
        const { results } = answer.json<{
          results: Record<'forecast_id' | 'user_id' | 'forecast_at', string>[]
        }>()
        for (const { forecast_id, user_id, forecast_at } of results)
          ids.set(`${user_id} ${forecast_at}`, forecast_id)
        break
      }
      if (answer && answer.status < 500) throw new Error(answer.text)
      unanswered += 1
      await pause(50)
    }
  }
  isOver = true
  await killing
  for (const { running } of nodes) {
    running.child.kill('SIGKILL')
    await running.finished
  }

  await releaseNow(options)
  const components = await testComponents({ store, folder })
  const rows = await withDatabase(components.openDatabase, (database) =>
    readRows({ ...components, database }, 'forecasts'),
  )
  const kept = new Map<string, Set<string>>()
  for (const { question_id, entity_id, forecast_at, forecast_id } of rows) {
    if (question_id !== questionId) continue
    const of = `${String(entity_id)} ${(forecast_at as Date).toISOString()}`
    kept.set(of, (kept.get(of) ?? new Set()).add(forecast_id as string))
  }
  const lost = [...ids].filter(([of, id]) => !kept.get(of)?.has(id))
  const doubled = [...kept].filter(([, own]) => own.size > 1)
  report('kills of an operator', SEED, {
    kills,
    calls,
    unanswered,
    acknowledged: ids.size,
    lost: lost.length,
    doubled: doubled.length,
  })
  expect(lost).toEqual([])
  expect(doubled).toEqual([])
  expect(ids.size).toBe(calls * ROWS)
  expect(kept.size).toBe(ids.size)
  await succeeded(fvs(['audit'], options))
})
