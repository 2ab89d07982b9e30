// The bots in examples/, run as their readers run them, against the real service.
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installClients } from './support/client-packages.ts'
import { RunningCommand } from './support/command.ts'
import { type Passed, cuttingProxy } from './support/http/cutting-proxy.ts'
import { REPOSITORY } from './support/fenced-blocks.ts'
import { suiteFolder } from './support/folder.ts'
import {
  Clock,
  type TestService,
  importRows,
  registerAgent,
  startTestService,
  testComponents,
  testService,
} from './support/http/service.ts'
import { NOW, type WorldAgent, copyReleasedWorld, uuidOf } from './support/worlds/world.ts'

const OTHER = uuidOf(1, 2000)
const BOTS = [
  { file: 'bot.js', command: process.execPath },
  { file: 'bot.py', command: 'python3' },
]

const folder = await suiteFolder()
let service: TestService
let agent: WorldAgent
let installed: { env: Record<string, string> }

beforeAll(async () => {
  installed = await installClients(folder)
  for (const { file } of BOTS) copyFileSync(`${REPOSITORY}examples/${file}`, `${folder}/${file}`)
  const components = await testComponents({ folder, clock: new Clock(NOW) })
  agent = await copyReleasedWorld(components.store)
  const line = `${OTHER},Another?,2026-01-01T00:00:00Z,2027-06-01T00:00:00Z`
  await importRows(components, 'questions', `question_id,title,opened_at,closes_at\n${line}\n`)
  service = await startTestService(components)
})
afterAll(() => service.stop())

describe.each(BOTS)('examples/$file', ({ file, command }) => {
  const path = `${folder}/${file}`
  const isMissing = spawnSync(command, ['--version']).error !== undefined
  if (isMissing) {
    if (process.env['CI'] === 'true') throw new Error(`not installed: ${command}`)
    console.warn(`skipped: examples/${file} needs ${command}`)
  }
  const run = (url: string, { agentId, key }: WorldAgent = agent) =>
    new RunningCommand(command, [path], {
      cwd: folder,
      env: { ...installed.env, FVS_URL: url, FVS_AGENT_ID: agentId, FVS_API_KEY: key },
    }).ended

  test('has at most thirty lines of code', () => {
    const lines = readFileSync(path, 'utf8').split('\n')
    const code = lines.filter((line) => line.trim() !== '' && !/^\s*(\/\/|#|\/\*\*|""")/.test(line))
    expect(code.length).toBeLessThanOrEqual(30)
  })

  test.skipIf(isMissing)(
    'reads every open question, submits once though its connection is cut, reads back what stands, and its scores',
    async () => {
      const proxy = await cuttingProxy(service.url, 1)
      const { code, stdout, stderr } = await run(proxy.url)
      expect(code, stderr).toBe(0)
      const [taken, current, ...scores] = stdout.trimEnd().split('\n')
      expect(taken).toBe('2 of 2 forecasts taken')
      expect(current).toBe('2 stand on questions that are open')
      expect(scores).toHaveLength(52)
      expect(scores[0]).toBe('8.6 for Question "44"')
      const paths = (method: string) =>
        proxy.passed.filter((each) => each.method === method).map(({ path: p }) => p)
      expect(paths('GET').toSorted()).toEqual([
        `/agents/${agent.agentId}/forecasts`,
        `/agents/${agent.agentId}/scores`,
        '/questions?include=texts&status=open',
      ])
      expect(paths('POST')).toEqual(Array(2).fill(`/agents/${agent.agentId}/forecasts`))
      const [first, second] = proxy.passed.filter(({ method }) => method === 'POST') as [Passed, Passed]
      expect(second).toEqual(first)
      expect(first.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/)
    },
  )

  test.skipIf(isMissing)(
    'has nothing to do without questions, and is told when there are scores',
    async () => {
      const { client, url } = await testService()
      const { code, stdout, stderr } = await run(url, await registerAgent(client))
      expect(code, stderr).toBe(0)
      const [taken, , reason] = stdout.split('\n')
      expect(taken).toBe('0 of 0 forecasts taken')
      expect(reason).toMatch(/no release has covered it yet/)
    },
  )

  test.skipIf(isMissing)('ends with the reason of a refusal', async () => {
    const { code, stdout, stderr } = await run(service.url, { ...agent, key: 'fv_live_wrong' })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/the bearer token is (unknown|not the API key of an agent)/)
    expect(stderr).not.toContain('fv_live_wrong')
  })
})
