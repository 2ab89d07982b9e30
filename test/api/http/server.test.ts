// Slow, broken and too many connections are cut off, and all others are still served.
import { setImmediate as othersHaveRun } from 'node:timers/promises'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type RunningServer, startServer } from '../../../api/http/server.ts'
import { inboxRows } from '../../support/inbox-rows.ts'
import { RawSocket } from '../../support/http/raw-socket.ts'
import {
  type TestService,
  bearer,
  importRows,
  registerAgent,
  testComponents,
  testService,
} from '../../support/http/service.ts'
import { QUESTION, importWorld, uuidOf } from '../../support/worlds/world.ts'

const TIMEOUT = { REQUEST_TIMEOUT_MS: '150' }
const serving = (settings: Record<string, string> = TIMEOUT): Promise<TestService> =>
  testService({ settings })

/** A server that gives every request to one function, and closes when the test ends. */
async function serverOf(answer: Koa.Middleware, { idleTimeoutMs = 10_000 } = {}): Promise<RunningServer> {
  const app = new Koa()
  app.use(answer)
  const settings = {
    host: '127.0.0.1',
    port: 0,
    sharePort: false,
    requestTimeoutMs: 10_000,
    idleTimeoutMs,
    maxConnections: 10,
    maxConnectionsOfAddress: 10,
  }
  const callback = app.callback()
  const server = await startServer(
    (...asked) => void callback(...asked),
    settings,
    () => [],
  )
  onTestFinished(() => server.close(0))
  return server
}

async function expectServing({ client }: TestService): Promise<void> {
  expect((await client.get('/livez')).status).toBe(200)
}

describe('a connection that lies still', () => {
  test('says nothing at all is cut off too', async () => {
    const service = await serving()
    const silent = await RawSocket.open(service.url)
    expect(await silent.closed).toMatch(/^(HTTP\/1.1 408 Request Timeout\r\n|$)/)
    await expectServing(service)
  })

  test('may take longer between two requests than within one', async () => {
    const service = await serving()
    const raw = await RawSocket.open(service.url)
    raw.send('GET /livez HTTP/1.1', 'Host: x', '', '')
    await raw.received(/"status":"ok"/)
    const slow = await RawSocket.open(service.url)
    slow.send('GET ')
    await slow.closed
    raw.send('GET /readyz HTTP/1.1', 'Host: x', '', '')
    expect(await raw.received(/ok[^]*ok/)).toMatch(/200 OK[^]*200 OK/)
  })
})

describe('a client that sends too much', () => {
  test('in chunks without an end is answered 413 and cut off', async () => {
    const service = await serving({})
    const raw = await RawSocket.open(service.url)
    raw.send(
      'POST /agents/register HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      '',
      '',
    )
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    raw.socket.on('drain', () => raw.socket.write(chunk))
    raw.socket.write(chunk)
    raw.socket.write(chunk)
    expect(await raw.received(/more than 65536 bytes/)).toMatch(
      /^HTTP\/1.1 413 Payload Too Large\r\n[^]*Connection: close/,
    )
    await raw.closed
    await expectServing(service)
  })

  test('of a declared length is answered 413 although it sends on', { tags: ['slow'] }, async () => {
    const service = await serving({})
    const megabytes = Buffer.alloc(8 * 1024 * 1024, 'x')
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        service.client.post('/agents/register', megabytes, { 'Content-Length': String(megabytes.length) }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 413))
    await expectServing(service)
  })
})

