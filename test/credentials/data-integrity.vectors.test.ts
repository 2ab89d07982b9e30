// Keys, hashes and signatures against W3C's test vectors of eddsa-rdfc-2022. Their documents have members that ours
// do not, so their canonical texts are taken as they are.
import { hash, sign } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hashData } from '../../pipeline/credentials/data-integrity.ts'
import {
  bytesOfMultibase,
  credentialKeyText,
  multibase,
  parseCredentialKey,
  parseMultikey,
} from '../../pipeline/credentials/keys.ts'
import { CONTEXTS, quadsOf } from '../../pipeline/credentials/quads.ts'
import { isSigned } from '../../pipeline/proof/digest.ts'
import vectors from '../vectors/eddsa-rdfc-2022.json' with { type: 'json' }

const { key_pair: pair, options, credentials } = vectors
const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')

test('the public key of their pair follows from the secret one', () => {
  const key = parseCredentialKey(pair.secret)
  expect(key.multikey).toBe(pair.public)
  const { d } = key.privateKey.export({ format: 'jwk' })
  expect(credentialKeyText(Buffer.from(d!, 'base64url'))).toBe(pair.secret)
})

test('the options of their proof have their canonical text and its hash', () => {
  // Nothing in the options depends on the context that their documents have and ours lack.
  const quads = quadsOf({ '@context': CONTEXTS, ...options })
  expect(quads).toBe(text(vectors.options_canonical))
  expect(hash('sha256', quads)).toBe(vectors.options_hash)
})

describe.for(credentials)('of their credential $name', ({ canonical, combined_hash, proof_value }) => {
  const data = hashData(Buffer.from(vectors.options_hash, 'hex'), text(canonical))

  test('the hashes are theirs', () => {
    expect(Buffer.from(data).toString('hex')).toBe(combined_hash)
  })

  test('the signature is theirs', async () => {
    expect(multibase(sign(null, data, parseCredentialKey(pair.secret).privateKey))).toBe(proof_value)
    expect(await isSigned(parseMultikey(pair.public), data, bytesOfMultibase(proof_value)!)).toBe(true)
  })
})
