// A bot of forecasting-tools takes part through the adapter in examples/, with its model replaced.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { CurrentForecasts } from '../../schemas/answers.ts'
import { external } from '../support/external.ts'
import { REPOSITORY } from '../support/fenced-blocks.ts'
import { testFolder } from '../support/folder.ts'
import {
  Clock,
  bearer,
  importRows,
  registerAgent,
  startTestService,
  testComponents,
} from '../support/http/service.ts'
import { inboxRows } from '../support/inbox-rows.ts'
import { NOW, uuidOf } from '../support/worlds/world.ts'

const run = promisify(execFile)
const tools = external(['FORECASTING_PYTHON'], 'test/support/python-venv.sh DIR prints it')
const OPEN = 10
const BOT = `${REPOSITORY}test/openapi/forecasting-tools/bot.py`

describe.skipIf(!tools)('a bot of forecasting-tools', () => {
  test('forecasts on every open question once, and skips them all in its second run', async () => {
    const components = await testComponents({ store: new MemoryStore(), clock: new Clock(NOW) })
    const lines = Array.from({ length: OPEN + 2 }, (_, number) => {
      const closes = number < OPEN ? '2027-01-01T00:00:00Z' : '2026-02-01T00:00:00Z'
      return `${uuidOf(1, number)},Question ${number}?,2026-01-01T00:00:00Z,${closes},It is decided by a coin.\n`
    })
    const header = 'question_id,title,opened_at,closes_at,resolution_criteria'
    await importRows(components, 'questions', `${header}\n${lines.join('')}`)
    const service = await startTestService(components)
    const { agentId, key } = await registerAgent(service.client)
    const env = {
      PATH: process.env['PATH'],
      HOME: await testFolder(),
      PYTHONPATH: `${REPOSITORY}clients/python:${REPOSITORY}examples/forecasting-tools`,
      PYTHONDONTWRITEBYTECODE: '1',
      FVS_URL: service.url,
      FVS_AGENT_ID: agentId,
      FVS_API_KEY: key,
    }
    const ran = async () => {
      const { stdout } = await run(tools!.FORECASTING_PYTHON, [BOT], { env })
      return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as { offered: number; forecast: number[] }
    }
    expect(await ran()).toEqual({ offered: OPEN, forecast: Array(OPEN).fill(0.25) })
    const current = await service.client.get(`/agents/${agentId}/forecasts`, bearer(key))
    const { forecasts } = current.json<CurrentForecasts>()
    expect(forecasts.map(({ probability }) => probability)).toEqual(Array(OPEN).fill(0.25))
    expect(await ran()).toEqual({ offered: OPEN, forecast: [] })
    expect(await inboxRows(components.store, 'forecasts')).toHaveLength(OPEN)
    await service.stop()
  })
})
