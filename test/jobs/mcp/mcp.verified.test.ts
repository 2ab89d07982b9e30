// `fvs mcp` with the key of the log: the official client is told what was verified, and what does not stand is
// an error with the record and the reason, however the service answers.
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { type CallToolResult, Client as ModelClient } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { serviceCall } from '../../../jobs/mcp/service-call.ts'
import { parseMcpSettings } from '../../../jobs/mcp/settings.ts'
import { TOOLS } from '../../../api/mcp/tools.ts'
import { parseVerifierKey, verifierKeyText } from '../../../pipeline/proof/note-keys.ts'
import { ServiceError } from '../../../schemas/errors.ts'
import { suiteFolder } from '../../support/folder.ts'
import {
  Client,
  Clock,
  type TestService,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { listening } from '../../support/loopback-witness.ts'
import { STRANGER, WITNESSES } from '../../support/worlds/proof-world.ts'
import { NOW, QUESTION, type WorldAgent, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'
import { LOG_KEY, LOG_VKEY, writeLog } from '../../support/worlds/written-log.ts'

const FVS = fileURLToPath(new URL('../../../jobs/fvs.js', import.meta.url))
const SIGNER = `${LOG_KEY.verifier.name}+${LOG_KEY.verifier.keyId}`
const FOREIGN = verifierKeyText(STRANGER.verifier)
const WITNESS = verifierKeyText(WITNESSES[0]!.verifier)

const folder = await suiteFolder()
let service: TestService
let agent: WorldAgent
beforeAll(async () => {
  const components = await testComponents({ folder, clock: new Clock(NOW) })
  agent = await copyReleasedWorld(components.store)
  await writeLog(components.store, 1)
  service = await startTestService({ ...components, signers: [LOG_KEY] })
})
afterAll(() => service.stop())

/** An answer of the service, on its way to the client. */
interface Passing {
  status: number
  headers: Record<string, string>
  body: string
}

/** The address of a server that passes calls on to the service and changes what it answers to some. */
async function changing(change: (answer: Passing, path: string) => Partial<Passing>): Promise<string> {
  const client = new Client(service.url)
  return listening((message, response) => {
    const pass = async () => {
      const sent = Buffer.concat((await message.toArray()) as Buffer[]).toString()
      const { method = '', url: path = '' } = message
      const { host: _, connection: __, 'transfer-encoding': ___, ...headers } = message.headers
      const answer = await client.send(method, path, {
        headers: headers as Record<string, string>,
        ...(sent === '' ? {} : { body: sent }),
      })
      const receipt = answer.headers['x-service-receipt']
      const given: Passing = {
        status: answer.status,
        headers: receipt === undefined ? {} : { 'X-Service-Receipt': String(receipt) },
        body: answer.text,
      }
      const { status, headers: shown, body } = { ...given, ...change(given, path) }
      response.writeHead(status, shown).end(body)
    }
    void pass().catch(() => void response.socket?.destroy())
  })
}

type Tool = (name: string, args?: Record<string, unknown>) => Promise<CallToolResult>

/** Starts the process as the agent, with these keys of the log. It ends with the test. */
async function connect(vkeys: string, url = service.url): Promise<{ call: Tool; log: () => string }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [FVS, 'mcp'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      FVS_URL: url,
      FVS_AGENT_ID: agent.agentId,
      FVS_API_KEY: agent.key,
      LOG_VKEY: vkeys,
    },
    cwd: folder,
    stderr: 'pipe',
  })
  let log = ''
  transport.stderr?.on('data', (bytes: Buffer) => (log += bytes.toString()))
  const client = new ModelClient({ name: 'a test', version: '1.0.0' })
  onTestFinished(() => client.close())
  await client.connect(transport)
  await client.listTools()
  return { call: (name, args = {}) => client.callTool({ name, arguments: args }), log: () => log }
}

/** The sentence, and behind it what is structured as JSON, if anything is. */
function textOf({ content, structuredContent }: CallToolResult): string {
  expect(content).toHaveLength(structuredContent ? 2 : 1)
  return (content[0] as { text: string }).text
}

function expectVerified(result: CallToolResult, because: string): void {
  expect(result.isError ?? false, textOf(result)).toBe(false)
  expect(result.structuredContent).toMatchObject({ verified: true, verified_because: because })
  expect(textOf(result).endsWith(` Verified: ${because}.`), textOf(result)).toBe(true)
}

const forecast = (probability: number | null) => ({ question_id: QUESTION.open, probability })

