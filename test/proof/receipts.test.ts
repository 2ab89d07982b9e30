// Receipts: what holds, each thing that may be wrong, and any byte changed.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { base64Of } from '../../pipeline/proof/base64.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { type Checkpoint, signedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { leafHash } from '../../pipeline/proof/merkle.ts'
import { signingKeyOf } from '../../pipeline/proof/note-keys.ts'
import { parseReceiptHeader, receiptHeader, receiptsOf } from '../../pipeline/proof/receipts.ts'
import { tlogProofText } from '../../pipeline/proof/tlog-proof.ts'
import { verifyReceipt } from '../../pipeline/proof/verify.ts'
import { runs } from '../support/runs.ts'

const ORIGIN = 'fvs.example/forecasts'
const UUID = '01a20020-4150-7589-9944-627481000007'
const LOG = signingKeyOf(ORIGIN, 'log', Buffer.alloc(32, 1))
const NEXT = signingKeyOf(ORIGIN, 'log', Buffer.alloc(32, 2))
const TRUST = { keys: [LOG.verifier] }
const BODIES = Array.from({ length: 7 }, (_, i) => canonical({ forecast_id: `f${i}`, probability: i / 10 }))
const RECEIPT = receiptsOf(BODIES, { origin: ORIGIN, uuid: UUID }, [LOG])[2]!

test(
  'the receipt of every forecast of every batch of up to 40 holds, and for no other body',
  { tags: ['slow'] },
  async () => {
    for (let size = 1; size <= 40; size += 1) {
      const bodies = Array.from({ length: size }, (_, i) => canonical({ forecast_id: `f${i}` }))
      const receipts = receiptsOf(bodies, { origin: ORIGIN, uuid: UUID }, [LOG])
      for (const [i, receipt] of receipts.entries()) {
        const verified = await verifyReceipt(bodies[i]!, parseReceiptHeader(receiptHeader(receipt)), TRUST)
        expect(verified).toMatchObject({ batch: UUID, checkpoint: { size } })
      }
      const other = canonical({ forecast_id: 'other' })
      await expect(verifyReceipt(other, receipts[0]!, TRUST)).rejects.toThrow(
        'the checkpoint has another root',
      )
    }
  },
)

test('a receipt does not hold with one byte of it or of the body changed', async () => {
  const body = Buffer.from(BODIES[2]!)
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), async (at, mask, ofBody) => {
      const [receipt, changedBody] = [Buffer.from(RECEIPT), Buffer.from(body)]
      const changed = ofBody ? changedBody : receipt
      changed[at % changed.length]! ^= mask
      await expect(verifyReceipt(changedBody, receipt.toString('utf8'), TRUST)).rejects.toThrow(
        expect.objectContaining({ kind: 'invalid' }) as Error,
      )
    }),
    { numRuns: runs(500) },
  )
})

test('a receipt holds by either key of a rotation', async () => {
  const [receipt] = receiptsOf([BODIES[0]!], { origin: ORIGIN, uuid: UUID }, [LOG, NEXT])
  for (const { verifier } of [LOG, NEXT]) {
    expect((await verifyReceipt(BODIES[0]!, receipt!, { keys: [verifier] })).signatures).toHaveLength(1)
  }
})

test('refuses a proof, and a body that is no forecast', async () => {
  const proof = RECEIPT.replace('index', 'extra eA==\nindex')
  await expect(verifyReceipt(BODIES[2]!, proof, TRUST)).rejects.toThrow('is it a proof?')
  const bytes = canonical({ agent_id: 'a' })
  const [receipt] = receiptsOf([bytes], { origin: ORIGIN, uuid: UUID }, [LOG])
  await expect(verifyReceipt(bytes, receipt!, TRUST)).rejects.toThrow('the body has no forecast_id')
})

test.each([
  ['the log itself', ORIGIN],
  ['no UUID', `${ORIGIN}/receipts/7`],
  ['a UUID in upper case', `${ORIGIN}/receipts/${UUID.toUpperCase()}`],
  ['more after the UUID', `${ORIGIN}/receipts/${UUID}/`],
  ['no log', `/receipts/${UUID}`],
])('refuses the origin of %s', async (_, origin) => {
  const checkpoint = { origin, size: 1, root: leafHash(BODIES[0]!) }
  const receipt = receiptOf(checkpoint)
  await expect(verifyReceipt(BODIES[0]!, receipt, TRUST)).rejects.toThrow('no receipts have the origin')
})

test('refuses the batch of another log, though a known key signed it', async () => {
  const receipt = receiptOf({
    origin: `fvs.example/other/receipts/${UUID}`,
    size: 1,
    root: leafHash(BODIES[0]!),
  })
  await expect(verifyReceipt(BODIES[0]!, receipt, TRUST)).rejects.toThrow(
    'no known key of "fvs.example/other"',
  )
})

test('a header that is not base64 of a text is refused', () => {
  expect(() => parseReceiptHeader('a b')).toThrow('not base64')
  expect(() => parseReceiptHeader(base64Of(Buffer.of(0xff)))).toThrow('not UTF-8')
})

function receiptOf(checkpoint: Checkpoint): string {
  return tlogProofText({
    extra: undefined,
    index: 0,
    hashes: [],
    checkpoint: signedCheckpoint(checkpoint, [LOG]),
  })
}
