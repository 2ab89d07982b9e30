// By which address a request is counted, from its connection and what proxies say of it.
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressesBehind } from '../../../api/limits/addresses.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { BULK, bulkOf, expectLimited, quotaIn } from '../../support/http/counted-calls.ts'
import { testFolder } from '../../support/folder.ts'
import { limitedService } from '../../support/http/limited-service.ts'
import { type Answer, type Client, bearer, registerAgent } from '../../support/http/service.ts'
import { QUESTION, importWorld } from '../../support/worlds/world.ts'

/** A request from `peer`, with what stands in its X-Forwarded-For. */
function requestFrom(peer: string | undefined, forwarded?: string): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: peer })
  const request = new IncomingMessage(socket)
  if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded
  return request
}

const WIDER = { IPV6_56_TIMES: 4, IPV6_48_TIMES: 16 }
const networks = (proxies: readonly string[], peer: string | undefined, forwarded?: string) =>
  addressesBehind(proxies, WIDER).ofRequest(requestFrom(peer, forwarded))

/** The narrowest network. */
const counted = (proxies: readonly string[], peer: string | undefined, forwarded?: string) =>
  networks(proxies, peer, forwarded).at(-1)!.name

describe('an address', () => {
  test.for([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, 'unknown'],
  ] as const)('%s is counted as %s', ([peer, expected]) => {
    expect(counted([], peer)).toBe(expected)
  })

  test('of IPv6 is counted with all of its /64 and nothing else', () => {
    const part = fc.integer({ min: 0, max: 0xffff })
    const parts = (length: number) => fc.array(part, { minLength: length, maxLength: length })
    const text = (...halves: number[][]) =>
      halves
        .flat()
        .map((value) => value.toString(16))
        .join(':')
    fc.assert(
      fc.property(parts(4), parts(4), parts(4), parts(4), (net, other, host, another) => {
        // What begins with zeros may be an IPv4 address in the form of IPv6.
        fc.pre(net[0] !== 0 && other[0] !== 0)
        const address = counted([], text(net, host))
        expect(counted([], text(net, another))).toBe(address)
        expect(counted([], text(other, another)) === address).toBe(text(net) === text(other))
      }),
    )
  })
})

describe('the networks of an address', () => {
  test.for([
    ['2001:db8:1:2ff:3:4:5:6', ['2001:db8:1::/48', '2001:db8:1:200::/56', '2001:db8:1:2ff::/64']],
    ['2001:db8::1', ['2001:db8:0::/48', '2001:db8:0:0::/56', '2001:db8:0:0::/64']],
  ] as const)('%s are three, the widest first', ([address, names]) => {
    const found = networks([], address)
    expect(found.map(({ name }) => name)).toEqual(names)
    expect(found.map(({ times }) => times)).toEqual([16, 4, 1])
    expect(networks(['loopback'], '127.0.0.1', address)).toEqual(found)
  })

  test('are one of IPv4', () => {
    expect(networks([], '192.0.2.7')).toEqual([{ name: '192.0.2.7', times: 1 }])
  })
})

describe('a connection', () => {
  const ofConnection = (proxies: readonly string[], peer: string) =>
    addressesBehind(proxies, WIDER).ofConnection(requestFrom(peer).socket)

  test('counts for the networks of its other end, and that of a trusted proxy for none', () => {
    expect(ofConnection([], '192.0.2.7')).toEqual([{ name: '192.0.2.7', times: 1 }])
    expect(ofConnection(['10.0.0.0/8'], '192.0.2.7')).toEqual([{ name: '192.0.2.7', times: 1 }])
    expect(ofConnection(['10.0.0.0/8'], '10.0.0.3')).toEqual([])
    expect(ofConnection(['loopback'], '::1')).toEqual([])
    expect(ofConnection(['loopback'], '2001:db8::1')).toHaveLength(3)
  })
})

