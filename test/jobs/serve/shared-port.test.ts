// Processes that share a port: what one acknowledged the other reads back, and nobody shares unasked.
import { beforeAll, describe, expect, test } from 'vitest'
import { suiteFolder } from '../../support/folder.ts'
import { Client, bearer, registerAgent, testComponents } from '../../support/http/service.ts'
import { nodeWorld } from '../../support/http/nodes.ts'
import { fvs } from '../../support/process.ts'
import { QUESTION, copyReleasedWorld } from '../../support/worlds/world.ts'

const released = await suiteFolder()
beforeAll(async () => {
  await copyReleasedWorld((await testComponents({ folder: released })).store)
})

/** Opens connections until the system gives one to another process than that of `first`. */
async function clientOfOther(first: Client): Promise<Client> {
  const answered = async () => {
    const { text } = await first.get('/metrics')
    return /fvs_http_request_seconds_count\{[^}]*route="\/livez"[^}]*\} \d+/.exec(text)?.[0]
  }
  for (;;) {
    const client = new Client(first.url, 1)
    const before = await answered()
    expect((await client.get('/livez')).status).toBe(200)
    if ((await answered()) === before) return client
  }
}

test('two processes on one port read back what the other acknowledged, and one goes on alone', async () => {
  const { node } = await nodeWorld(released, { SHUTDOWN_TIMEOUT_MS: '600000' }, '--share-port')
  const first = await node()
  // This connection is the first process's, which is alone as yet.
  const { agentId, key } = await registerAgent(first.client)
  const second = await node({ PORT: new URL(first.url).port })
  expect(second.url).toBe(first.url)
  const other = await clientOfOther(first.client)
  for (const [writer, reader, probability] of [
    [first.client, other, 0.25],
    [other, first.client, 0.75],
  ] as const) {
    const body = { question_id: QUESTION.open, probability }
    const sent = await writer.post(`/agents/${agentId}/forecast`, body, bearer(key))
    expect(sent.status).toBe(200)
    const { forecast_id } = sent.json<{ forecast_id: string }>()
    await expect
      .poll(async () => (await reader.get(`/agents/${agentId}/forecasts`, bearer(key))).json())
      .toMatchObject({ forecasts: [{ forecast_id, probability }] })
  }
  await first.stop()
  expect((await new Client(first.url).get('/livez')).status).toBe(200)
  await second.stop()
})

describe('a port that is taken is refused', () => {
  test.for([
    ['a process that shares none, by one that shares', [], ['--share-port']],
    ['a process that shares, by one that shares none', ['--share-port'], []],
    ['a process that shares none, by one that shares none', [], []],
  ] as const)('to %s', async ([, options, ofFirst]) => {
    const { node, folder, store } = await nodeWorld(released, {}, ...ofFirst)
    const { port } = new URL((await node()).url)
    const env = { STORE_URL: store.url, PORT: port }
    const { code, stderr } = await fvs(['serve', '--no-scheduler', ...options], { folder, env })
    expect(code).toBe(1)
    expect(stderr).toContain(`port ${port} on 127.0.0.1 is taken; set PORT`)
  })
})
