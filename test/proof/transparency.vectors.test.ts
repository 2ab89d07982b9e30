// Notes, checkpoints, receipts and proofs against the worked values, which independent programs accepted.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { base64Of, hashOfBase64 } from '../../pipeline/proof/base64.ts'
import { encoded } from '../../pipeline/proof/canonical.ts'
import {
  checkpointText,
  parseCheckpoint,
  signedCheckpoint,
  withSignatures,
} from '../../pipeline/proof/checkpoint.ts'
import { MerkleTree, leafHash } from '../../pipeline/proof/merkle.ts'
import { verifyInclusion } from '../../pipeline/proof/merkle-proof.ts'
import { noteText, parseNote, signatureLine } from '../../pipeline/proof/note.ts'
import {
  parseSigningKey,
  parseVerifierKey,
  signingKeyText,
  verifierKeyText,
} from '../../pipeline/proof/note-keys.ts'
import { cosignText, heldSignatures, signText } from '../../pipeline/proof/note-signatures.ts'
import { batchOf, parseReceiptHeader, receiptHeader, receiptsOf } from '../../pipeline/proof/receipts.ts'
import {
  innerProofBytes,
  parseInnerProof,
  parseTlogProof,
  tlogProofText,
} from '../../pipeline/proof/tlog-proof.ts'
import { verifyProof, verifyReceipt } from '../../pipeline/proof/verify.ts'
import { vectors } from '../support/transparency-vectors.ts'

describe('C2SP', () => {
  test('notes are read, checked and written, and signed where the key is there', async () => {
    for (const { vkey, private: secret, note: text } of vectors('c2sp').notes) {
      const note = parseNote(text)
      expect(await heldSignatures(note, [parseVerifierKey(vkey)])).toHaveLength(1)
      expect(noteText(note)).toBe(text)
      if (secret === undefined) continue
      const signatures = [signText(note.text, parseSigningKey(secret))]
      expect(noteText({ text: note.text, signatures })).toBe(text)
    }
  })

  test('the checkpoint has the text that witnesses sign', () => {
    const {
      origin,
      size,
      root,
      text,
      cosigned_at: at,
      cosigned_message: message,
    } = vectors('c2sp').checkpoint_text
    expect(checkpointText({ origin, size, root: hashOfBase64(root) })).toBe(text)
    const witness = parseSigningKey(vectors('fvs').keys.witness.private)
    const { bytes } = cosignText(text, witness, new Date(at * 1000))
    expect(Buffer.from(bytes.subarray(8))).toEqual(Buffer.from(signText(message, witness).bytes))
  })
})

describe('the keys of the service', () => {
  test('follow from their seeds', () => {
    const { seeds, keys } = vectors('fvs')
    for (const which of ['log', 'log_two', 'witness'] as const) {
      const text = /^SHA-256\("(.*)"\)$/.exec(seeds[which])![1]!
      const seed = createHash('sha256').update(text).digest()
      const { private: secret, vkey } = keys[which]
      const { name, use } = parseVerifierKey(vkey)
      expect(use).toBe(which === 'witness' ? 'witness' : 'log')
      expect(signingKeyText(name, use, seed)).toBe(secret)
      expect(verifierKeyText(parseSigningKey(secret).verifier)).toBe(vkey)
    }
  })
})

describe('receipts', () => {
  test('hold, and come from their headers', async () => {
    const { keys, receipts } = vectors('fvs')
    const known = [parseVerifierKey(keys.log.vkey)]
    for (const { name, body, receipt, header } of receipts) {
      const { checkpoint, batch } = await verifyReceipt(encoded(body), receipt, { keys: known })
      const [, index, size] = /^receipt (\d+) of (\d+)$/.exec(name)!
      expect([parseTlogProof(receipt).index, checkpoint.size]).toEqual([Number(index), Number(size)])
      expect(batchOf(checkpoint.origin)).toEqual({ origin: 'fvs.example/forecasts', uuid: batch })
      expect([receiptHeader(receipt), parseReceiptHeader(header)]).toEqual([header, receipt])
      await expect(
        verifyReceipt(encoded(body), receipt, { keys: [parseVerifierKey(keys.log_two.vkey)] }),
      ).rejects.toThrow('no known key')
    }
  })

  test('are made to the byte', () => {
    const { keys, receipts } = vectors('fvs')
    const key = parseSigningKey(keys.log.private)
    for (const { name, body, receipt } of receipts) {
      const proof = parseTlogProof(receipt)
      const { checkpoint } = parseCheckpoint(proof.checkpoint)
      expect(signedCheckpoint(checkpoint, [key])).toBe(proof.checkpoint)
      expect(tlogProofText(proof)).toBe(receipt)
      if (name === 'receipt 0 of 1') {
        expect(receiptsOf([encoded(body)], batchOf(checkpoint.origin)!, [key])).toEqual([receipt])
      }
    }
  })
})

