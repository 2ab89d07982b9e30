// The checks for readers who have keys as texts: pages, the file that the service lets readers take, and the
// TypeScript client. It needs WebCrypto and nothing of Node.
import { ServiceError } from '../../schemas/errors.ts'
import { decoded } from './canonical.ts'
import { askedAt, differenceOf, identityOf } from './identity.ts'
import { type VerifierKey, readVerifierKey, verifierKeyText } from './note-keys.ts'
import { parseTlogProof } from './tlog-proof.ts'
import { type VerifiedProof, type VerifiedReceipt, verifyProof, verifyReceipt } from './verify.ts'

/** @throws ServiceError `invalid` for a text that is no key. */
export function readKeys(vkeys: readonly string[]): Promise<VerifierKey[]> {
  return Promise.all([...new Set(vkeys)].map(readVerifierKey))
}

/**
 * Checks a proof or a receipt with keys of the log and of witnesses. Each witness must have signed a proof;
 * no witness sees receipts.
 *
 * @throws ServiceError `invalid` with the check that fails, and for what is no key.
 */
export async function verifyWith(
  body: Uint8Array,
  proof: string,
  vkeys: readonly string[],
): Promise<VerifiedProof | VerifiedReceipt> {
  const all = await readKeys(vkeys)
  const keys = all.filter(({ use }) => use === 'log')
  const witnesses = all.filter(({ use }) => use === 'witness')
  if (parseTlogProof(proof).extra === undefined) return verifyReceipt(body, proof, { keys })
  return verifyProof(body, proof, { keys, witnesses, leastCosignatures: witnesses.length })
}

/**
 * Checks that a record is the one that an address asks for, since proofs hold for every record.
 *
 * @throws ServiceError `invalid` with what differs.
 */
export function assertRecord(address: string, body: Uint8Array): void {
  const difference = differenceOf(askedAt(address) ?? {}, identityOf(JSON.parse(decoded(body))))
  if (difference !== undefined) throw new ServiceError('invalid', difference)
}

/** Says in lines what holds. */
export function stepsOf(found: VerifiedProof | VerifiedReceipt): string[] {
  const { checkpoint, index, signatures } = found
  const isProof = 'statement' in found
  const signed = isProof ? [...signatures, ...found.cosignatures] : signatures
  return [
    ...(isProof ? [treeStep(found)] : []),
    `that is entry ${index} of ${checkpoint.size} under the checkpoint of ${checkpoint.origin}`,
    ...signed.map(({ key }) => `the checkpoint is signed by ${verifierKeyText(key)}`),
  ]
}

function treeStep({ tree, statement }: VerifiedProof): string {
  return `these bytes are in the tree “${tree}” of release ${statement.release}, among ${statement[tree]!.size}`
}
