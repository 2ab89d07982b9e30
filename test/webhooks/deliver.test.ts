// Webhooks, against a receiver that dies, hangs, refuses and comes back: every event comes, in order, signed.
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Deliverer, GIVE_UP_MS } from '../../pipeline/webhooks/deliver.ts'
import { type LookUp, isPublicAddress, lookUpAll } from '../../pipeline/public-address.ts'
import { assertWebhookUrl, send } from '../../pipeline/webhooks/send.ts'
import {
  type Webhook,
  createWebhook,
  deleteWebhook,
  readWebhooks,
  webhookState,
} from '../../pipeline/webhooks/webhooks.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { EventType, FeedEvent } from '../../schemas/feed.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { Clock } from '../support/http/service.ts'
import { uuidOf } from '../support/worlds/world.ts'

const START = '2026-03-01T12:00:00.000Z'
const clock = new Clock(START)
let store: MemoryStore
/** The events of a feed, one to a segment. */
let events: FeedEvent[]

beforeEach(() => {
  clock.set(START)
  store = new MemoryStore()
  events = []
})

const happen = (count: number, type: EventType = 'question.closed') => {
  for (let n = 0; n < count; n++) {
    const event = {
      type,
      id: `${events.length + 1}_0`,
      at: START,
      question_id: uuidOf(1, n),
      title: 'Will it?',
    }
    events.push(event as FeedEvent)
  }
}
const feed = {
  after: (cursor: string | undefined, limit: number) => {
    const [segment, index] = (cursor ?? '1_0').split('_').map(Number) as [number, number]
    const from = segment - 1 + index
    const own = events.slice(from, from + limit)
    return Promise.resolve({ events: own, next: `${from + own.length + 1}_0` })
  },
}
const later = (ms: number) => {
  clock.set(new Date(clock.now().getTime() + ms).toISOString())
}

interface Received {
  headers: Record<string, string>
  body: string
}

/** A receiver whose answers a test decides. */
async function receiver() {
  const received: Received[] = []
  const is: { status: number; handle?: (response: ServerResponse) => void } = { status: 204 }
  const server: Server = createServer((request: IncomingMessage, response) => {
    void request.toArray().then((chunks) => {
      const body = Buffer.concat(chunks as Buffer[]).toString()
      received.push({ headers: request.headers as Record<string, string>, body })
      if (is.handle) is.handle(response)
      else response.writeHead(is.status, { Location: '/elsewhere' }).end()
    })
  })
  const listen = async (port = 0) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listen()
  const close = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  onTestFinished(close)
  const ids = () => received.map(({ headers }) => headers['webhook-id'])
  return { url: `http://127.0.0.1:${port}/hook`, is, received, ids, close, open: () => listen(port) }
}

const add = (url: string, types: EventType[] | null = null): Promise<Webhook> =>
  createWebhook(store, { url, events: types, from: '1_0' }, { randomBytes, now: clock.now() })

function delivererOver(over: MemoryStore | FaultStore = store, timeoutMs = 10_000): Deliverer {
  return new Deliverer({
    store: over,
    feed,
    now: clock.now,
    log: () => undefined,
    isPrivateAllowed: true,
    lookUp: lookUpAll,
    timeoutMs,
  })
}

/** Delivers once, as a process that has just begun. */
async function deliver(deliverer = delivererOver()): Promise<void> {
  await deliverer.begin()
  await deliverer.settled()
}

const hours = (count: number) => count * 3_600_000

