// Sends one request to the address of a webhook, never to a private address: anyone who may name a webhook
// must not reach addresses that only this machine reaches.
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { ServiceError } from '../../schemas/errors.ts'
import { type LookUp, checkedLookUp, isPublicAddress } from '../public-address.ts'

export const TIMEOUT_MS = 15_000
const LONGEST_URL = 2_000

export interface SendSettings {
  /** Whether any address may be called, and by plain HTTP. */
  isPrivateAllowed: boolean
  lookUp: LookUp
  timeoutMs: number
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
 * Posts a body, and returns the status of the answer. Does not follow redirects, and does not read the body
 * of the answer.
 *
 * @throws Error if there is no answer in time, or if the name resolves to a private address. Connects to the
 *   checked address and to no other.
 */
export function send(
  url: string,
  { headers, body }: { headers: Record<string, string>; body: Uint8Array },
  { isPrivateAllowed, lookUp, timeoutMs }: SendSettings,
  signal: AbortSignal,
): Promise<number> {
  assertWebhookUrl(url, isPrivateAllowed)
  const request = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': String(body.byteLength) },
      lookup: checkedLookUp(lookUp, isPrivateAllowed),
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    outgoing.on('response', (answer) => {
      resolve(answer.statusCode ?? 0)
      answer.destroy()
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
