// Certificates that the software of others accepts: Open Badges 3.0 credentials, their status lists, and the
// document that names the keys they are signed with.
import { z } from 'zod'
import { CREDENTIAL_TYPE } from '../../pipeline/credentials/documents.ts'
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { type TitleGrounds, decideTitle } from '../../pipeline/scoring/title.ts'
import { openBadgeCredential, statusListCredential, didDocument } from '../../schemas/credentials.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import type { ApiContext } from '../http/context.ts'
import type { Release } from '../published/release-payloads.ts'
import { notPublished } from '../http/not-published.ts'
import { type Route, route } from '../http/route.ts'
import { credentialExamples } from '../openapi/credential-examples.ts'
import { componentName } from '../openapi/schemas.ts'
import { ENTITIES } from './entities.ts'

const NO_CREDENTIALS = 'this service issues no credentials'
/** Loaders of others ask for these, and parse an answer only if its type has `json` in it. */
const JSON_TYPES = ['application/ld+json', 'application/json']
const SHORTLY = 'public, max-age=60'

export function credentials(methodology: Methodology): Route[] {
  return [
    ...ENTITY_TYPES.map((entityType) => credential(methodology, entityType)),
    statusList,
    issuer,
    issuerInFolder,
  ]
}

function credential(methodology: Methodology, entityType: EntityType): Route {
  const { path, words, idName, example } = ENTITIES[entityType]
  return route({
    path: `${path}/credential`,
    operationId: `get${componentName(`${entityType}-credential`)}`,
    tag: 'Verification',
    summary: `The certificate of ${words} as an Open Badges credential`,
    description:
      'An Open Badges 3.0 credential, which is a W3C Verifiable Credential 2.0, signed with `eddsa-rdfc-2022` by the key in ' +
      '`/.well-known/did.json`. Wallets keep it, and the software of others checks it. It is good for 90 days, unless its status ' +
      'list says that it was revoked because the service says something else of its holder now. It is issued for those who are certified, ' +
      'a moment after each release.',
    follows: true,
    needsStore: true,
    params: z.strictObject({ [idName]: uuid }),
    examples: { params: { [idName]: example } },
    success: {
      description: 'The credential',
      body: openBadgeCredential,
      mediaType: CREDENTIAL_TYPE,
      alsoAs: JSON_TYPES,
      cache: SHORTLY,
      get example() {
        return credentialExamples().credentialOf(entityType)
      },
    },
    problems: { 404: { type: 'no-certificate', detail: missing(example, 'its title is measured: …') } },
    handle: async ({ params }, context, release) => {
      const entityId = params[idName]!
      const { manifest } = release
      const body =
        manifest && (await context.credentials.issuedCredential(manifest.release, entityType, entityId))
      if (body) return { body }
      throw await noCertificate(methodology, context, release, entityType, entityId)
    },
  })
}

/** Says why there is no credential of an entity. */
async function noCertificate(
  methodology: Methodology,
  context: ApiContext,
  release: Release,
  entityType: EntityType,
  entityId: string,
): Promise<ServiceError> {
  const found = await release.find(entityType, entityId, 'verification')
  if (!found) return notPublished(context, release, entityType, entityId)
  const { release: number, methodology_version: version } = release.manifest!
  if (version !== methodology.version) {
    const why = `release ${number} is by methodology ${version}; the next one decides by ${methodology.version}`
    return new ServiceError('notFound', missing(entityId, why), { type: 'no-certificate' })
  }
  const payload = found.payload as TitleGrounds & { retired_at?: string | null }
  const { title, because } = decideTitle(methodology, payload)
  const lacks =
    payload.retired_at !== undefined && payload.retired_at !== null
      ? `it retired at ${payload.retired_at}`
      : context.credentials.issuer === undefined
        ? NO_CREDENTIALS
        : `its title is ${title}: ${because}`
  return new ServiceError('notFound', missing(entityId, lacks), { type: 'no-certificate' })
}

function missing(entityId: string, because: string): string {
  return `there is no credential of ${entityId}: ${because}`
}

const statusList = route({
  path: '/credentials/status/{list}',
  operationId: 'getCredentialStatusList',
  tag: 'Verification',
  summary: 'A list of revoked credentials',
  description:
    'A Bitstring Status List of the W3C as a signed credential: the bit of each revoked credential is set. Every credential names ' +
    'its list and its bit. A list is made anew with each release.',
  follows: true,
  needsStore: true,
  params: z.strictObject({
    list: z
      .string()
      .regex(/^(?:0|[1-9][0-9]{0,5})$/, 'must be a number from 0')
      .describe('The number of the list, from 0'),
  }),
  examples: { params: { list: '0' } },
  success: {
    description: 'The list',
    body: statusListCredential,
    mediaType: CREDENTIAL_TYPE,
    alsoAs: JSON_TYPES,
    cache: SHORTLY,
    get example() {
      return credentialExamples().statusList
    },
  },
  problems: { 404: { type: 'not-found', detail: 'there is no status list 7' } },
  handle: async ({ params: { list } }, { credentials: issued }) => {
    const body = await issued.statusList(Number(list))
    if (body) return { body }
    throw new ServiceError('notFound', `there is no status list ${list}`)
  },
})

const issuer = didRoute('/.well-known/did.json', 'getCredentialIssuer')
/** A service under a path is found here by did:web. */
const issuerInFolder = didRoute('/did.json', 'getCredentialIssuerInFolder')

function didRoute(path: string, operationId: string): Route {
  return route({
    path,
    operationId,
    tag: 'Verification',
    summary: 'Who issues credentials, and with which keys',
    description:
      'The document of the did:web that signs credentials. Its keys are those whose credentials are good: the one in force, and ' +
      'after a change of the key the one before.',
    follows: true,
    success: {
      description: 'A DID document',
      body: didDocument,
      mediaType: 'application/did+json',
      cache: SHORTLY,
      get example() {
        return credentialExamples().issuer
      },
    },
    problems: { 404: { type: 'not-found', detail: NO_CREDENTIALS } },
    handle: (_request, { credentials: issued }) => {
      const document = issued.issuer
      if (document) return { body: document }
      throw new ServiceError('notFound', NO_CREDENTIALS)
    },
  })
}
