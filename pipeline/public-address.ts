// Restricts connections to addresses of the Internet: anyone who names an address must not reach what only
// this machine reaches.
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import type { RequestOptions } from 'node:http'
import { callbackify } from 'node:util'
import ipaddr from 'ipaddr.js'

/**
 * Resolves to all addresses of a name. It is a promise because Node's callbacks get no addresses with an
 * error, against their type, and an exception in a callback would end the process.
 */
export type LookUp = (hostname: string) => Promise<readonly LookupAddress[]>

/** Looks a name up as the system does, so that names in `/etc/hosts` are known too. */
export const lookUpAll: LookUp = (hostname) => lookup(hostname, { all: true, verbatim: true })

/** The part of IPv6 that is assigned to the Internet. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Whether an address is in a range of the Internet. IPv4 in IPv6 counts as IPv4. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6)
}

/**
 * Returns the `lookup` of a request. It resolves a name once and fails if any of its addresses is private, so
 * that the connection goes to a checked address and to no other.
 */
export function checkedLookUp(lookUp: LookUp, isPrivateAllowed: boolean): RequestOptions['lookup'] {
  return (hostname, options, done) => {
    const find = callbackify(() => checkedAddresses(hostname, lookUp, isPrivateAllowed))
    find((error, addresses) => {
      if (error) done(error, '', 0)
      else if (options.all) done(null, addresses)
      else done(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

/** @throws Error for a name without an address, and for one with a private address that may not be called. */
async function checkedAddresses(
  hostname: string,
  lookUp: LookUp,
  isPrivateAllowed: boolean,
): Promise<LookupAddress[]> {
  const addresses = await lookUp(hostname)
  const wrong = isPrivateAllowed ? undefined : addresses.find(({ address }) => !isPublicAddress(address))
  if (wrong) throw new Error(`${hostname} is at ${wrong.address}, which is no address of the Internet`)
  if (addresses.length === 0) throw new Error(`${hostname} has no address`)
  return [...addresses]
}