describe('X-Forwarded-For', () => {
  test.for<[readonly string[], string, string, string]>([
    [[], '127.0.0.1', '192.0.2.7', '127.0.0.1'],
    [['10.0.0.1'], '127.0.0.1', '192.0.2.7', '127.0.0.1'],
    [['127.0.0.1'], '127.0.0.1', '192.0.2.7', '192.0.2.7'],
    [['loopback'], '::ffff:127.0.0.1', '192.0.2.7', '192.0.2.7'],
    [['loopback'], '::1', ' 192.0.2.7 ', '192.0.2.7'],
    [['loopback'], '127.0.0.1', '203.0.113.9, 192.0.2.7', '192.0.2.7'],
    [['loopback'], '127.0.0.1', '192.0.2.7, 10.0.0.1', '10.0.0.1'],
    [['loopback', '10.0.0.0/8'], '127.0.0.1', '192.0.2.7, 10.0.0.1', '192.0.2.7'],
    [['loopback', '10.0.0.0/8'], '127.0.0.1', '192.0.2.7,10.0.0.1,10.0.0.2', '192.0.2.7'],
    [['loopback', '10.0.0.0/8'], '127.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    [['2001:db8::/32'], '2001:db8::1', '2001:db9::7', '2001:db9:0:0::/64'],
    [['uniquelocal'], 'fd00::1', '::ffff:192.0.2.7', '192.0.2.7'],
  ])('with %j trusted, from %s saying %j: %s', ([proxies, peer, forwarded, expected]) => {
    expect(counted(proxies, peer, forwarded)).toBe(expected)
  })

  test('that no trusted proxy passed on changes nothing, whatever it says', () => {
    fc.assert(
      fc.property(fc.string(), (forwarded) => {
        expect(counted(['10.0.0.0/8'], '192.0.2.7', forwarded)).toBe('192.0.2.7')
      }),
    )
  })

  test('changes nothing by what stands left of an address that is not trusted', () => {
    fc.assert(
      fc.property(fc.string(), (before) => {
        expect(counted(['loopback'], '127.0.0.1', `${before}, 192.0.2.7`)).toBe('192.0.2.7')
      }),
    )
  })

  test('makes no address of what is none', () => {
    const form = /^(\d+\.\d+\.\d+\.\d+|([0-9a-f]{1,4}:){4}:\/64)$/
    fc.assert(
      fc.property(fc.string(), (forwarded) => {
        expect(counted(['loopback'], '127.0.0.1', forwarded)).toMatch(form)
      }),
    )
    expect(counted(['loopback'], '127.0.0.1', 'unknown, _hidden')).toBe('127.0.0.1')
  })
})

test.for(['nowhere', '10.0.0.0/33', '10.0.0.256', '', '2001:db8::/129'])(
  'TRUSTED_PROXIES with %j is refused and shown',
  (proxy) => {
    expect(() => addressesBehind(['loopback', proxy], WIDER)).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        message: expect.stringContaining(
          `TRUSTED_PROXIES is not a list of addresses: loopback, ${proxy}; it takes`,
        ) as string,
      }),
    )
  },
)

