// Many verifications at once.
import { canonical } from '../../pipeline/proof/canonical.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { bulkResults } from '../../schemas/answers.ts'
import { bulkVerification } from '../../schemas/requests.ts'
import type { ApiContext } from '../context.ts'
import type { Publication } from '../release-payloads.ts'
import { notPublished } from '../not-published.ts'
import * as examples from '../openapi/examples.ts'
import { route } from '../route.ts'

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
  handle: async ({ body }, context) => {
    const ids = [...new Set(body.ids)]
    const results = await Promise.all(
      ids.map((id) => {
        // Most are in memory: only the others are looked up.
        const found = context.releases.atHand(body.entity_type, id, 'verification')
        return found ? Promise.resolve(resultOf(id, found)) : lookedUp(body.entity_type, id, context)
      }),
    )
    return { body: canonicalResults(results) }
  },
})

type Part = string | Uint8Array

async function lookedUp(type: EntityType, id: string, context: ApiContext): Promise<Part[]> {
  const found = await context.releases.find(type, id, 'verification')
  if (found) return resultOf(id, found)
  const { message: detail } = await notPublished(context, type, id)
  return [canonical({ id, status: 'not_found', detail })]
}

/** A result in canonical JSON, in parts: one is the bytes that were published. */
function resultOf(id: string, { bytes, signature }: Publication): Part[] {
  const signed = signature === undefined ? 'null' : JSON.stringify(signature)
  return [`{"id":"${id}","signature":${signed},"status":"ok","verification":`, bytes, '}']
}

/** The parts that are texts are ASCII. */
function canonicalResults(results: readonly (readonly Part[])[]): Uint8Array {
  const parts = [
    '{"results":[',
    ...results.flatMap((result, nth) => (nth === 0 ? result : [',', ...result])),
    ']}',
  ]
  const whole = Buffer.allocUnsafe(parts.reduce((size, { length }) => size + length, 0))
  let at = 0
  for (const part of parts) {
    if (typeof part === 'string') whole.write(part, at, 'latin1')
    else whole.set(part, at)
    at += part.length
  }
  return whole
}
