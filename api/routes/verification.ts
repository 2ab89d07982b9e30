// Many verifications at once.
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { bulkResults } from '../../schemas/answers.ts'
import { bulkVerification } from '../../schemas/requests.ts'
import type { Intake } from '../http/intake.ts'
import type { Published } from '../published/published.ts'
import type { Publication, Release } from '../published/release-payloads.ts'
import { notPublished } from '../http/not-published.ts'
import * as examples from '../openapi/examples.ts'
import { route } from '../http/route.ts'

export const bulk = route({
  path: '/verification/bulk',
  operationId: 'getVerifications',
  tag: 'Verification',
  summary: 'The signed verifications of many entities of one kind',
  description:
    'The verifications of many agents, or of many forecasters, in the order of the request; a repeated id is answered ' +
    'once. Each has the signature of its canonical JSON (RFC 8785). How many ids a request may have depends on ' +
    'the tier of the key; the whole request counts as one call.',
  key: 'optional',
  limit: 'verification',
  follows: true,
  needsStore: true,
  body: bulkVerification,
  mostItems: { ids: (caller, { limits }) => limits.bulkIds(caller) },
  examples: { body: examples.bulkVerification },
  success: {
    description: 'One result for each id',
    body: bulkResults,
    cache: 'no-store',
    example: examples.bulkResults,
  },
  problems: {
    422: {
      type: 'too-many-ids',
      detail: '11 ids were sent; at most 10 are allowed in one request',
      errors: [{ pointer: '/ids', detail: 'ids must have at most 10 items' }],
    },
  },
  handle: async ({ body: { entity_type: type, ids } }, context, release) => {
    const unique = [...new Set(ids)]
    const results = release
      .allAtHand(type, unique, 'verification')
      .map((found, nth) => found && resultOf(unique[nth]!, found))
    const whole = isWhole(results)
      ? results
      : await Promise.all(
          results.map(
            async (result, nth) => result ?? (await lookedUp(type, unique[nth]!, context, release)),
          ),
        )
    return { body: canonicalResults(whole) }
  },
})

/**
 * Whether every result is there. Most calls have to look up nothing, and would make hundreds of promises
 * without this check.
 */
function isWhole(results: (Uint8Array | undefined)[]): results is Uint8Array[] {
  return !results.includes(undefined)
}

async function lookedUp(
  type: EntityType,
  id: string,
  context: Published & Pick<Intake, 'registry'>,
  release: Release,
): Promise<Uint8Array> {
  const found = await release.find(type, id, 'verification')
  if (found) return resultOf(id, found)
  const { message: detail } = await notPublished(context, release, type, id)
  return canonical({ id, status: 'not_found', detail })
}

/** Returns a result in canonical JSON, around the published bytes. */
function resultOf(id: string, publication: Publication): Uint8Array {
  const { bytes, signature = null } = publication
  const head = `{"id":"${id}","signature":${JSON.stringify(signature)},"status":"ok","verification":`
  // Other calls ask for the same ones, and a call has up to 200.
  return (publication.amongOthers ??= Buffer.concat([Buffer.from(head), bytes, Buffer.from('}')]))
}

const HEAD = Buffer.from('{"results":[')
const COMMA = Buffer.from(',')
const END = Buffer.from(']}')

/** Returns the answer in canonical JSON. */
function canonicalResults(results: readonly Uint8Array[]): Uint8Array {
  const parts = results.flatMap((result, nth) => (nth === 0 ? [result] : [COMMA, result]))
  return Buffer.concat([HEAD, ...parts, END])
}
