// The address that a request is counted by.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import proxyAddress from 'proxy-addr'
import { ServiceError } from '../../schemas/errors.ts'

export type AddressOf = (request: IncomingMessage) => string

/**
 * Reads `X-Forwarded-For` from the right and skips the trusted proxies: the first other address is the
 * caller's. `proxies` are addresses or subnets (`10.0.0.0/8`), or the names `loopback`, `linklocal` and
 * `uniquelocal`.
 *
 * @throws ServiceError `invalid` for anything else.
 */
export function addressesBehind(proxies: readonly string[]): AddressOf {
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
  // Without proxies, all requests of a connection come from the address of its other end.
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
    // A proxy may pass on text that is not an address; such text must not get its own counter.
    return counted(ipaddr.isValid(claimed) ? claimed : (request.socket.remoteAddress ?? ''))
  }
}

const SUBNET_PARTS = 4

/** Returns an IPv4 address as it is, and the /64 of an IPv6 address, because one customer has a whole /64. */
function counted(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const parts = parsed.parts.slice(0, SUBNET_PARTS).map((part) => part.toString(16))
  return `${parts.join(':')}::/64`
}
