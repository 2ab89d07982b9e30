// Whose address a request comes from, and what of it is counted.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import proxyAddress from 'proxy-addr'
import { ServiceError } from '../../schemas/errors.ts'

/** Finds the address that a request is counted by. */
export type AddressOf = (request: IncomingMessage) => string

/**
 * Believes `X-Forwarded-For` as far back as the proxies are trusted: the first address, from the right, that is not of
 * one of them is the caller's. `proxies` are addresses or subnets (`10.0.0.0/8`), or the names `loopback`, `linklocal`
 * and `uniquelocal`.
 *
 * @throws ServiceError `invalid` for what is neither.
 */
export function addressesBehind(proxies: readonly string[]): AddressOf {
  let trusts: ReturnType<typeof proxyAddress.compile>
  try {
    trusts = proxyAddress.compile([...proxies])
  } catch (cause) {
    throw new ServiceError(
      'invalid',
      `TRUSTED_PROXIES holds what is no address: ${proxies.join(', ')}; ` +
        'it takes addresses, subnets such as 10.0.0.0/8, loopback, linklocal and uniquelocal',
      { cause },
    )
  }
  // Without proxies all requests of a connection come from its other end.
  const known = new WeakMap<Socket, string>()
  if (proxies.length === 0) {
    return ({ socket }) => {
      const address = known.get(socket) ?? counted(socket.remoteAddress ?? '')
      known.set(socket, address)
      return address
    }
  }
  return (request) => {
    const claimed = proxyAddress(request, trusts)
    // What a proxy wrongly passed on is not an address, and must not make one.
    return counted(ipaddr.isValid(claimed) ? claimed : (request.socket.remoteAddress ?? ''))
  }
}

const SUBNET_PARTS = 4

/** An IPv4 address itself; of an IPv6 one its /64, the whole of which one customer has. */
function counted(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const parts = parsed.parts.slice(0, SUBNET_PARTS).map((part) => part.toString(16))
  return `${parts.join(':')}::/64`
}
