// Signs the exact bytes of a payload, and checks signatures.
import { createHmac, timingSafeEqual } from 'node:crypto'

/** The secrets in force. While there is a previous one, each payload has a second signature made with it. */
export interface SigningSecrets {
  current: string
  previous?: string | undefined
}

/**
 * Returns `v1=` and the HMAC-SHA256 of the bytes in hex, and, if there is a previous secret, a comma and the
 * same with that.
 */
export function signatureOf(bytes: Uint8Array, { current, previous }: SigningSecrets): string {
  const secrets = previous === undefined ? [current] : [current, previous]
  return secrets.map((secret) => `v1=${hmac(bytes, secret)}`).join(', ')
}

/** Whether any entry of a signature header is the HMAC of the bytes with any of the secrets. */
export function signatureHolds(bytes: Uint8Array, header: string, secrets: readonly string[]): boolean {
  const entries = header
    .split(',')
    .map((entry) => /^v1=([0-9a-f]{64})$/.exec(entry.trim())?.[1])
    .filter((entry) => entry !== undefined)
  let holds = false
  for (const secret of secrets) {
    const expected = Buffer.from(hmac(bytes, secret))
    for (const entry of entries) holds = timingSafeEqual(Buffer.from(entry), expected) || holds
  }
  return holds
}

function hmac(bytes: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(bytes).digest('hex')
}
