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
import { runs } from '../support/runs.ts'

const TRUST: Trust = { keys: [LOG.verifier], witnesses: [], leastCosignatures: 0 }

describe('a proof', () => {
  test.each([
    ['agent', AGENT],
    ['forecaster', FORECASTER],
    ['forecasts', FORECAST],
  ] as const)('of a body in the tree %s holds', async (tree, body) => {
    const { bytes, proof } = worldOf(body)
    const verified = await verifyProof(bytes, proof, TRUST)
    expect(verified).toMatchObject({
      tree,
      statement: { release: RELEASE },
      checkpoint: { origin: ORIGIN, size: 6 },
    })
    expect(verified.signatures.map(({ key }) => key)).toEqual([LOG.verifier])
    expect(verified.cosignatures).toEqual([])
  })

  test('holds in a log and in a tree of one', async () => {
    const { bytes, proof } = worldOf({ ...AGENT, release: 1 }, { release: 1, entries: 1, leaves: 1 })
    expect((await verifyProof(bytes, proof, TRUST)).statement.release).toBe(1)
  })

  test('does not hold with one byte of it or of the body changed', async () => {
    const { bytes, proof } = worldOf(AGENT)
    const texts = [Buffer.from(proof), Buffer.from(bytes)] as const
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), async (at, mask, ofBody) => {
        const [changedProof, changedBody] = texts.map((text) => Buffer.from(text))
        const changed = ofBody ? changedBody! : changedProof!
        changed[at % changed.length]! ^= mask
        await expect(verifyProof(changedBody!, changedProof!.toString('utf8'), TRUST)).rejects.toThrow(
          expect.objectContaining({ kind: 'invalid' }) as Error,
        )
      }),
      { numRuns: runs(1000) },
    )
  })

  test('does not hold with a line more or less anywhere', async () => {
    const { bytes, proof } = worldOf(AGENT)
    const lines = proof.split('\n')
    for (let at = 0; at < lines.length; at += 1) {
      const without = lines.toSpliced(at, 1).join('\n')
      const twice = lines.toSpliced(at, 0, lines[at]!).join('\n')
      await expect(verifyProof(bytes, without, TRUST)).rejects.toThrow(
        expect.objectContaining({ kind: 'invalid' }) as Error,
      )
      // The same signature once more says nothing else.
      if (lines[at]!.startsWith('—'))
        expect((await verifyProof(bytes, twice, TRUST)).signatures).toHaveLength(1)
      else
        await expect(verifyProof(bytes, twice, TRUST)).rejects.toThrow(
          expect.objectContaining({ kind: 'invalid' }) as Error,
        )
    }
  })

  test.each([
    ['the release', { ...AGENT, release: 3 }, 'the body has the release 3, the statement 4'],
    ['the time', { ...AGENT, as_of: 'x' }, 'the body has the as_of "x"'],
    ['the environment', { ...AGENT, environment: 'sandbox' }, 'the body has the environment "sandbox"'],
    ['a release', { agent_id: 'a' }, 'the body has the release undefined'],
  ])('refuses a payload that has not %s of the statement', async (_, body, message) => {
    const { bytes, proof } = worldOf(body)
    await expect(verifyProof(bytes, proof, TRUST)).rejects.toThrow(message)
  })

  test('refuses a body in another tree than its own', async () => {
    const { bytes, proof } = worldOf(AGENT, { tree: 'forecaster' })
    await expect(verifyProof(bytes, proof, TRUST)).rejects.toThrow('release 4 has no tree agent')
  })

  test('refuses a statement at another place of the log', async () => {
    const { bytes, proof } = worldOf({ ...AGENT, release: 3 }, { release: 3, at: 3 })
    await expect(verifyProof(bytes, proof, TRUST)).rejects.toThrow('release 3 is not entry 3 of a log')
  })

  test('refuses a body or a statement that readers could read in two ways', async () => {
    const twice = encoded(JSON.stringify(AGENT).replace('{', '{"release":5,'))
    const world = worldOf(AGENT, { bytes: twice })
    await expect(verifyProof(twice, world.proof, TRUST)).rejects.toThrow(
      'the body is not a JSON object in canonical form',
    )
    const spaced = worldOf(AGENT, { respell: (text) => text.replace(':', ': ') })
    await expect(verifyProof(spaced.bytes, spaced.proof, TRUST)).rejects.toThrow(
      'the statement is not a JSON object',
    )
    const partial = worldOf(AGENT, { respell: () => '{"release":4}' })
    await expect(verifyProof(partial.bytes, partial.proof, TRUST)).rejects.toThrow(
      'the statement does not fit at "agent"',
    )
    for (const text of ['', 'null', '[]', '"a"', '{', '{"a":"\\ud800"}', '{"a":1e400}']) {
      await expect(verifyProof(encoded(text), world.proof, TRUST)).rejects.toThrow('the body is not')
    }
  })

  test('refuses another log, another key, and a key that only witnesses may have', async () => {
    const { bytes, proof } = worldOf(AGENT)
    const trust = (...keys: SigningKey[]) => ({ ...TRUST, keys: keys.map(({ verifier }) => verifier) })
    const refused = (keys: Trust) => verifyProof(bytes, proof, keys)
    const signer = `${ORIGIN}+${LOG.verifier.keyId}`
    const message = `no known key of "${ORIGIN}" signed the checkpoint, but ${signer}`
    await expect(refused(trust(STRANGER))).rejects.toThrow(message)
    const other = keyOf('fvs.example/other', 'log', 1)
    const known = `known are fvs.example/other+${other.verifier.keyId}, so give a key of that log`
    await expect(refused(trust(other))).rejects.toThrow(`${message}: ${known}`)
    await expect(refused(trust(keyOf(ORIGIN, 'witness', 1)))).rejects.toThrow(message)
    await expect(refused(trust())).rejects.toThrow(`${message}: known are none`)
    const elsewhere = worldOf(AGENT, { origin: 'fvs.example/other' })
    await expect(verifyProof(elsewhere.bytes, elsewhere.proof, TRUST)).rejects.toThrow(
      'no known key of "fvs.example/other"',
    )
    const receiptLike = worldOf(AGENT, { origin: `${ORIGIN}/receipts/${BATCH}` })
    await expect(verifyProof(receiptLike.bytes, receiptLike.proof, TRUST)).rejects.toThrow('no known key of')
  })

  test('holds for readers who know either key of a rotation, or both', async () => {
    const { bytes, proof } = worldOf(AGENT, { keys: [LOG, NEXT] })
    for (const known of [[LOG], [NEXT], [LOG, NEXT], [STRANGER, NEXT]]) {
      const keys = known.map(({ verifier }) => verifier)
      const { signatures } = await verifyProof(bytes, proof, { ...TRUST, keys })
      expect(signatures.map(({ key }) => key)).toEqual(keys.filter((key) => key !== STRANGER.verifier))
    }
  })

  test('has as many cosignatures as the reader asks for', async () => {
    const { bytes, proof } = worldOf(AGENT, { witnesses: [WITNESSES[0]!] })
    const witnesses = WITNESSES.map(({ verifier }) => verifier)
    const { cosignatures } = await verifyProof(bytes, proof, { ...TRUST, witnesses, leastCosignatures: 1 })
    expect(cosignatures).toEqual([{ key: witnesses[0], time: NOW }])
    const two = { ...TRUST, witnesses, leastCosignatures: 2 }
    await expect(verifyProof(bytes, proof, two)).rejects.toThrow(
      'cosignatures of 1 known witnesses, not of 2',
    )
    const both = worldOf(AGENT, { witnesses: WITNESSES })
    expect((await verifyProof(both.bytes, both.proof, two)).cosignatures).toHaveLength(2)
  })

  test('counts a witness with two names, or with two times, once', async () => {
    const names = [WITNESSES[0]!, keyOf('witness.example/other', 'witness', 4)]
    const witnesses = names.map(({ verifier }) => verifier)
    const named = worldOf(AGENT, { witnesses: names })
    const trust = { ...TRUST, witnesses, leastCosignatures: 2 }
    await expect(verifyProof(named.bytes, named.proof, trust)).rejects.toThrow('of 1 known witnesses')
    const timed = worldOf(AGENT, { witnesses: [WITNESSES[0]!, WITNESSES[0]!] })
    await expect(verifyProof(timed.bytes, timed.proof, trust)).rejects.toThrow('of 1 known witnesses')
  })

  test('refuses a receipt', async () => {
    const { bytes, proof } = worldOf(AGENT)
    const receipt = proof.replace(/extra .*\n/, '')
    await expect(verifyProof(bytes, receipt, TRUST)).rejects.toThrow('is it a receipt?')
  })
})
