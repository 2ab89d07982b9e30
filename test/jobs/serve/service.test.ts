// Starting and stopping inside one process: calls under way are answered, and answered calls are kept.
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { startService } from '../../../jobs/serve/service.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { ForecastRow } from '../../../schemas/tables.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { inboxRows } from '../../support/inbox-rows.ts'
import { RawSocket } from '../../support/http/raw-socket.ts'
import {
  bearer,
  importRows,
  registerAgent,
  testComponents,
  testService,
  withSandbox,
} from '../../support/http/service.ts'
import { QUESTION, importWorld, uuidOf } from '../../support/worlds/world.ts'

// A test that waited for this long would exceed its own time limit.
const PATIENT = { SHUTDOWN_TIMEOUT_MS: '600000' }
const FORECAST = { question_id: QUESTION.open, probability: 0.5 }

/** A service whose next write of forecasts waits to be released. */
async function heldService() {
  const gate = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  let hold = false
  const store = new FaultStore(new MemoryStore(), {
    before: async ({ operation, path }) => {
      if (!hold || operation !== 'putIfAbsent' || !path.startsWith('inbox/forecasts/')) return
      held.resolve()
      await gate.promise
    },
  })
  const components = await testComponents({ store, settings: PATIENT })
  await importWorld(components)
  const service = await testService(components)
  const { agentId, key } = await registerAgent(service.client)
  hold = true
  return {
    ...service,
    store,
    submit: () => service.client.post(`/agents/${agentId}/forecast`, FORECAST, bearer(key)),
    held: held.promise,
    letGo: () => {
      gate.resolve()
    },
  }
}

test('a service that is told to names on its pages the address at which it listens', async () => {
  const options = { scheduler: false, ownAddress: true }
  const service = await startService(withSandbox(await testComponents()), options)
  const page = await fetch(`${service.url}/sandbox/`).then((answer) => answer.text())
  expect(page).toContain(`curl -i ${service.url}/sandbox/agents/$AGENT_ID/verification`)
  await service.stop()
})

describe('stopping', () => {
  test(
    'answers calls under way, keeps their rows, and then waits for no connection',
    { tags: ['slow'] },
    async () => {
      const { client, submit, held, letGo, stop, store } = await heldService()
      const first = submit()
      await held
      const answers = [first, submit(), submit()]
      // The other calls have arrived too, and the connection of this one becomes idle.
      await expect
        .poll(async () => (await client.get('/metrics')).text)
        .toMatch(/fvs_commit_queued\{environment="production"\} 2/)
      const stopped = stop()
      letGo()
      const received = await Promise.all(answers)
      expect(received.map(({ status }) => status)).toEqual([200, 200, 200])
      for (const { headers } of received) expect(headers.connection).toBe('close')
      await stopped
      const ids = received.map((answer) => answer.json<ForecastRow>().forecast_id)
      const kept = (await inboxRows(store, 'forecasts')).map(({ forecast_id }) => String(forecast_id))
      expect(kept.toSorted()).toEqual(ids.toSorted())
    },
  )

  test('refuses new connections at once', { tags: ['slow'] }, async () => {
    const { url, submit, held, letGo, stop } = await heldService()
    const answer = submit()
    await held
    const stopped = stop()
    const refused = new Promise((resolve) => {
      request(`${url}/livez`).on('error', resolve).end()
    })
    expect(await refused).toMatchObject({ code: 'ECONNREFUSED' })
    letGo()
    expect((await answer).status).toBe(200)
    await stopped
  })

  test('sends an answer to its end, however slowly it is read', { tags: ['slow'] }, async () => {
    const components = await testComponents({ settings: PATIENT })
    const lines = Array.from(
      { length: 1000 },
      (_, index) => `${uuidOf(1, index)},${'x'.repeat(2000)},2026-01-01T00:00:00Z,2027-01-01T00:00:00Z`,
    )
    await importRows(components, 'questions', ['question_id,title,opened_at,closes_at', ...lines].join('\n'))
    const { url, client, stop } = await testService(components)
    const whole = await client.get('/questions?limit=1000')
    const sockets = await Promise.all(Array.from({ length: 4 }, () => RawSocket.open(url)))
    for (const raw of sockets) {
      for (let round = 0; round < 3; round++)
        raw.send('GET /questions?limit=1000 HTTP/1.1', 'Host: x', '', '')
      await raw.received(/200 OK/)
      raw.socket.pause()
    }
    const stopped = stop()
    for (const { socket } of sockets) socket.resume()
    for (const raw of sockets) {
      const received = await raw.closed
      const bodies = received.split('HTTP/1.1 200 OK').slice(1)
      expect(bodies.length).toBeGreaterThanOrEqual(1)
      for (const body of bodies) expect(body.endsWith(whole.text)).toBe(true)
    }
    await stopped
  })

  test('cuts off, after a time, a client that has not finished its request', async () => {
    const service = await testService({ settings: { SHUTDOWN_TIMEOUT_MS: '100' } })
    const raw = await RawSocket.open(service.url)
    raw.send(
      'POST /agents/register HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Content-Length: 9',
    )
    raw.send('', 'Expect: 100-continue', '', '{')
    await raw.received(/100 Continue/)
    await service.stop()
    expect(await raw.closed).not.toMatch(/HTTP\/1.1 2\d\d/)
  })

  test('twice is stopping once', async () => {
    const service = await startService(withSandbox(await testComponents()), { scheduler: false })
    await expect(Promise.all([service.stop(), service.stop()])).resolves.toHaveLength(2)
  })
})

describe('starting', () => {
  test('on a port in use names it, and leaves nothing running', async () => {
    const { url } = await testService()
    const { port } = new URL(url)
    const components = await testComponents({ settings: { PORT: port } })
    await expect(startService(withSandbox(components), { scheduler: false })).rejects.toMatchObject({
      kind: 'conflict',
      message: `port ${port} on 127.0.0.1 is taken; set PORT`,
    })
  })

  test('on an address of another machine names it', async () => {
    const components = await testComponents({ settings: { HOST: '192.0.2.1' } })
    await expect(startService(withSandbox(components), { scheduler: false })).rejects.toMatchObject({
      kind: 'invalid',
      message: 'cannot listen on 192.0.2.1:0 (EADDRNOTAVAIL)',
    })
  })

  test('with a schedule that cron does not know names it', async () => {
    const components = await testComponents({ settings: { RELEASE_SCHEDULE: 'every day' } })
    await expect(startService(withSandbox(components), { scheduler: false })).rejects.toMatchObject({
      kind: 'invalid',
      message: 'RELEASE_SCHEDULE is not a cron expression: "every day"',
    })
  })

  test('on a store that does not answer fails instead of serving nothing', async () => {
    const store = new FaultStore(new MemoryStore(), {
      before: () => {
        throw new Error('unreachable')
      },
    })
    const components = await testComponents({ store })
    await expect(startService(withSandbox(components), { scheduler: false })).rejects.toThrow('unreachable')
  })
})
