// The files in which the store keeps credentials, beside the releases.
import { z } from 'zod'
import { count } from './metric.ts'
import { ENTITY_TYPES } from './tables.ts'
import { ENVIRONMENTS, instant, publishedUuid, sha256 } from './values.ts'

const multikey = z.string().regex(/^z[1-9A-HJ-NP-Za-km-z]+$/)
const index = count.describe(
  'Its number among all credentials of the service. Each change of the name takes a new one, and so does a title that was lost and won again',
)

/** The facts of a credential about its holder, and the value of its proof. */
export const heldCredential = z.strictObject({
  index,
  name: z.string().nullable().describe('Of an agent. Null for people, whom no signed file names'),
  skill: z.number(),
  skill_interval: z.strictObject({ lower: z.number(), upper: z.number(), level: z.number() }),
  contested_questions: count,
  proof: z.string(),
})
export type HeldCredential = z.infer<typeof heldCredential>

/** A run of entities with a credential, in order of id. */
export const credentialFile = z.record(publishedUuid, heldCredential)
export type CredentialFile = z.infer<typeof credentialFile>

const listedFile = z.strictObject({ path: z.string(), size_bytes: count, sha256 })

/** The record of an issue of credentials: written last, it publishes them. */
export const credentialIssue = z.strictObject({
  form: count.describe('Of the documents: a node that makes others serves none of the issue'),
  release: count,
  as_of: instant,
  methodology_version: z.string(),
  environment: z.enum(ENVIRONMENTS),
  url: z.string().describe('The address of the service, in every id'),
  keys: z
    .array(multikey)
    .min(1)
    .describe('As Multikey: the one that signed, and the previous one if it is still good'),
  next_index: count.describe(
    'The next index that is given. Each one below it that no credential has is revoked',
  ),
  files: z.array(listedFile.extend({ entity_type: z.enum(ENTITY_TYPES), first_entity_id: publishedUuid })),
  status_lists: z.array(listedFile).describe('In the order of their numbers'),
})
export type CredentialIssue = z.infer<typeof credentialIssue>
export type CredentialFileEntry = CredentialIssue['files'][number]

const contexts = z.array(z.string())
const dataIntegrityProof = z.looseObject({
  type: z.literal('DataIntegrityProof'),
  cryptosuite: z.literal('eddsa-rdfc-2022'),
  created: instant,
  verificationMethod: z.string().describe('A key in the document of the issuer'),
  proofPurpose: z.literal('assertionMethod'),
  proofValue: z.string(),
})
const proof = z.array(dataIntegrityProof).length(1)

/** The members of every credential of this service. The standards define their contents. */
export const openBadgeCredential = z
  .looseObject({
    '@context': contexts,
    id: z.string(),
    type: z.array(z.string()),
    issuer: z.looseObject({ id: z.string() }),
    name: z.string(),
    validFrom: instant.describe('`as_of` of the release'),
    validUntil: instant,
    credentialSubject: z.looseObject({ id: z.string() }),
    evidence: z.array(z.looseObject({ id: z.string() })),
    credentialStatus: z.looseObject({ statusListCredential: z.string(), statusListIndex: z.string() }),
    proof,
  })
  .describe('An Open Badges 3.0 credential')

export const statusListCredential = z
  .looseObject({
    '@context': contexts,
    id: z.string(),
    type: z.array(z.string()),
    issuer: z.string(),
    validFrom: instant,
    validUntil: instant,
    credentialSubject: z.looseObject({ encodedList: z.string() }),
    proof,
  })
  .describe('A Bitstring Status List')

export const didDocument = z.strictObject({
  '@context': contexts,
  id: z.string(),
  verificationMethod: z.array(
    z.strictObject({
      id: z.string(),
      type: z.literal('Multikey'),
      controller: z.string(),
      publicKeyMultibase: multikey,
    }),
  ),
  assertionMethod: z.array(z.string()),
})