test('with the key, what has evidence is verified, and the result says by what', async () => {
  const { call, log } = await connect(`${FOREIGN}, ${LOG_VKEY}`)
  const because = `in the public log, entry 0 of 1, signed by ${SIGNER}`
  expectVerified(await call('get_rank'), because)
  const receipt = `its receipt holds, signed by ${SIGNER}`
  expectVerified(await call('submit_forecast', forecast(0.1234565)), receipt)
  expectVerified(await call('withdraw_forecast', { question_id: QUESTION.open }), receipt)
  const batch = { forecasts: [forecast(0.5), { question_id: QUESTION.closed, probability: 0.5 }] }
  expectVerified(await call('submit_forecasts', batch), receipt)
  expectVerified(await call('submit_forecasts', { forecasts: [forecast(null)] }), receipt)
  expect(log()).toContain(`verifies by ${STRANGER.verifier.name}+${STRANGER.verifier.keyId}, ${SIGNER}`)
})

test('what has no evidence, and a batch of which nothing was taken, say nothing of it', async () => {
  const { call } = await connect(LOG_VKEY)
  for (const result of [
    await call('list_questions'),
    await call('get_question', { question_id: QUESTION.open }),
    await call('leaderboard'),
    await call('my_scores'),
    await call('my_forecasts'),
    await call('submit_forecasts', { forecasts: [{ question_id: QUESTION.closed, probability: 0.5 }] }),
  ]) {
    expect(result.structuredContent).not.toHaveProperty('verified')
    expect(textOf(result)).not.toMatch(/erified/)
  }
})

test('without a key the result says that nothing was verified', async () => {
  const { call, log } = await connect('')
  for (const result of [await call('get_rank'), await call('submit_forecast', forecast(0.5))]) {
    expect(result.structuredContent).toMatchObject({
      verified: false,
      verified_because: 'no key of the log is set',
    })
    expect(textOf(result)).toMatch(/\. Not verified: no key of the log is set\.$/)
  }
  expect(log()).toContain('verifies nothing, because LOG_VKEY is not set')
})

test('a service that says itself that it was verified is not believed', async () => {
  const url = await changing(({ body }) => ({
    body: body.replace('{', '{"verified":true,"verified_because":"I say so",'),
  }))
  const { call } = await connect('', url)
  expect((await call('list_questions')).structuredContent).not.toHaveProperty('verified')
  expect((await call('get_rank')).structuredContent).toMatchObject({ verified: false })
})

interface Lie {
  tool: string
  args?: Record<string, unknown>
  change?: (answer: Passing, path: string) => Partial<Passing>
  vkeys?: string
  /** The parts of the error, after "not verified: ". */
  says: RegExp
}

const record = / \S+\/agents\/[0-9a-f-]{36}\/rankings of release 1 does not stand: /
const taken = / the forecast "\S+" on the question "\S+" was taken, and must not be submitted again, but /
const both = (first: RegExp, second: RegExp) => new RegExp(first.source + second.source)
const edit = (from: RegExp, to: string) => (answer: Passing) => ({ body: answer.body.replace(from, to) })
const submit = { tool: 'submit_forecast', args: forecast(0.25) }
const batch = { tool: 'submit_forecasts', args: { forecasts: [forecast(0.25)] } }

const LIES: [string, Lie][] = [
  [
    'a record with another number',
    {
      tool: 'get_rank',
      change: edit(/"rank":1,/, '"rank":2,'),
      says: both(record, /these bytes are not in the tree “agent” of release 1/),
    },
  ],
  [
    'a record that names another release',
    {
      tool: 'get_rank',
      change: (answer, path) =>
        path.endsWith('/rankings') ? edit(/"release":1\b/, '"release":2')(answer) : {},
      says: / because \S+\/rankings\/proof has no proof: there is no release 2/,
    },
  ],
  [
    'a record by the key of another log',
    {
      tool: 'get_rank',
      vkeys: FOREIGN,
      says: both(record, /no known key of "fvs.example\/forecasts" signed/),
    },
  ],
  [
    'a record that a witness has not signed',
    {
      tool: 'get_rank',
      vkeys: `${LOG_VKEY},${WITNESS}`,
      says: both(record, /.*of 0 known witnesses, not of 1/),
    },
  ],
  [
    'a record without a proof',
    {
      tool: 'get_rank',
      change: ({ body }, path) =>
        path.includes('/proof')
          ? { status: 404, body: '{"detail":"this service keeps no public log"}' }
          : { body },
      says: / because \S+\/rankings\/proof has no proof: this service keeps no public log/,
    },
  ],
  [
    'a proof that is none',
    {
      tool: 'get_rank',
      change: ({ body }, path) => ({ body: path.includes('/proof') ? 'x\u001b[31m\n' : body }),
      says: both(record, /a proof begins with/),
    },
  ],
  [
    'a forecast without a receipt',
    {
      ...submit,
      change: () => ({ headers: {} }),
      says: both(taken, /its receipt does not stand: there is none/),
    },
  ],
  [
    'a receipt that is no Base64',
    {
      ...submit,
      change: () => ({ headers: { 'X-Service-Receipt': '!' } }),
      says: both(taken, /.*is not base64/),
    },
  ],
  [
    'another probability',
    { ...submit, change: edit(/"probability":0.25/, '"probability":0.75'), says: taken },
  ],
  ['a receipt by another key', { ...submit, vkeys: FOREIGN, says: both(taken, /.*no known key of/) }],
  [
    'a batch without receipts',
    {
      ...batch,
      change: edit(/"receipt":"[^"]*",/, ''),
      says: both(taken, /its receipt does not stand: there is none/),
    },
  ],
  [
    'a batch with another probability',
    { ...batch, change: edit(/"probability":0.25/, '"probability":0.75'), says: taken },
  ],
]

