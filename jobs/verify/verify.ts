// `fvs verify`: checks the signatures of answers of the API and of published files, and that every
// certification and badge in a verification follows from its numbers. It leaves credentials to
// verify-credential.ts.
import { z } from 'zod'
import { signatureHolds } from '../../pipeline/proof/hmac.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { type OwnSettings, secretsInForce, settingsOf } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'
import {
  type Identity,
  differenceOf,
  identityOf,
  identityText,
  originText,
  recordAt,
} from '../../pipeline/proof/identity.ts'
import { printable } from '../../pipeline/printable.ts'
import { type Decision, decisionOf, decisionText } from './decision.ts'
import type { Report } from '../command-line/output.ts'
import { fetched, fileBytes, isUrl, jsonOf } from '../command-line/read-place.ts'
import { credentialIn, runVerifyCredential } from './verify-credential.ts'
import { collected } from '../command-line/arguments.ts'
import { type ProofOptions, runVerifyProof } from './verify-proof.ts'
import { type StoreOptions, finish, settingsFor, storeCommand } from '../command-line/program.ts'

export function addVerify(): void {
  storeCommand(
    'verify',
    'Check that a published record is the one that the address asks for, its signature, and what it awards; without a secret, a credential, and with --vkey a proof or a receipt.',
  )
    .argument(
      '<target>',
      'a URL of the API, or a file: a credential, a badge, a payload, a shard of a release or a bulk answer',
    )
    .option('--signature <header>', 'the X-Service-Signature of a payload in a file')
    .option(
      '--vkey <key>',
      'a key of the public log, as its operator publishes it; may be repeated',
      collected,
      [],
    )
    .option(
      '--proof <place>',
      'the proof of the payload: a URL or a file (default: that of the service which the target names)',
    )
    .option('--receipt <file>', 'the X-Service-Receipt of a forecast')
    .option('--witness <key>', 'a witness that must have signed too; may be repeated', collected, [])
    .action(async (target: string, options: StoreOptions & { signature?: string } & ProofOptions) => {
      const { vkey, proof, receipt, witness } = options
      const withKeys = vkey.length + witness.length > 0 || proof !== undefined || receipt !== undefined
      if (withKeys) {
        finish(await runVerifyProof(target, options), options)
        return
      }
      const own = settingsOf(settingsFor(options), options.environment)
      finish(await runVerify(own, target, options, new Date()), options)
    })
}

interface Signed {
  name: string
  bytes: Uint8Array
  signature: string | null
  /** The record that the address or the place in a file names, because no signature covers that. */
  expected: Identity
}

/** A payload of any version of the method, and its signature. */
const publication = z.looseObject({
  payload: z.looseObject({
    agent_id: z.string().optional(),
    user_id: z.string().optional(),
    owner_id: z.string().nullish(),
  }),
  signature: z.string().nullable(),
})
type Publication = z.infer<typeof publication>
const results = z.object({
  results: z.array(
    z.discriminatedUnion('status', [
      z.looseObject({
        id: z.string(),
        status: z.literal('ok'),
        verification: publication.shape.payload,
        signature: z.string().nullable(),
      }),
      z.looseObject({ id: z.string(), status: z.literal('not_found') }),
    ]),
  ),
})
const release = z.number().optional()
const signedFile = z.union([
  z.object({
    entity_type: z.string(),
    release,
    entities: z.record(z.string(), z.union([publication, z.record(z.string(), publication)])),
  }),
  z.object({ release, owners: z.array(publication) }),
  results,
])

const SHOWN = 20

export interface SignatureOptions {
  /** The header of a payload in a file. */
  signature?: string | undefined
  /** That of the secret; an address names its own. */
  environment: Environment
}

/**
 * @throws ServiceError `invalid` if there is nothing to check, no secret to check it with, or an address that
 *   does not say which record it is of.
 */