describe('the limits by address', () => {
  const from = (address: string) => ({ 'X-Forwarded-For': address })
  const served = async (settings: Record<string, string>) =>
    limitedService({ store: new MemoryStore(), folder: await testFolder(), settings })
  const register = (client: Client, address: string) =>
    client.post('/agents/register', { name: 'a', model_type: 'm' }, from(address))

  /** How many calls each of the headers has left after it, with 100 for each address. */
  async function left(trusted: string, headers: readonly string[]): Promise<number[]> {
    const { client } = await served({ ANONYMOUS_PER_MINUTE: '100', TRUSTED_PROXIES: trusted })
    const remaining: number[] = []
    for (const header of headers) {
      remaining.push(quotaIn(await client.post(BULK, bulkOf(1), from(header))).remaining)
    }
    return remaining
  }

  test('is that of the connection, whatever is claimed, where no proxy is trusted', async () => {
    expect(await left('', ['1.2.3.4', '1.2.3.5, 6.7.8.9', '127.0.0.1', '::1', 'garbage'])).toEqual([
      99, 98, 97, 96, 95,
    ])
  })

  test('is what a trusted proxy says last, whatever stood there before', async () => {
    const headers = ['1.2.3.4', '1.2.3.5', '9.9.9.9, 1.2.3.4', '1.2.3.5, 1.2.3.4', 'garbage, 1.2.3.4']
    expect(await left('loopback', headers)).toEqual([99, 99, 98, 97, 96])
  })

  test('is found through several hops, as far back as they are trusted', async () => {
    const headers = [
      '1.2.3.4',
      '1.2.3.4, 10.0.0.7',
      '8.8.8.8, 1.2.3.4, 10.0.0.7, 10.9.9.9',
      '1.2.3.4, 11.0.0.7',
    ]
    expect(await left('loopback,10.0.0.0/8', headers)).toEqual([99, 98, 97, 99])
  })

  test('of IPv6 counts by its /64, one of IPv4 in the form of IPv6 as that of IPv4', async () => {
    const headers = [
      '2001:db8:0:1::1',
      '2001:db8:0:1:ffff::2',
      '2001:db8:0:2::1',
      '1.2.3.4',
      '::ffff:1.2.3.4',
    ]
    expect(await left('loopback', headers)).toEqual([99, 98, 99, 99, 98])
  })

  test('is that of the proxy where the proxy passes on nonsense', async () => {
    const headers = ['garbage', '999.1.1.1', '<script>', '1.2.3.4:80', ', ,', 'x'.repeat(5000)]
    expect(await left('loopback', headers)).toEqual([99, 98, 97, 96, 95, 94])
  })

  describe('of IPv6 is limited with its /56 and its /48', () => {
    const SETTINGS = { TRUSTED_PROXIES: 'loopback', IPV6_56_TIMES: '2', IPV6_48_TIMES: '3' }
    /** The first two share a /56, and all a /48, with the fourth of another. */
    const ADDRESSES = ['2001:db8:1:100::1', '2001:db8:1:1ff::1', '2001:db8:1:200::1', '2001:db8:1:300::1']
    const OTHER = '2001:db8:2::1'

    /** Calls twice from each /64, which may call once, and once from another /48. */
    async function refused(
      settings: Record<string, string>,
      call: (client: Client, address: string) => Promise<Answer>,
    ): Promise<boolean[]> {
      const { client } = await served({ ...SETTINGS, ...settings })
      const statuses: boolean[] = []
      for (const address of [...ADDRESSES.flatMap((each) => [each, each]), OTHER]) {
        const answer = await call(client, address)
        statuses.push(answer.status === 429)
      }
      return statuses
    }

    // Each /64 makes its call, then the /48 has none left for the fourth.
    const TOGETHER = [false, true, false, true, false, true, true, true, false]

    test('in its reads', async () => {
      const read = (client: Client, address: string) => client.get('/questions', from(address))
      expect(await refused({ READS_PER_MINUTE: '1' }, read)).toEqual(TOGETHER)
    })

    test('in other calls', async () => {
      const other = (client: Client, address: string) => client.get('/livez', from(address))
      expect(await refused({ OTHER_CALLS_PER_MINUTE: '1' }, other)).toEqual(TOGETHER)
    })

    test('in registrations', async () => {
      expect(await refused({ REGISTRATIONS_PER_HOUR: '1' }, register)).toEqual(TOGETHER)
    })

    test.for([{ ANONYMOUS_PER_MINUTE: '1' }, { ANONYMOUS_PER_MONTH: '1' }])(
      'in verifications without a key: %j',
      async (settings) => {
        const verify = (client: Client, address: string) => client.post(BULK, bulkOf(1), from(address))
        expect(await refused(settings as Record<string, string>, verify)).toEqual(TOGETHER)
      },
    )

    test('in failed attempts', async () => {
      const fail = (client: Client, address: string) => client.get('/questions?x=1', from(address))
      expect(await refused({ ATTEMPTS_PER_MINUTE: '1' }, fail)).toEqual(TOGETHER)
    })

    test('in forecasts', { tags: ['slow'] }, async () => {
      const { client, components } = await served({ ...SETTINGS, ADDRESS_FORECASTS_PER_MINUTE: '1' })
      await importWorld(components)
      const agents = await Promise.all([0, 1].map(() => registerAgent(client)))
      const statuses: number[] = []
      for (const [nth, address] of [...ADDRESSES.flatMap((each) => [each, each]), OTHER].entries()) {
        const { agentId, key } = agents[nth % 2]!
        const body = { question_id: QUESTION.open, probability: 0.5 }
        const headers = { ...bearer(key), ...from(address) }
        statuses.push((await client.post(`/agents/${agentId}/forecast`, body, headers)).status)
      }
      expect(statuses.map((status) => status === 429)).toEqual(TOGETHER)
    })

    test('one /56 by itself, and says so', async () => {
      const { client } = await served({ ...SETTINGS, READS_PER_MINUTE: '2' })
      const read = (address: string) => client.get('/questions', from(address))
      const first = await read('2001:db8:1:100::1')
      expect(quotaIn(first)).toMatchObject({ quota: 2, remaining: 1 })
      for (const part of ['100', '101', '101']) expect((await read(`2001:db8:1:${part}::1`)).status).toBe(200)
      const over = await read('2001:db8:1:102::1')
      expect(expectLimited(over, 'reads').quota).toBe(4)
      expect(over.json()).toMatchObject({ detail: expect.stringContaining('one network of IPv6') as string })
      expect((await read('2001:db8:1:200::1')).status).toBe(200)
    })
  })

  test('limits registrations, too', async () => {
    const { client } = await served({ REGISTRATIONS_PER_HOUR: '1', TRUSTED_PROXIES: 'loopback' })
    expect((await register(client, '1.2.3.4')).status).toBe(201)
    expectLimited(await register(client, '1.2.3.4'), 'registrations')
    expect((await register(client, '1.2.3.5')).status).toBe(201)
  })
})