describe('an error with the record and the reason is', () => {
  test.for(LIES)('%s', async ([, { tool, args, change = () => ({}), vkeys = LOG_VKEY, says }]) => {
    const { call } = await connect(vkeys, await changing(change))
    const result = await call(tool, args)
    expect(result.isError, textOf(result)).toBe(true)
    expect(result.structuredContent).toBeUndefined()
    expect(textOf(result)).toMatch(/^not verified[:,] /)
    expect(textOf(result)).toMatch(says)
    expect(textOf(result)).not.toContain('\u001b')
    expect(textOf(result)).not.toContain(agent.key)
  })

  test('a true record of another kind, and a true receipt of another forecast', async () => {
    const first = await service.client.post(`/agents/${agent.agentId}/forecast`, forecast(0.125), {
      Authorization: `Bearer ${agent.key}`,
    })
    const headers = { 'X-Service-Receipt': String(first.headers['x-service-receipt']) }
    const other = await service.client.get(`/agents/${agent.agentId}/metrics`)
    const proof = await service.client.get(`/agents/${agent.agentId}/metrics/proof`)
    const url = await changing((_answer, path) => {
      if (path.endsWith('/forecast')) return { body: first.text, headers }
      if (path.endsWith('/rankings')) return { body: other.text }
      return path.includes('/rankings/proof') ? { body: proof.text } : {}
    })
    const { call } = await connect(LOG_VKEY, url)
    expect(textOf(await call('get_rank'))).toMatch(
      both(record, /another record than was asked for: .*metrics/),
    )
    const result = await call('submit_forecast', forecast(0.25))
    expect(textOf(result)).toMatch(both(taken, /.*it is of another forecast than was sent$/))
  })
})

test('a release that is not logged yet is told with the time to wait', async () => {
  const url = await changing((answer, path) =>
    path.includes('/proof')
      ? { status: 503, headers: { 'Retry-After': '5' }, body: '{"detail":"release 1 is not logged yet"}' }
      : answer,
  )
  const { call } = await connect(LOG_VKEY, url)
  const text = textOf(await call('get_rank'))
  expect(text).toMatch(
    /^not verified, because .* has no proof: release 1 is not logged yet\nTry again after 5 seconds\.$/,
  )
})

test('a proof whose answer was lost is asked for once more', async () => {
  let lost = 0
  const url = await changing((answer, path) => {
    if (!path.includes('/proof') || lost === 1) return answer
    lost += 1
    throw new Error('lost')
  })
  const { call } = await connect(LOG_VKEY, url)
  expectVerified(await call('get_rank'), `in the public log, entry 0 of 1, signed by ${SIGNER}`)
  expect(lost).toBe(1)
})

describe('the setting LOG_VKEY', () => {
  test('takes several keys, of the log and of witnesses', () => {
    for (const text of [`${LOG_VKEY},${WITNESS}`, ` ${LOG_VKEY} \n ${WITNESS},`])
      expect(parseMcpSettings({ LOG_VKEY: text }).LOG_VKEY.map(({ use }) => use)).toEqual(['log', 'witness'])
    expect(parseMcpSettings({ LOG_VKEY: '' }).LOG_VKEY).toEqual([])
  })

  test.each(['hidden', WITNESS, `${LOG_VKEY}x`, ',', `${LOG_VKEY},hidden`])('refuses %j', (text) => {
    expect(() => parseMcpSettings({ LOG_VKEY: text })).toThrow('wrong settings in the environment: LOG_VKEY')
    expect(() => parseMcpSettings({ LOG_VKEY: text })).not.toThrow('hidden')
  })
})

test('no answer makes it fail in another way than with a ServiceError', async () => {
  const rank = TOOLS.find(({ name }) => name === 'submit_forecasts')!
  const bodies = [
    '{"results":[null]}',
    '{"results":[{"status":"ok"}]}',
    '{"results":[{"status":"ok","receipt":5,"forecast_id":{}}]}',
    '{"results":[{"status":"ok","receipt":"","question_id":"\\ud800"}]}',
  ]
  for (const body of bodies) {
    const server = createServer((_request, response) => void response.end(body))
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const options = { apiKey: undefined, newId: () => uuidOf(1, 1), vkeys: [parseVerifierKey(LOG_VKEY)] }
    const call = serviceCall({ ...options, url: `http://127.0.0.1:${port}` })
    const asked = rank.ask({ forecasts: [forecast(0.5)] }, agent.agentId)
    await expect(call(asked), body).rejects.toThrow(ServiceError)
  }
})