describe('a connection that is reset', () => {
  test('in the middle of a body records nothing and harms nobody', { tags: ['slow'] }, async () => {
    const service = await serving({})
    const { client, components } = service
    await importWorld(components)
    const { agentId, key } = await registerAgent(client)
    const body = JSON.stringify({ question_id: QUESTION.open, probability: 0.5 })
    for (let round = 0; round < 5; round++) {
      const raw = await RawSocket.open(service.url)
      raw.send(
        `POST /agents/${agentId}/forecast HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${key}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Expect: 100-continue',
        '',
        '',
      )
      await raw.received(/100 Continue/)
      raw.send(body.slice(0, -1))
      raw.socket.resetAndDestroy()
      await raw.closed
    }
    await expectServing(service)
    expect((await client.post(`/agents/${agentId}/forecast`, body, bearer(key))).status).toBe(200)
    expect(await inboxRows(components.store, 'forecasts')).toHaveLength(1)
  })

  test.for(['GET /questions', 'CONNECT example.org:443'])(
    'while %s is being answered harms nobody',
    async (asked) => {
      const service = await serving({})
      for (let round = 0; round < 20; round++) {
        const raw = await RawSocket.open(service.url)
        raw.send('GET /questions HTTP/1.1', 'Host: x', '', '')
        raw.send(`${asked} HTTP/1.1`, 'Host: x', '', '')
        if (round % 2 === 0) await raw.received(/200 OK/)
        raw.socket.resetAndDestroy()
        await raw.closed
      }
      await expectServing(service)
    },
  )
})

describe('a client that reads slowly', () => {
  test('gets everything in the end, and the others do not wait for it', { tags: ['slow'] }, async () => {
    const components = await testComponents()
    const title = 'x'.repeat(2000)
    const lines = Array.from(
      { length: 1000 },
      (_, index) => `${uuidOf(1, index)},${title},2026-01-01T00:00:00Z,2027-01-01T00:00:00Z`,
    )
    await importRows(components, 'questions', ['question_id,title,opened_at,closes_at', ...lines].join('\n'))
    const service = await testService(components)
    const slow = await RawSocket.open(service.url)
    slow.socket.pause()
    const ask = (connection: string) => {
      slow.send('GET /questions?limit=1000 HTTP/1.1', 'Host: x', `Connection: ${connection}`, '', '')
    }
    for (let round = 0; round < 7; round++) ask('keep-alive')
    ask('close')
    for (let round = 0; round < 20; round++) await expectServing(service)
    slow.socket.resume()
    const answered = await slow.closed
    expect(answered.match(/HTTP\/1.1 200 OK/g)).toHaveLength(8)
    expect(answered.match(/"next_cursor":null/g)).toHaveLength(8)
    expect(answered.length).toBeGreaterThan(8 * 2_000_000)
  })
})

describe('a client that does not read at all', () => {
  test('costs one answer, however much it has asked for', async () => {
    const { url, client } = await serving({})
    const { bytes } = await client.get('/openapi.json')
    const before = process.memoryUsage().arrayBuffers
    const asked = 100
    const { socket } = await RawSocket.open(url)
    socket.pause()
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(asked))
    const answered = async () => {
      const { text } = await client.get('/metrics')
      return Number(/_count\{method="GET",route="\/openapi.json",status="200"\} (\d+)/.exec(text)?.[1])
    }
    await expect.poll(answered).toBeGreaterThan(1)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((asked / 4) * bytes.length)
  })

  test('is cut off once its connection has lain still for too long', async () => {
    const server = await serverOf(
      (ctx) => {
        ctx.body = ctx.path === '/big' ? Buffer.alloc(32 * 1024 * 1024) : 'small'
      },
      { idleTimeoutMs: 100 },
    )
    const stuck = await RawSocket.open(server.url)
    stuck.socket.pause()
    stuck.send('GET /big HTTP/1.1', 'Host: x', '', '')
    // A client that does not read cannot see the end of its connection, so the test waits for the server's.
    const idle = await RawSocket.open(server.url)
    idle.send('GET /small HTTP/1.1', 'Host: x', '', '')
    expect(await idle.closed).toMatch(/small$/)
    await server.close(60_000)
    stuck.socket.resume()
    expect((await stuck.closed).length).toBeLessThan(32 * 1024 * 1024)
  })
})

describe('closing', () => {
  test(
    'sends an answer of 50 MB whole to a client that reads it slowly, and waits for no idle connection',
    { tags: ['slow'] },
    async () => {
      const body = Buffer.alloc(50_000_000, 'x')
      const server = await serverOf((ctx) => {
        ctx.body = body
      })
      const slow = await RawSocket.open(server.url)
      slow.send('GET / HTTP/1.1', 'Host: x', '', '')
      await slow.received(/200 OK/)
      slow.socket.pause()
      const idle = await RawSocket.open(server.url)
      idle.send('HEAD / HTTP/1.1', 'Host: x', '', '')
      await idle.received(/200 OK/)
      const closed = server.close(60_000)
      await idle.closed
      slow.socket.resume()
      const received = await slow.closed
      expect(received.length - received.indexOf('\r\n\r\n') - 4).toBe(body.length)
      await closed
    },
  )
})

describe('a client that asks ahead', () => {
  /** Answers each request with its path, once it is let go. */
  async function gated() {
    const begun: string[] = []
    const gates: (() => void)[] = []
    const server = await serverOf(async (ctx) => {
      begun.push(ctx.path)
      await new Promise<void>((resolve) => gates.push(resolve))
      ctx.body = `it was ${ctx.path};`
    })
    return { url: server.url, begun, letGo: () => gates.shift()!() }
  }
  const asking = (count: number): string =>
    Array.from({ length: count }, (_, index) => `GET /${index} HTTP/1.1\r\nHost: x\r\n\r\n`).join('')

  test('is answered in turn, and what it asks for is not begun before', async () => {
    const { url, begun, letGo } = await gated()
    const raw = await RawSocket.open(url)
    raw.socket.write(asking(3))
    for (let turn = 0; turn < 3; turn++) {
      await expect.poll(() => begun.length).toBe(turn + 1)
      letGo()
      // A request that was begun together with this one would be in the list by the time of this answer.
      await raw.received(new RegExp(`it was /${turn};`))
    }
    expect(begun).toEqual(['/0', '/1', '/2'])
  })

  test.for([
    ['at once', () => Promise.resolve()],
    ['later in its turn of the event loop', () => new Promise<void>((resolve) => process.nextTick(resolve))],
    ['in the next turn', () => othersHaveRun()],
  ] as const)('has nothing begun behind an answer, made %s, that ends the connection', async ([, wait]) => {
    const begun: string[] = []
    const server = await serverOf(async (ctx) => {
      begun.push(ctx.path)
      await wait()
      ctx.set('Connection', 'close')
      ctx.body = 'the last'
    })
    const raw = await RawSocket.open(server.url)
    raw.socket.write(asking(3))
    expect(await raw.closed).toMatch(/the last$/)
    expect(begun).toEqual(['/0'])
  })

  test('has nothing begun that follows an upgrade', async () => {
    const { url, begun, letGo } = await gated()
    const raw = await RawSocket.open(url)
    raw.socket.write('GET /0 HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n')
    await expect.poll(() => begun.length).toBe(1)
    raw.socket.write(asking(3))
    letGo()
    expect(await raw.closed).toMatch(/it was \/0;$/)
    expect(begun).toEqual(['/0'])
  })

  test('and then says that it sends no more, is answered all the same', async () => {
    const { url, letGo, begun } = await gated()
    const raw = await RawSocket.open(url)
    raw.socket.end(asking(2))
    for (let turn = 0; turn < 2; turn++) {
      await expect.poll(() => begun.length).toBe(turn + 1)
      letGo()
    }
    expect(await raw.closed).toMatch(/it was \/0;.*it was \/1;$/s)
  })

  test('for far too much is cut off', async () => {
    const { url, begun } = await gated()
    const raw = await RawSocket.open(url)
    raw.socket.write(asking(200))
    expect(await raw.closed).toBe('')
    expect(begun).toEqual(['/0'])
  })
})

describe('too many connections', () => {
  async function opened(url: string): Promise<RawSocket> {
    const raw = await RawSocket.open(url)
    raw.send('GET /livez HTTP/1.1', 'Host: x', '', '')
    await raw.received(/"status":"ok"/)
    return raw
  }

  test.for([{ MAX_CONNECTIONS: '2' }, { MAX_CONNECTIONS_OF_ADDRESS: '2' }])(
    'close the one that has been idle for longest: %j',
    async (settings) => {
      const { url } = await serving(settings)
      const [first, second] = [await opened(url), await opened(url)]
      first.send('GET /readyz HTTP/1.1', 'Host: x', '', '')
      await first.received(/ok[^]*ok/)
      const third = await opened(url)
      await second.closed
      await opened(url)
      expect(await first.closed).toMatch(/ok[^]*ok/)
      third.send('GET /readyz HTTP/1.1', 'Host: x', '', '')
      expect(await third.received(/ok[^]*ok/)).toMatch(/200 OK[^]*200 OK/)
    },
  )

  test('close none that is owed an answer: the new one is turned away', async () => {
    const { url, client } = await serving({ MAX_CONNECTIONS_OF_ADDRESS: '2' })
    const asking = [
      'POST /agents/register HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Content-Length: 2',
      'Expect: 100-continue',
      '',
    ]
    const busy = [await RawSocket.open(url), await RawSocket.open(url)]
    for (const raw of busy) {
      raw.send(...asking, '')
      await raw.received(/100 Continue/)
    }
    expect(await (await RawSocket.open(url)).closed).toBe('')
    for (const raw of busy) {
      raw.send('{}')
      await raw.received(/422 /)
    }
    expect((await client.get('/livez')).status).toBe(200)
  })

  test('do not come from a trusted proxy, but in all', async () => {
    const { url } = await serving({
      MAX_CONNECTIONS: '3',
      MAX_CONNECTIONS_OF_ADDRESS: '1',
      TRUSTED_PROXIES: 'loopback',
    })
    const first = await opened(url)
    for (const raw of [await opened(url), await opened(url)]) expect(raw.socket.destroyed).toBe(false)
    expect(first.socket.destroyed).toBe(false)
    await opened(url)
    await first.closed
  })

  test('of one address by the hundred leave the others their answers', async () => {
    const { url } = await serving({})
    const first = await opened(url)
    const more = await Promise.all(Array.from({ length: 256 }, () => RawSocket.open(url)))
    await first.closed
    const last = more.at(-1)!
    last.send('GET /livez HTTP/1.1', 'Host: x', '', '')
    expect(await last.received(/"status":"ok"/)).toMatch(/200 OK/)
  })
})
