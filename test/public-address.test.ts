// Look-ups of names against the real resolver: what it gives with an error is not what a fake would give.
import { describe, expect, test } from 'vitest'
import { checkedLookUp, lookUpAll } from '../pipeline/public-address.ts'

/** A name that no resolver knows (RFC 6761), so that the look-up fails with or without a network. */
const UNKNOWN = 'unknown.invalid'

describe('a name that does not resolve', () => {
  test(
    'is an error of the request, and nothing is thrown into the callback',
    { timeout: 30_000 },
    async () => {
      const looked = Promise.withResolvers<Error | null>()
      checkedLookUp(lookUpAll, false)!(UNKNOWN, { all: true }, (error) => {
        looked.resolve(error)
      })
      expect(await looked.promise).toMatchObject({ hostname: UNKNOWN })
    },
  )
})

test.for([[{ all: true }], [{ all: false }]])(
  'a name that resolves is given as Node asks: %j',
  async ([options]) => {
    const given = Promise.withResolvers<unknown[]>()
    checkedLookUp(lookUpAll, true)!('localhost', options!, (...all) => {
      given.resolve(all)
    })
    const [error, addresses] = await given.promise
    expect(error).toBeNull()
    const address = Array.isArray(addresses) ? (addresses[0] as { address: string }).address : addresses
    expect(['127.0.0.1', '::1']).toContain(address)
  },
)
