// Sends one request to the address of a webhook, and never to a private address: whoever may name a webhook
// must not reach what only this machine reaches.
import { type LookupAddress, lookup } from 'node:dns'
import { type RequestOptions, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ServiceError } from '../../schemas/errors.ts'

export const TIMEOUT_MS = 15_000
const LONGEST_URL = 2_000

/** Resolves a name to all its addresses, as `dns.lookup` does. */
export type LookUp = (
  hostname: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

export const lookUpAll: LookUp = (hostname, done) => {
  lookup(hostname, { all: true, verbatim: true }, done)
}

export interface SendSettings {
  /** Whether any address may be called, and by plain HTTP. */
  isPrivateAllowed: boolean
  lookUp: LookUp
  timeoutMs: number
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

/** @throws ServiceError `invalid` for a URL that no webhook may have. */
export function assertWebhookUrl(text: string, isPrivateAllowed: boolean): void {
  const refuse = (why: string) => {
    throw new ServiceError('invalid', `the URL of the webhook ${why}`)
  }
  if (!URL.canParse(text) || text.length > LONGEST_URL) refuse('is none, or has more than 2,000 characters')
  const { protocol, username, password, hostname, hash } = new URL(text)
  if (username !== '' || password !== '') refuse('has a name or a password in it')
  if (hash !== '') refuse('has a fragment, which is never sent')
  if (protocol !== 'https:' && !(isPrivateAllowed && protocol === 'http:')) {
    refuse(isPrivateAllowed ? 'must begin with https:// or http://' : 'must begin with https://')
  }
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (!isPrivateAllowed && isIP(bare) !== 0 && !isPublicAddress(bare)) {
    refuse(`has ${bare}, which is no address of the Internet; WEBHOOKS_PRIVATE=true allows it`)
  }
}

/**
 * Posts a body, and returns the status of the answer. Redirects are not followed and the body of the answer
 * is not read.
 *
 * @throws Error if there is no answer in time, or the name resolves to a private address: the connection is
 *   made to an address that was checked, and to no other.
 */
export function send(
  url: string,
  { headers, body }: { headers: Record<string, string>; body: Uint8Array },
  { isPrivateAllowed, lookUp, timeoutMs }: SendSettings,
  signal: AbortSignal,
): Promise<number> {
  assertWebhookUrl(url, isPrivateAllowed)
  const checked: RequestOptions['lookup'] = (hostname, options, done) => {
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
  const request = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const asked = request(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': String(body.byteLength) },
      lookup: checked,
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    asked.on('response', (answer) => {
      resolve(answer.statusCode ?? 0)
      answer.destroy()
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
