// Receipts: one signature for all answers of a batch, and for each answer the proof that it is among them.
import { bytesOfBase64 } from './base64.ts'
import { decoded } from './canonical.ts'
import { signedCheckpoint } from './checkpoint.ts'
import { MerkleTree, leafHash } from './merkle.ts'
import type { SigningKey } from './note-keys.ts'
import { tlogProofText } from './tlog-proof.ts'

const RECEIPTS = '/receipts/'
const BATCH = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * Returns a receipt for each body, in their order: a tlog-proof without `extra`, whose checkpoint has the
 * origin `<origin of the log>/receipts/<uuid of the batch>` and a leaf for each body.
 */
export function receiptsOf(
  bodies: readonly Uint8Array[],
  batch: { origin: string; uuid: string },
  keys: readonly SigningKey[],
): string[] {
  const tree = new MerkleTree(bodies.map((body) => leafHash(body)))
  const origin = `${batch.origin}${RECEIPTS}${batch.uuid}`
  const checkpoint = signedCheckpoint({ origin, size: tree.size, root: tree.root }, keys)
  return bodies.map((_, index) =>
    tlogProofText({ extra: undefined, index, hashes: tree.inclusionPath(index), checkpoint }),
  )
}

/** Returns the log and the batch that the origin of a receipt names; undefined for any other origin. */
export function batchOf(origin: string): { origin: string; uuid: string } | undefined {
  const at = origin.lastIndexOf(RECEIPTS)
  const uuid = origin.slice(at + RECEIPTS.length)
  return at > 0 && BATCH.test(uuid) ? { origin: origin.slice(0, at), uuid } : undefined
}

/** The value of the header `X-Service-Receipt`. */
export function receiptHeader(receipt: string): string {
  // `Buffer.from` encodes a text in half the time that a TextEncoder takes.
  return Buffer.from(receipt).toString('base64')
}

/** @throws ServiceError `invalid` for anything but the base64 of a text. */
export function parseReceiptHeader(value: string): string {
  return decoded(bytesOfBase64(value))
}