describe('events', () => {
  test('come in order, each signed by the scheme of Standard Webhooks', { tags: ['slow'] }, async () => {
    const { url, received, ids } = await receiver()
    const { secret } = await add(url)
    happen(250)
    await deliver()
    expect(ids()).toEqual(events.map(({ id }) => id))
    for (const { headers, body } of received) {
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
      expect(headers['webhook-signature']).toBe(
        `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
      )
      expect(headers['webhook-timestamp']).toBe(String(Date.parse(START) / 1000))
      expect(JSON.parse(body)).toMatchObject({ id: headers['webhook-id'], type: 'question.closed' })
    }
    await deliver()
    expect(ids()).toHaveLength(250)
  })

  test('that nobody asked for are left out', async () => {
    const { url, ids } = await receiver()
    await add(url, ['release.published'])
    happen(2)
    happen(1, 'release.published')
    happen(150)
    await deliver()
    expect(ids()).toEqual(['3_0'])
    happen(1, 'release.published')
    await deliver()
    expect(ids()).toEqual(['3_0', '154_0'])
  })
})

describe('a receiver', () => {
  test('that is away for a day gets everything when it is back', async () => {
    const { url, ids, close, open } = await receiver()
    const webhook = await add(url)
    happen(1)
    await deliver()
    await close()
    happen(2)
    let tries = 0
    for (let ms = 0; ms < hours(24); ms += 60_000) {
      const before = (await webhookState(store, webhook)).failing?.tries ?? 0
      await deliver()
      tries += (await webhookState(store, webhook)).failing!.tries - before
      later(60_000)
    }
    // After 1 min, 2, 4, 19 and 79 min, 5.3 h, then every 8 h.
    expect(tries).toBeLessThan(12)
    expect(tries).toBeGreaterThan(6)
    await open()
    happen(1)
    later(hours(8))
    await deliver()
    expect(ids()).toEqual(['1_0', '2_0', '3_0', '4_0'])
    expect((await webhookState(store, webhook)).failing).toBeNull()
  })

  test.for([500, 404, 302])('that answers %d is tried again, and not followed', async (status) => {
    const { url, is, received, ids } = await receiver()
    const webhook = await add(url)
    is.status = status
    happen(2)
    await deliver()
    await deliver()
    expect(ids()).toEqual(['1_0'])
    expect((await webhookState(store, webhook)).failing).toMatchObject({
      tries: 1,
      reason: `it answered ${status}`,
    })
    is.status = 200
    later(5_000)
    await deliver()
    expect(ids()).toEqual(['1_0', '1_0', '2_0'])
    expect(received[0]!.body).toBe(received[1]!.body)
  })

  test('that hangs is left after a time, and delays no other', async () => {
    const hanging = await receiver()
    const other = await receiver()
    hanging.is.handle = () => undefined
    await add(hanging.url)
    await add(other.url)
    happen(2)
    const deliverer = delivererOver(store, 200)
    await deliverer.begin()
    await expect.poll(() => other.ids()).toEqual(['1_0', '2_0'])
    await deliverer.settled()
    expect(hanging.ids()).toEqual(['1_0'])
  })

  test('that fails for three days loses an event, which the list says, and gets the next', async () => {
    const { url, is, ids } = await receiver()
    const webhook = await add(url)
    is.status = 500
    happen(1)
    await deliver()
    later(GIVE_UP_MS)
    happen(1)
    is.handle = (response) => {
      is.status = 200
      delete is.handle
      response.writeHead(500).end()
    }
    await deliver()
    expect(ids()).toEqual(['1_0', '1_0', '2_0'])
    expect(await webhookState(store, webhook)).toMatchObject({
      failing: null,
      given_up: { events: 1, last_event_id: '1_0' },
    })
  })

  test('that is gone for good is called no more', async () => {
    const { url, is, ids } = await receiver()
    const webhook = await add(url)
    is.status = 410
    happen(2)
    await deliver()
    later(GIVE_UP_MS)
    await deliver()
    expect(ids()).toEqual(['1_0'])
    expect((await webhookState(store, webhook)).disabled_at).toBe(START)
  })
})

test('a process that dies between a delivery and its record delivers again with the same id', async () => {
  const { url, ids } = await receiver()
  await add(url)
  happen(2)
  await deliver(delivererOver(new FaultStore(store, { at: 1, fault: 'failed', crash: true })))
  expect(ids()).toEqual(['1_0'])
  await deliver()
  expect(ids()).toEqual(['1_0', '1_0', '2_0'])
})

test('a webhook that is removed while it is called leaves nothing behind', async () => {
  const { url, is, ids } = await receiver()
  const webhook = await add(url)
  is.handle = (response) => {
    void deleteWebhook(store, webhook.id).then(() => response.writeHead(200).end())
  }
  happen(2)
  await deliver()
  expect(ids()).toEqual(['1_0'])
  expect([...store.objects.keys()]).toEqual([])
  await expect(deleteWebhook(store, webhook.id)).rejects.toMatchObject({ kind: 'notFound' })
})

test('a stop ends a call that is under way', async () => {
  const { url, is, ids } = await receiver()
  await add(url)
  is.handle = () => undefined
  happen(1)
  const deliverer = delivererOver()
  await deliverer.begin()
  await expect.poll(ids).toEqual(['1_0'])
  await deliverer.stop()
})

describe('an address', () => {
  const PRIVATE = [
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '192.0.2.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    '4000::1',
  ]

  test.for(PRIVATE)('%s is no address of the Internet', (address) => {
    expect(isPublicAddress(address)).toBe(false)
    const host = address.includes(':') ? `[${address}]` : address
    expect(() => {
      assertWebhookUrl(`https://${host}/`, false)
    }).toThrow(/no address of the Internet/)
  })

  test('of the Internet is allowed, and others in any spelling are not', () => {
    for (const address of ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']) {
      expect(isPublicAddress(address)).toBe(true)
    }
    for (const url of ['https://2130706433/', 'https://0x7f.1/', 'https://0177.0.0.1/', 'https://127.1/']) {
      expect(() => {
        assertWebhookUrl(url, false)
      }, url).toThrow(/no address of the Internet/)
    }
    for (const url of [
      'http://example.org/',
      'ftp://example.org/',
      'https://me:pass@example.org/',
      'no',
      'https://a/#b',
    ]) {
      expect(() => {
        assertWebhookUrl(url, false)
      }, url).toThrow(/the URL of the webhook/)
    }
  })

  test('is checked where it is called, whatever the name resolved to before', async () => {
    const { received } = await receiver()
    const answers = ['93.184.215.14', '127.0.0.1']
    const rebinding: LookUp = () => Promise.resolve([{ address: answers.shift()!, family: 4 }])
    const settings = { isPrivateAllowed: false, lookUp: rebinding, timeoutMs: 5_000 }
    const message = { headers: {}, body: new Uint8Array() }
    answers.shift()
    await expect(
      send('https://rebind.example/', message, settings, new AbortController().signal),
    ).rejects.toThrow('rebind.example is at 127.0.0.1, which is no address of the Internet')
    expect(answers).toEqual([])
    expect(received).toEqual([])
  })

  test('whose name does not resolve is a failed try, by the resolver of the system', async () => {
    await add('http://unknown.invalid/hook')
    happen(1)
    await deliver()
    const [webhook] = await readWebhooks(store)
    expect((await webhookState(store, webhook!)).failing).toMatchObject({ tries: 1 })
  })

  test('that is private among others of one name is refused', async () => {
    const both: LookUp = () =>
      Promise.resolve([
        { address: '93.184.215.14', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ])
    const settings = { isPrivateAllowed: false, lookUp: both, timeoutMs: 5_000 }
    const message = { headers: {}, body: new Uint8Array() }
    await expect(
      send('https://both.example/', message, settings, new AbortController().signal),
    ).rejects.toThrow('10.0.0.1')
  })
})
