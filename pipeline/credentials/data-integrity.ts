// Secures documents by a proof of the cryptosuite eddsa-rdfc-2022
// (https://www.w3.org/TR/vc-di-eddsa/#eddsa-rdfc-2022).
import { hash, sign } from 'node:crypto'
import { ServiceError } from '../../schemas/errors.ts'
import { encoded } from '../proof/canonical.ts'
import { isSigned, sha256 } from '../proof/digest.ts'
import { type CredentialKey, bytesOfMultibase, multibase, parseMultikey } from './keys.ts'
import { quadsOf } from './quads.ts'

export interface Proof {
  type: 'DataIntegrityProof'
  cryptosuite: 'eddsa-rdfc-2022'
  created: string
  /** The id of the key in the document of the issuer. */
  verificationMethod: string
  proofPurpose: 'assertionMethod'
  proofValue: string
}

/** A document as `quadsOf` takes it. */
export interface Unsecured {
  '@context': readonly string[]
  [member: string]: unknown
}

/** Its proof is a list of one, because the JSON Schema of Open Badges demands a list. */
export type Secured<T extends Unsecured = Unsecured> = T & { proof: readonly Proof[] }

/** Signs documents at one instant: the hash of the options of their proofs is made once. */
export class Signer {
  readonly #key: CredentialKey
  readonly #options: Omit<Proof, 'proofValue'>
  #optionsHash: Uint8Array | undefined

  constructor(key: CredentialKey, issuer: string, created: string) {
    this.#key = key
    this.#options = proofOptions(`${issuer}#${key.multikey}`, created)
  }

  /** Returns the value of a proof. The rest of the proof follows from the document and the instant. */
  valueFor(document: Unsecured): string {
    this.#optionsHash ??= optionsHash(document, this.#options)
    return multibase(sign(null, hashData(this.#optionsHash, quadsOf(document)), this.#key.privateKey))
  }

  secured<T extends Unsecured>(document: T): Secured<T> {
    return { ...document, proof: [{ ...this.#options, proofValue: this.valueFor(document) }] }
  }
}

export function proofOptions(verificationMethod: string, created: string): Omit<Proof, 'proofValue'> {
  return {
    type: 'DataIntegrityProof',
    cryptosuite: 'eddsa-rdfc-2022',
    created,
    verificationMethod,
    proofPurpose: 'assertionMethod',
  }
}

/**
 * Whether this key, given as Multikey, made the proof of a document.
 *
 * @throws ServiceError `invalid` for a document of another form than this service makes.
 */
export async function isSignedBy({ proof, ...document }: Secured, multikey: string): Promise<boolean> {
  const [only, ...others] = proof
  if (!only || others.length > 0) {
    throw new ServiceError('invalid', `proof must be a list of one, and has ${proof.length}`)
  }
  if (only.type !== 'DataIntegrityProof' || only.cryptosuite !== 'eddsa-rdfc-2022') {
    throw new ServiceError('invalid', 'the proof must be a DataIntegrityProof of eddsa-rdfc-2022')
  }
  const { proofValue, ...options } = only
  const quads = [quadsOf({ '@context': document['@context'], ...options }), quadsOf(document)]
  const [ofOptions, ofDocument] = await Promise.all(quads.map((text) => sha256(encoded(text))))
  const signature = bytesOfMultibase(proofValue)
  const key = parseMultikey(multikey)
  return signature !== undefined && isSigned(key, Uint8Array.of(...ofOptions!, ...ofDocument!), signature)
}

function optionsHash(document: Unsecured, options: Omit<Proof, 'proofValue'>): Uint8Array {
  return hash('sha256', quadsOf({ '@context': document['@context'], ...options }), 'buffer')
}

/** Returns the bytes to sign: the hash of a proof's options, then the hash of a document's N-Quads. */
export function hashData(optionsHashed: Uint8Array, quads: string): Uint8Array {
  return Buffer.concat([optionsHashed, hash('sha256', quads, 'buffer')])
}
