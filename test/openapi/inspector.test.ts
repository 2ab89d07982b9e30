// The reference client of the Model Context Protocol, in its command-line mode, over both transports.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { suiteFolder } from '../support/folder.ts'
import { REPOSITORY } from '../support/fenced-blocks.ts'
import { Clock, type TestService, startTestService, testComponents } from '../support/http/service.ts'
import { NOW, QUESTION, type WorldAgent, copyReleasedWorld } from '../support/worlds/world.ts'

const run = promisify(execFile)
const INSPECTOR = fileURLToPath(new URL('inspector/node_modules/.bin/mcp-inspector', import.meta.url))
const there = existsSync(INSPECTOR)
if (!there) {
  const message = 'the inspector needs `npm ci --ignore-scripts --prefix test/openapi/inspector`'
  if (process.env['CI'] === 'true') throw new Error(message)
  console.warn(`skipped: ${message}`)
}

const folder = await suiteFolder()
let service: TestService
let agent: WorldAgent
beforeAll(async () => {
  const components = await testComponents({ folder, clock: new Clock(NOW) })
  agent = await copyReleasedWorld(components.store)
  service = await startTestService(components)
})
afterAll(() => service.stop())

const TRANSPORTS = {
  'Streamable HTTP': () => [
    `${service.url}/mcp`,
    '--transport',
    'http',
    '--header',
    `Authorization: Bearer ${agent.key}`,
  ],
  stdio: () => [
    process.execPath,
    `${REPOSITORY}jobs/fvs.js`,
    'mcp',
    '-e',
    `FVS_URL=${service.url}`,
    '-e',
    `FVS_AGENT_ID=${agent.agentId}`,
    '-e',
    `FVS_API_KEY=${agent.key}`,
  ],
}

describe.skipIf(!there).each(Object.entries(TRANSPORTS))('over %s', (_, target) => {
  async function inspect(method: string, ...args: string[]): Promise<Record<string, unknown>> {
    const { stdout } = await run(INSPECTOR, ['--cli', ...target(), '--method', method, ...args], {
      cwd: folder,
      env: { ...process.env, HOME: folder },
    })
    return JSON.parse(stdout) as Record<string, unknown>
  }
  const call = (name: string, ...args: string[]) =>
    inspect('tools/call', '--tool-name', name, ...args.flatMap((arg) => ['--tool-arg', arg]))

  test('lists the tools', async () => {
    const { tools } = await inspect('tools/list')
    expect((tools as { name: string }[]).map(({ name }) => name).toSorted()).toEqual([
      'forecast_event',
      'get_question',
      'get_rank',
      'leaderboard',
      'list_questions',
      'my_forecasts',
      'my_scores',
      'submit_forecast',
      'submit_forecasts',
      'withdraw_forecast',
    ])
  })

  test('finds a question, forecasts, and reads the forecast back', async () => {
    const { structuredContent: listed } = await call('list_questions', 'limit=5')
    expect(listed).toMatchObject({ questions: [{ question_id: QUESTION.open }] })
    expect(await call('get_question', `question_id=${QUESTION.open}`)).toMatchObject({
      content: [
        { type: 'text', text: expect.stringContaining('The question is open') as string },
        { type: 'text', text: expect.stringContaining(`{"question_id":"${QUESTION.open}"`) as string },
      ],
    })
    const said = [`question_id=${QUESTION.open}`, 'probability=0.25']
    const { structuredContent: taken } = await call('submit_forecast', ...said)
    expect(taken).toMatchObject({ agent_id: agent.agentId, probability: 0.25 })
    const { structuredContent: current } = await call('my_forecasts')
    const { forecast_id } = taken as { forecast_id: string }
    expect(current).toMatchObject({ forecasts: [{ forecast_id, probability: 0.25 }] })
  })

  test('tells a refusal as an error of the tool', async () => {
    const said = [`question_id=${QUESTION.closed}`, 'probability=0.25']
    await expect(call('submit_forecast', ...said)).rejects.toMatchObject({
      stdout: expect.stringMatching(/it closed at 2026-02-10/) as string,
      stderr: expect.stringContaining('"tool_is_error"') as string,
    })
  })
})
