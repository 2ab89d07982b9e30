// The networks that a request or a connection is counted for.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import proxyAddress from 'proxy-addr'
import { ServiceError } from '../../schemas/errors.ts'
import type { Payer } from './admission.ts'

/**
 * An IPv4 address, or the /48, the /56 and the /64 of an IPv6 address. The widest comes first: a call that is
 * refused for it then leaves no count of a narrower one.
 */
export type Networks = readonly Payer[]

export interface Addresses {
  /** The networks of the caller of a request. */
  ofRequest: (request: IncomingMessage) => Networks
  /** The networks of the other end of a connection; none for a proxy, whose connections are its callers'. */
  ofConnection: (socket: Socket) => Networks
}

/** How many times the limit of a /64 the wider networks of IPv6 have. */
export interface WiderLimits {
  IPV6_48_TIMES: number
  IPV6_56_TIMES: number
}

/**
 * Reads `X-Forwarded-For` from the right and skips the trusted proxies: the first other address is the
 * caller's. `proxies` are addresses or subnets (`10.0.0.0/8`), or the names `loopback`, `linklocal` and
 * `uniquelocal`.
 *
 * @throws ServiceError `invalid` for anything else.
 */
export function addressesBehind(proxies: readonly string[], wider: WiderLimits): Addresses {
  let trusts: ReturnType<typeof proxyAddress.compile>
  try {
    trusts = proxyAddress.compile([...proxies])
  } catch (cause) {
    throw new ServiceError(
      'invalid',
      `TRUSTED_PROXIES is not a list of addresses: ${proxies.join(', ')}; ` +
        'it takes addresses, subnets such as 10.0.0.0/8, loopback, linklocal and uniquelocal',
      { cause },
    )
  }
  const known = new WeakMap<Socket, Networks>()
  const ofOtherEnd = (socket: Socket) => {
    const networks = known.get(socket) ?? networksAt(socket.remoteAddress ?? '', wider)
    known.set(socket, networks)
    return networks
  }
  // Without proxies, all requests of a connection come from the address of its other end.
  if (proxies.length === 0) {
    return { ofRequest: ({ socket }) => ofOtherEnd(socket), ofConnection: ofOtherEnd }
  }
  return {
    ofRequest: (request) => {
      const claimed = proxyAddress(request, trusts)
      // A proxy may pass on text that is not an address; such text must not get its own counter.
      return ipaddr.isValid(claimed) ? networksAt(claimed, wider) : ofOtherEnd(request.socket)
    },
    ofConnection: (socket) => (trusts(socket.remoteAddress ?? '', 0) ? [] : ofOtherEnd(socket)),
  }
}

function networksAt(address: string, { IPV6_48_TIMES, IPV6_56_TIMES }: WiderLimits): Networks {
  if (!ipaddr.isValid(address)) return [{ name: 'unknown', times: 1 }]
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return [{ name: parsed.toString(), times: 1 }]
  const [first, second, third, fourth] = parsed.parts as [number, number, number, number]
  const named = (bits: number, ...parts: number[]) =>
    `${parts.map((part) => part.toString(16)).join(':')}::/${bits}`
  return [
    { name: named(48, first, second, third), times: Math.max(IPV6_48_TIMES, IPV6_56_TIMES) },
    { name: named(56, first, second, third, fourth & 0xff00), times: IPV6_56_TIMES },
    // One customer has at least a whole /64.
    { name: named(64, first, second, third, fourth), times: 1 },
  ]
}
