// Many verifications at once.
import { bulkResults } from '../../schemas/answers.ts'
import { bulkVerification } from '../../schemas/requests.ts'
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
      ids.map(async (id) => {
        const found = await context.releases.find(body.entity_type, id, 'verification')
        if (!found) {
          const { message: detail } = await notPublished(context, body.entity_type, id)
          return { id, status: 'not_found', detail }
        }
        return { id, status: 'ok', verification: found.payload, signature: found.signature ?? null }
      }),
    )
    return { body: { results } }
  },
})
