// The resolver of the looks at domains, against name servers that are silent, fail and refuse. It is the real one of
// Node, so that the failures of the fakes elsewhere are held to its own.
import { type Socket, createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, expect, onTestFinished, test } from 'vitest'
import { internet } from '../../jobs/agents/prove-owners.ts'
import type { OwnerClaim } from '../../pipeline/access/owner-claims.ts'
import { lookAtDomain, proofIn } from '../../pipeline/owners/look.ts'
import { uuidOf } from '../support/worlds/world.ts'

const SERVFAIL = 2
const NXDOMAIN = 3
const DOMAIN = 'silent.example'
const CLAIM = { agent_id: uuidOf(3, 1), domain: DOMAIN, token: 'a token' } as OwnerClaim

/** A name server on loopback that answers each query with a code, or not at all. */
async function nameServer(code?: number): Promise<{ address: string; socket: Socket }> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    if (code === undefined) return
    const answer = Buffer.from(query)
    answer.writeUInt16BE(0x8180 + code, 2)
    // It has the question alone, without the additional record of the query.
    answer.writeUInt16BE(0, 10)
    const end = query.indexOf(0, 12) + 5
    socket.send(answer.subarray(0, end), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  let isOpen = true
  socket.once('close', () => (isOpen = false))
  onTestFinished(() => {
    if (isOpen) socket.close()
  })
  return { address: `127.0.0.1:${socket.address().port}`, socket }
}

const look = async (server: string, signal = new AbortController().signal) =>
  proofIn(await lookAtDomain(DOMAIN, internet([server]), signal), CLAIM)

describe('a look says nothing of the domain', () => {
  test('where the resolver fails', async () => {
    const { address } = await nameServer(SERVFAIL)
    const reason = expect.stringMatching(/ESERVFAIL.*ESERVFAIL/) as string
    expect(await look(address)).toEqual({ kind: 'unknown', reason })
  })

  test('where nobody listens at the address of the resolver', async () => {
    const { address, socket } = await nameServer()
    socket.close()
    await once(socket, 'close')
    const reason = expect.stringMatching(/ECONNREFUSED.*ECONNREFUSED/) as string
    expect(await look(address)).toEqual({ kind: 'unknown', reason })
  })

  test('where the name servers are silent, and ends as soon as it is told to', async () => {
    const { address, socket } = await nameServer()
    const ending = new AbortController()
    const looking = look(address, ending.signal)
    await once(socket, 'message')
    ending.abort()
    const reason = expect.stringMatching(/ECANCELLED.*ECANCELLED/) as string
    expect(await looking).toEqual({ kind: 'unknown', reason })
  })
})

test('a name that does not exist is a miss of the domain', async () => {
  const { address } = await nameServer(NXDOMAIN)
  const reason = expect.stringMatching(/ENOTFOUND.*ENOTFOUND/) as string
  expect(await look(address)).toEqual({ kind: 'missing', reason })
})
