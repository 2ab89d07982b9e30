// Secures documents by a proof of the cryptosuite eddsa-rdfc-2022
// (https://www.w3.org/TR/vc-di-eddsa/#eddsa-rdfc-2022).
import { hash, sign, verify } from 'node:crypto'
import { ServiceError } from '../../schemas/errors.ts'
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
export function isSignedBy({ proof, ...document }: Secured, multikey: string): boolean {
  const [only, ...others] = proof
  if (!only || others.length > 0) {
    throw new ServiceError('invalid', `proof must be a list of one, and has ${proof.length}`)
  }
  if (only.type !== 'DataIntegrityProof' || only.cryptosuite !== 'eddsa-rdfc-2022') {
    throw new ServiceError('invalid', 'the proof must be a DataIntegrityProof of eddsa-rdfc-2022')
  }
  const { proofValue, ...options } = only
  const bytes = hashData(optionsHash(document, options), quadsOf(document))
  const signature = bytesOfMultibase(proofValue)
  return signature !== undefined && verify(null, bytes, parseMultikey(multikey), signature)
}

function optionsHash(document: Unsecured, options: Omit<Proof, 'proofValue'>): Uint8Array {
  return hash('sha256', quadsOf({ '@context': document['@context'], ...options }), 'buffer')
}

/** Returns the bytes to sign: the hash of a proof's options, then the hash of a document's N-Quads. */
export function hashData(optionsHashed: Uint8Array, quads: string): Uint8Array {
  return Buffer.concat([optionsHashed, hash('sha256', quads, 'buffer')])
}