describe('the proof of a forecast', () => {
  test('holds with both keys of a rotation and a witness', async () => {
    const { keys, forecast_proof: vector } = vectors('fvs')
    const trust = {
      keys: [keys.log, keys.log_two].map(({ vkey }) => parseVerifierKey(vkey)),
      witnesses: [parseVerifierKey(keys.witness.vkey)],
      leastCosignatures: 1,
    }
    const verified = await verifyProof(encoded(vector.body), vector.proof, trust)
    expect(verified).toMatchObject({
      tree: 'forecasts',
      statement: { release: 3, forecasts: { size: 1000 } },
    })
    expect(verified.signatures.map(({ key }) => key)).toEqual(trust.keys)
    expect(verified.cosignatures).toEqual([
      { key: trust.witnesses[0], time: new Date(vector.cosignature.time * 1000) },
    ])
  })

  test('is made to the byte', () => {
    const { keys, forecast_proof: vector } = vectors('fvs')
    const statements = vector.statements.map((statement) => encoded(statement))
    const log = new MerkleTree(statements.map((statement) => leafHash(statement)))
    const read = parseTlogProof(vector.proof)
    const inner = parseInnerProof(read.extra!)
    expect(Buffer.from(inner.statement).toString()).toBe(vector.statements[2])
    const signed = signedCheckpoint(
      { origin: 'fvs.example/forecasts', size: 3, root: log.root },
      [keys.log, keys.log_two].map((pair) => parseSigningKey(pair.private)),
    )
    const { note } = parseCheckpoint(signed)
    expect(note.text).toBe(vector.checkpoint_text)
    const time = new Date(vector.cosignature.time * 1000)
    const cosignature = cosignText(note.text, parseSigningKey(keys.witness.private), time)
    expect(signatureLine(cosignature)).toBe(vector.cosignature.line)
    const proof = tlogProofText({
      extra: innerProofBytes(inner),
      index: 2,
      hashes: log.inclusionPath(2),
      checkpoint: withSignatures(note, [cosignature]),
    })
    expect(proof).toBe(vector.proof)
  })
})

describe('the log of 700 entries', () => {
  test('has a checkpoint that its key signed, made to the byte', async () => {
    const { vkey, checkpoint_700: text, root_after: roots } = vectors('log700')
    const { checkpoint, note } = parseCheckpoint(text)
    expect([checkpoint.size, base64Of(checkpoint.root)]).toEqual([700, roots[700]])
    expect(await heldSignatures(note, [parseVerifierKey(vkey)])).toHaveLength(1)
    expect(signedCheckpoint(checkpoint, [parseSigningKey(vectors('fvs').keys.log.private)])).toBe(text)
  })

  test('has the roots of its first entries', () => {
    const { entries, root_after: roots } = vectors('log700')
    for (const size of [1, 2, 3]) {
      const leaves = Array.from({ length: size }, (_, i) => leafHash(encoded(entries[i]!)))
      expect(base64Of(new MerkleTree(leaves).root)).toBe(roots[size])
    }
  })

  test('proves payloads of its releases', async () => {
    const { vkey, entries, root_after: roots, payload_proofs: proofs } = vectors('log700')
    const trust = { keys: [parseVerifierKey(vkey)], witnesses: [], leastCosignatures: 0 }
    for (const { release, body, proof } of proofs) {
      const { checkpoint, statement, tree } = await verifyProof(encoded(body), proof, trust)
      expect([tree, statement.release]).toEqual(['agent', release])
      const root = base64Of(checkpoint.root)
      expect(root).toBe(roots[checkpoint.size] ?? root)
      const { extra, index, hashes } = parseTlogProof(proof)
      const entry = entries[index]
      const inner = parseInnerProof(extra!)
      if (entry !== undefined) expect(Buffer.from(inner.statement).toString()).toBe(entry)
      verifyInclusion(leafHash(inner.statement), index, hashes, checkpoint)
    }
    expect(proofs).toHaveLength(4)
  })
})
