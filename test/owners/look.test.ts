// The look at a domain for the proof that it answers for an agent, against domains that attack the one who
// looks.
import { once } from 'node:events'
import { type RequestListener, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { OwnerClaim } from '../../pipeline/access/owner-claims.ts'
import { type Reach, lookAtDomain, proofIn } from '../../pipeline/owners/look.ts'
import type { LookUp } from '../../pipeline/public-address.ts'
import { uuidOf } from '../support/worlds/world.ts'

const AGENT = uuidOf(3, 1)
const TOKEN = 'fvs-owner-of-the-test'
const CLAIM: OwnerClaim = {
  agent_id: AGENT,
  domain: 'example.org',
  token: TOKEN,
  claimed_at: '2026-03-01T12:00:00.000Z',
  proved_at: null,
  looked_at: null,
  misses: 0,
  reason: null,
  given_up: false,
}
const GOOD = JSON.stringify({ agents: { [uuidOf(3, 2)]: 'another', [AGENT]: TOKEN }, more: 'is ignored' })

const at =
  (...addresses: string[]): LookUp =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
const LOOPBACK = at('127.0.0.1')
const noRecord = () => Promise.reject(Object.assign(new Error('queryTxt ENOTFOUND'), { code: 'ENOTFOUND' }))

const lookForProof = async (claim: OwnerClaim, reach: Reach) =>
  proofIn(await lookAtDomain(claim.domain, reach, new AbortController().signal), claim)

/** The way to a domain whose server does this, on loopback. */
async function reachOf(serve: RequestListener, more: Partial<Reach> = {}): Promise<Reach> {
  const server = createServer(serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    lookUp: LOOPBACK,
    resolveTxt: noRecord,
    isPrivateAllowed: true,
    originOf: (domain) => `http://${domain}:${port}`,
    timeoutMs: 60_000,
    ...more,
  }
}
const answering =
  (body: string, status = 200, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body)

describe('a proof', () => {
  test('is the token of the agent under its id, in the file', async () => {
    let asked = ''
    const reach = await reachOf((request, response) => {
      asked = `${request.method} ${request.headers.host?.split(':')[0]}${request.url}`
      response.end(GOOD)
    })
    expect(await lookForProof(CLAIM, reach)).toEqual({ kind: 'proved' })
    expect(asked).toBe('GET example.org/.well-known/forecast-agents.json')
  })

  test('is the token alone in a TXT record, in whatever parts', async () => {
    const names: string[] = []
    const resolveTxt = (name: string) => {
      names.push(name)
      return Promise.resolve([['v=spf1'], [TOKEN.slice(0, 5), TOKEN.slice(5)]])
    }
    const reach = await reachOf(answering('', 404), { resolveTxt })
    expect(await lookForProof(CLAIM, reach)).toEqual({ kind: 'proved' })
    expect(names).toEqual(['_forecast-agents.example.org'])
  })
})

describe('no proof', () => {
  const deep = '['.repeat(30_000)
  test.for([
    [
      'another token',
      answering(JSON.stringify({ agents: { [AGENT]: 'another' } })),
      /does not have the token/,
    ],
    [
      'the token of another agent',
      answering(JSON.stringify({ agents: { [uuidOf(3, 2)]: TOKEN } })),
      /does not have/,
    ],
    ['a token that is a list', answering(JSON.stringify({ agents: { [AGENT]: [TOKEN] } })), /does not have/],
    ['no JSON', answering('<html>'), /is not JSON/],
    ['JSON of another shape', answering(JSON.stringify([TOKEN])), /is not JSON with/],
    ['JSON without an end', answering(deep), /is not JSON/],
    ['a failure', answering(GOOD, 500), /answered 500/],
    ['a redirect to itself', answering('', 302, { Location: '/.well-known/other' }), /answered 302/],
    [
      'a redirect elsewhere',
      answering('', 301, { Location: 'http://169.254.169.254/latest' }),
      /answered 301/,
    ],
    ['a file that is too long', answering(`${' '.repeat(70_000)}${GOOD}`), /more than 65536 bytes/],
    ['a connection that is cut', (request) => void request.socket.destroy(), /could not be read/],
  ] as [string, RequestListener, RegExp][])('is %s', async ([, serve, reason]) => {
    expect(await lookForProof(CLAIM, await reachOf(serve))).toMatchObject({
      kind: 'missing',
      reason: expect.stringMatching(reason) as string,
    })
  })

  test('is a body that never ends, by the time', async () => {
    const reach = await reachOf(
      (_request, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write(' '), 10)
        response.on('close', () => clearInterval(timer))
      },
      { timeoutMs: 200 },
    )
    expect(await lookForProof(CLAIM, reach)).toMatchObject({ kind: 'missing' })
  })
})

describe('a private address', () => {
  test.for([
    ['127.0.0.1'],
    ['10.1.2.3'],
    ['192.168.0.1'],
    ['100.64.0.1'],
    ['169.254.169.254'],
    ['0.0.0.0'],
    ['::1'],
    ['fe80::1'],
    ['fc00::1'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    // One good address beside it does not help.
    ['93.184.216.34', '127.0.0.1'],
  ])('is never called: %j', async (addresses) => {
    let calls = 0
    const reach = await reachOf((_request, response) => void (calls++, response.end(GOOD)), {
      lookUp: at(...addresses),
      isPrivateAllowed: false,
    })
    expect(await lookForProof(CLAIM, reach)).toMatchObject({
      kind: 'missing',
      reason: expect.stringMatching(/which is no address of the Internet/) as string,
    })
    expect(calls).toBe(0)
  })

  test('is not reached by a name that resolves to another one later', async () => {
    let lookups = 0
    const reach = await reachOf(answering(GOOD), {
      lookUp: (hostname) => {
        lookups += 1
        return LOOPBACK(hostname)
      },
    })
    await lookForProof(CLAIM, reach)
    expect(lookups).toBe(1)
  })
})

const fails = () => Promise.reject(Object.assign(new Error('EAI_AGAIN'), { code: 'EAI_AGAIN' }))
test.for<[string, Partial<Reach>]>([
  ['its file and its records', { lookUp: fails, resolveTxt: fails }],
  ['its file alone', { lookUp: fails }],
  ['its records alone', { resolveTxt: fails }],
])('a network of its own that fails for %s says nothing of the domain', async ([, more]) => {
  expect(await lookForProof(CLAIM, await reachOf(answering('', 404), more))).toMatchObject({
    kind: 'unknown',
  })
})
