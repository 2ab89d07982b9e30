// Connections to addresses that others name: to the Internet alone, because whoever names one must not reach
// what only this machine reaches.
import { type LookupAddress, lookup } from 'node:dns'
import type { RequestOptions } from 'node:http'
import ipaddr from 'ipaddr.js'

/** Resolves a name to all its addresses, as `dns.lookup` does. */
export type LookUp = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

export const lookUpAll: LookUp = (hostname, done) => {
  lookup(hostname, { all: true, verbatim: true }, done)
}

/** The part of IPv6 that is given out for the Internet. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Whether an address is one of the Internet, by its range. IPv4 in IPv6 counts as what it is. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6)
}

/**
 * Returns the `lookup` of a request. It resolves a name once and fails where any of its addresses is private,
 * so that the connection is made to an address that was checked, and to no other.
 */
export function checkedLookUp(lookUp: LookUp, isPrivateAllowed: boolean): RequestOptions['lookup'] {
  return (hostname, options, done) => {
    lookUp(hostname, (error, addresses) => {
      const wrong = isPrivateAllowed ? undefined : addresses.find(({ address }) => !isPublicAddress(address))
      const failure =
        error ??
        (wrong
          ? new Error(`${hostname} is at ${wrong.address}, which is no address of the Internet`)
          : null) ??
        (addresses.length === 0 ? new Error(`${hostname} has no address`) : null)
      if (failure) done(failure, '', 0)
      else if (options.all) done(null, [...addresses])
      else done(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}