export async function runVerify(
  settings: OwnSettings,
  target: string,
  { signature, environment }: SignatureOptions,
  now: Date,
): Promise<Report> {
  const expected = isUrl(target) ? recordAt(target) : undefined
  // A pipe can be read only once.
  const { headers, bytes } = expected
    ? await fetched(target)
    : { headers: undefined, bytes: await fileBytes(target) }
  const credential = signature === undefined ? credentialIn(bytes) : undefined
  if (credential) return runVerifyCredential(target, credential, expected ?? {}, now)
  const secrets = secretsInForce(settings)
  if (secrets.length === 0) {
    throw new ServiceError(
      'invalid',
      'set VERIFICATION_SIGNING_SECRET, or SANDBOX_VERIFICATION_SIGNING_SECRET with --environment sandbox, to the secret that the service signs with',
    )
  }
  const signed = expected
    ? [{ name: target, bytes, signature: headers?.get('x-service-signature') ?? null, expected }]
    : signedIn(target, bytes, signature).map((item) => ({
        ...item,
        expected: { ...item.expected, environment },
      }))
  if (signed.length === 0) throw new ServiceError('invalid', `${target} holds no payload to check`)
  const bad: { name: string; reason: string }[] = []
  const awards: (Decision & { name: string })[] = []
  const records: Identity[] = []
  for (const item of signed) {
    const content = jsonOf(item.bytes)
    const found = identityOf(content)
    const decision = decisionOf(content)
    const reason = faultOf(item, secrets) ?? differenceOf(item.expected, found) ?? decision?.fault
    records.push(found)
    if (reason !== undefined) bad.push({ name: item.name, reason })
    else if (decision) {
      const { award, because, record } = decision
      awards.push({ name: item.name, award, because, record })
    }
  }
  const ok = bad.length === 0
  const lines = ok
    ? [
        `${target}: ${signed.length === 1 ? 'the signature holds' : `all ${signed.length} signatures hold`}`,
        ...shown(originsOf(records)),
        ...shown(
          awards.map(
            ({ name, ...decision }) => `${signed.length === 1 ? '' : `${name}: `}${decisionText(decision)}`,
          ),
        ),
      ]
    : [
        `${target}: ${bad.length} of ${signed.length} payloads do not hold`,
        ...shown(bad.map(({ name, reason }) => `${name}: ${reason}`)),
      ]
  const failed = bad.map(({ name }) => name)
  const json = { target, ok, checked: signed.length, failed, records, awards }
  return { ok, json, text: lines.join('\n') }
}

/** Says of one record what it is, and of several only of which releases they are. */
function originsOf(records: readonly Identity[]): string[] {
  const texts =
    records.length === 1 ? records.map(identityText) : records.map((each) => originText(each).join(', '))
  return [...new Set(texts)].map(printable)
}

/** Returns the first lines, indented, and the number of further ones. */
function shown(lines: readonly string[]): string[] {
  const more = lines.length > SHOWN ? [`… and ${lines.length - SHOWN} more`] : []
  return [...lines.slice(0, SHOWN), ...more].map((line) => `  ${line}`)
}

function faultOf({ bytes, signature }: Signed, secrets: readonly string[]): string | undefined {
  if (signature === null) return 'unsigned'
  return signatureHolds(bytes, signature, secrets)
    ? undefined
    : 'not signed with this secret, or changed since'
}

function signedIn(path: string, bytes: Uint8Array, signature: string | undefined): Signed[] {
  if (signature !== undefined) return [{ name: path, bytes, signature, expected: {} }]
  const content = jsonOf(bytes)
  if (content === undefined) throw new ServiceError('invalid', `${path} is not JSON`)
  const { data } = signedFile.safeParse(content)
  if (!data) {
    throw new ServiceError('invalid', `${path} holds no signatures: give the payload's with --signature`)
  }
  if ('results' in data) {
    return data.results.flatMap((result) => {
      if (result.status !== 'ok') return []
      const { id, signature: own, verification: payload } = result
      const entity = payload.user_id === undefined ? 'agent' : 'forecaster'
      return [signedOf(id, { payload, signature: own }, { kind: `${entity}-verification`, id })]
    })
  }
  const origin = data.release === undefined ? {} : { release: data.release }
  if ('owners' in data) {
    return data.owners.map((given) =>
      signedOf(`owner ${given.payload.owner_id ?? ''}`, given, { kind: 'owner', ...origin }),
    )
  }
  const { entity_type: entity, entities } = data
  return Object.entries(entities).flatMap(([id, published]) =>
    Object.entries(isPublication(published) ? { snapshot: published } : published).map(([kind, given]) =>
      signedOf(`${kind} of ${id}`, given, { kind: `${entity}-${kind.replace('_', '-')}`, id, ...origin }),
    ),
  )
}

/** A snapshot has one payload of each entity, a shard of a release several by their kinds. */
function isPublication(published: Publication | Record<string, Publication>): published is Publication {
  return 'signature' in published
}

function signedOf(name: string, { payload, signature }: Publication, expected: Identity): Signed {
  return { name: printable(name), bytes: canonical(payload), signature, expected }
}
