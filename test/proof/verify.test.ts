// Proofs as a whole: what holds, each thing that may be wrong, and any byte changed.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encoded } from '../../pipeline/proof/canonical.ts'
import type { SigningKey } from '../../pipeline/proof/note-keys.ts'
import { type Trust, verifyProof } from '../../pipeline/proof/verify.ts'
import {
  AGENT,
  BATCH,
  FORECAST,
  FORECASTER,
  LOG,
  NEXT,
  NOW,
  ORIGIN,
  RELEASE,
  STRANGER,
  WITNESSES,
  keyOf,
  worldOf,
} from '../support/worlds/proof-world.ts'

const TRUST: Trust = { keys: [LOG.verifier], witnesses: [], leastCosignatures: 0 }

describe('a proof', () => {
  test.each([
    ['agent', AGENT],
    ['forecaster', FORECASTER],
    ['forecasts', FORECAST],
  ] as const)('of a body in the tree %s holds', (tree, body) => {
    const { bytes, proof } = worldOf(body)
    const verified = verifyProof(bytes, proof, TRUST)
    expect(verified).toMatchObject({
      tree,
      statement: { release: RELEASE },
      checkpoint: { origin: ORIGIN, size: 6 },
    })
    expect(verified.signatures.map(({ key }) => key)).toEqual([LOG.verifier])
    expect(verified.cosignatures).toEqual([])
  })

  test('holds in a log and in a tree of one', () => {
    const { bytes, proof } = worldOf({ ...AGENT, release: 1 }, { release: 1, entries: 1, leaves: 1 })
    expect(verifyProof(bytes, proof, TRUST).statement.release).toBe(1)
  })

  test('does not hold with one byte of it or of the body changed', () => {
    const { bytes, proof } = worldOf(AGENT)
    const texts = [Buffer.from(proof), Buffer.from(bytes)] as const
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), (at, mask, ofBody) => {
        const [changedProof, changedBody] = texts.map((text) => Buffer.from(text))
        const changed = ofBody ? changedBody! : changedProof!
        changed[at % changed.length]! ^= mask
        expect(() => verifyProof(changedBody!, changedProof!.toString('utf8'), TRUST)).toThrow(
          expect.objectContaining({ kind: 'invalid' }) as Error,
        )
      }),
      { numRuns: 1000 },
    )
  })

  test('does not hold with a line more or less anywhere', () => {
    const { bytes, proof } = worldOf(AGENT)
    const lines = proof.split('\n')
    for (let at = 0; at < lines.length; at += 1) {
      const without = lines.toSpliced(at, 1).join('\n')
      const twice = lines.toSpliced(at, 0, lines[at]!).join('\n')
      expect(() => verifyProof(bytes, without, TRUST)).toThrow(
        expect.objectContaining({ kind: 'invalid' }) as Error,
      )
      // The same signature once more says nothing else.
      if (lines[at]!.startsWith('—')) expect(verifyProof(bytes, twice, TRUST).signatures).toHaveLength(1)
      else
        expect(() => verifyProof(bytes, twice, TRUST)).toThrow(
          expect.objectContaining({ kind: 'invalid' }) as Error,
        )
    }
  })

  test.each([
    ['the release', { ...AGENT, release: 3 }, 'the body has the release 3, the statement 4'],
    ['the time', { ...AGENT, as_of: 'x' }, 'the body has the as_of "x"'],
    ['the environment', { ...AGENT, environment: 'sandbox' }, 'the body has the environment "sandbox"'],
    ['a release', { agent_id: 'a' }, 'the body has the release undefined'],
  ])('refuses a payload that has not %s of the statement', (_, body, message) => {
    const { bytes, proof } = worldOf(body)
    expect(() => verifyProof(bytes, proof, TRUST)).toThrow(message)
  })

  test('refuses a body in another tree than its own', () => {
    const { bytes, proof } = worldOf(AGENT, { tree: 'forecaster' })
    expect(() => verifyProof(bytes, proof, TRUST)).toThrow('release 4 has no tree agent')
  })

  test('refuses a statement at another place of the log', () => {
    const { bytes, proof } = worldOf({ ...AGENT, release: 3 }, { release: 3, at: 3 })
    expect(() => verifyProof(bytes, proof, TRUST)).toThrow('release 3 is not entry 3 of a log')
  })

  test('refuses a body or a statement that readers could read in two ways', () => {
    const twice = encoded(JSON.stringify(AGENT).replace('{', '{"release":5,'))
    const world = worldOf(AGENT, { bytes: twice })
    expect(() => verifyProof(twice, world.proof, TRUST)).toThrow(
      'the body is not a JSON object in canonical form',
    )
    const spaced = worldOf(AGENT, { respell: (text) => text.replace(':', ': ') })
    expect(() => verifyProof(spaced.bytes, spaced.proof, TRUST)).toThrow('the statement is not a JSON object')
    const partial = worldOf(AGENT, { respell: () => '{"release":4}' })
    expect(() => verifyProof(partial.bytes, partial.proof, TRUST)).toThrow(
      'the statement does not fit at "agent"',
    )
    for (const text of ['', 'null', '[]', '"a"', '{', '{"a":"\\ud800"}', '{"a":1e400}']) {
      expect(() => verifyProof(encoded(text), world.proof, TRUST)).toThrow('the body is not')
    }
  })

  test('refuses another log, another key, and a key that only witnesses may have', () => {
    const { bytes, proof } = worldOf(AGENT)
    const trust = (...keys: SigningKey[]) => ({ ...TRUST, keys: keys.map(({ verifier }) => verifier) })
    const refused = (keys: Trust) => () => verifyProof(bytes, proof, keys)
    const signer = `${ORIGIN}+${LOG.verifier.keyId}`
    const message = `no known key of "${ORIGIN}" signed the checkpoint, but ${signer}`
    expect(refused(trust(STRANGER))).toThrow(message)
    const other = keyOf('fvs.example/other', 'log', 1)
    const known = `known are fvs.example/other+${other.verifier.keyId}, so give a key of that log`
    expect(refused(trust(other))).toThrow(`${message}: ${known}`)
    expect(refused(trust(keyOf(ORIGIN, 'witness', 1)))).toThrow(message)
    expect(refused(trust())).toThrow(`${message}: known are none`)
    const elsewhere = worldOf(AGENT, { origin: 'fvs.example/other' })
    expect(() => verifyProof(elsewhere.bytes, elsewhere.proof, TRUST)).toThrow(
      'no known key of "fvs.example/other"',
    )
    const receiptLike = worldOf(AGENT, { origin: `${ORIGIN}/receipts/${BATCH}` })
    expect(() => verifyProof(receiptLike.bytes, receiptLike.proof, TRUST)).toThrow('no known key of')
  })

  test('holds for readers who know either key of a rotation, or both', () => {
    const { bytes, proof } = worldOf(AGENT, { keys: [LOG, NEXT] })
    for (const known of [[LOG], [NEXT], [LOG, NEXT], [STRANGER, NEXT]]) {
      const keys = known.map(({ verifier }) => verifier)
      const { signatures } = verifyProof(bytes, proof, { ...TRUST, keys })
      expect(signatures.map(({ key }) => key)).toEqual(keys.filter((key) => key !== STRANGER.verifier))
    }
  })

  test('has as many cosignatures as the reader asks for', () => {
    const { bytes, proof } = worldOf(AGENT, { witnesses: [WITNESSES[0]!] })
    const witnesses = WITNESSES.map(({ verifier }) => verifier)
    const { cosignatures } = verifyProof(bytes, proof, { ...TRUST, witnesses, leastCosignatures: 1 })
    expect(cosignatures).toEqual([{ key: witnesses[0], time: NOW }])
    const two = { ...TRUST, witnesses, leastCosignatures: 2 }
    expect(() => verifyProof(bytes, proof, two)).toThrow('cosignatures of 1 known witnesses, not of 2')
    const both = worldOf(AGENT, { witnesses: WITNESSES })
    expect(verifyProof(both.bytes, both.proof, two).cosignatures).toHaveLength(2)
  })

  test('counts a witness with two names, or with two times, once', () => {
    const names = [WITNESSES[0]!, keyOf('witness.example/other', 'witness', 4)]
    const witnesses = names.map(({ verifier }) => verifier)
    const named = worldOf(AGENT, { witnesses: names })
    const trust = { ...TRUST, witnesses, leastCosignatures: 2 }
    expect(() => verifyProof(named.bytes, named.proof, trust)).toThrow('of 1 known witnesses')
    const timed = worldOf(AGENT, { witnesses: [WITNESSES[0]!, WITNESSES[0]!] })
    expect(() => verifyProof(timed.bytes, timed.proof, trust)).toThrow('of 1 known witnesses')
  })

  test('refuses a receipt', () => {
    const { bytes, proof } = worldOf(AGENT)
    const receipt = proof.replace(/extra .*\n/, '')
    expect(() => verifyProof(bytes, receipt, TRUST)).toThrow('is it a receipt?')
  })
})
