// The keys of credentials as texts: what they say, and which are refused.
import { sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bytesOfMultibase,
  credentialKeyText,
  multibase,
  parseCredentialKey,
  parseMultikey,
} from '../../pipeline/credentials/keys.ts'
import { isSigned } from '../../pipeline/proof/digest.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { anyText } from '../support/credentials/samples.ts'

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 })
const bytes = fc.uint8Array({ maxLength: 80 })
const SECRET = credentialKeyText(new Uint8Array(32).fill(7))
const { multikey: PUBLIC } = parseCredentialKey(SECRET)

test('the public text is the key that checks what the secret one signs', async () => {
  await fc.assert(
    fc.asyncProperty(seed, bytes, async (secret, data) => {
      const text = credentialKeyText(secret)
      const { privateKey, multikey } = parseCredentialKey(text)
      expect([text.slice(0, 4), multikey.slice(0, 4)]).toEqual(['z3u2', 'z6Mk'])
      expect(await isSigned(parseMultikey(multikey), data, sign(null, data, privateKey))).toBe(true)
    }),
  )
})

test('bytes come back from their text', () => {
  fc.assert(
    fc.property(bytes, (data) => {
      expect(bytesOfMultibase(multibase(data))).toEqual(data)
    }),
  )
})

/** Texts that are near a key and none. */
const near = (text: string): [what: string, text: string][] => [
  ['nothing', ''],
  ['its letter alone', 'z'],
  ['a key without its letter', text.slice(1)],
  ['a key in another base', `u${text.slice(1)}`],
  ['a key that is cut', text.slice(0, -1)],
  ['a key with a character more', `${text}1`],
  ['a key with a line end', `${text}\n`],
  ['a key with a character that base58 lacks', `${text.slice(0, -1)}0`],
  ['a key of 31 bytes', multibase(bytesOfMultibase(text)!.subarray(0, -1))],
  ['a key of another kind', multibase(Buffer.concat([Buffer.from([0x12, 0x00]), new Uint8Array(32)]))],
]

describe('no secret key is', () => {
  const wrong = [...near(SECRET), ['a public key', PUBLIC] as const]
  // The whole message, so that it holds nothing of the text.
  const message = 'the key of credentials must be as `fvs credential key` prints it: z3u2…'

  test.for(wrong)('%s, and the message does not show it', ([, text]) => {
    expect(() => parseCredentialKey(text)).toThrow(expect.objectContaining({ kind: 'invalid', message }))
  })

  test('any other text, and the message does not show it', () => {
    const other = fc.oneof(anyText, bytes.map(multibase))
    const refusal = new ServiceError('invalid', message)
    fc.assert(
      fc.property(other, (text) => {
        expect(() => parseCredentialKey(text)).toThrow(refusal)
      }),
    )
  })
})

describe('no public key is', () => {
  test.for(near(PUBLIC))('%s, and the message shows it', ([, text]) => {
    const message = expect.stringContaining(JSON.stringify(text)) as string
    expect(() => parseMultikey(text)).toThrow(expect.objectContaining({ kind: 'invalid', message }))
  })

  test('a secret key, and the message does not show it', () => {
    const message = 'this is no public Multikey of Ed25519: it is a secret key'
    expect(() => parseMultikey(SECRET)).toThrow(expect.objectContaining({ kind: 'invalid', message }))
  })
})
