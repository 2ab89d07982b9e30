// The daily history of an entity.
import { snapshotHistory } from '../../schemas/answers.ts'
import { snapshotParams, snapshotQuery } from '../../schemas/requests.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { erasureIn, notReleasedYet, notPublished } from '../http/not-published.ts'
import * as examples from '../openapi/examples.ts'
import { route } from '../http/route.ts'
import { signatureHeader } from '../published/signature.ts'

const { AGENT_ID } = examples

export const snapshots = route({
  path: '/snapshots/{entity_type}/{entity_id}',
  operationId: 'listSnapshots',
  tag: 'Records',
  summary: 'The rank and skill of an entity on each day',
  description:
    'The rank and skill of an agent or forecaster in the first release of each day, oldest first. A day without a ' +
    'release, or before its first one, has no row, and neither has a day whose snapshot is in quarantine, as the manifests of ' +
    'later releases then say. A call for more than a hundred days counts as one for each hundred, and as one more for each three ' +
    'that this node does not have in memory. The row of a day never changes. The signature covers the exact bytes of the body.',
  follows: true,
  needsStore: true,
  params: snapshotParams,
  query: snapshotQuery,
  examples: {
    params: { entity_type: 'agent', entity_id: AGENT_ID },
    query: { start_date: '2026-02-28', end_date: '2026-03-01' },
  },
  success: {
    description: 'One row for each day',
    body: snapshotHistory,
    cache: 'public, max-age=60',
    example: examples.snapshotHistory,
    headers: ['X-Service-Signature'],
  },
  problems: {
    404: {
      type: 'not-released-yet',
      detail: notReleasedYet(AGENT_ID, '2026-03-01T11:58:00.000Z', '2026-03-01T12:15:00.000Z'),
    },
    422: examples.invalid('query', 'end_date', 'must not be before start_date'),
  },
  handle: async ({ params, query, asker }, context, release) => {
    const { history, sign } = context
    const { entity_type, entity_id } = params
    // Snapshots of earlier days have the rows of an erased person for good, and nothing here shows them.
    if (erasureIn(release.manifest, entity_type, entity_id)) {
      throw await notPublished(context, release, entity_type, entity_id)
    }
    const rows = await history.snapshotsOf(entity_type, entity_id, asker, query.start_date, query.end_date)
    const known =
      rows.length > 0 || (await release.find(entity_type, entity_id, 'rankings', asker)) !== undefined
    if (!known) throw await notPublished(context, release, entity_type, entity_id)
    const body = canonical({ entity_type, entity_id, snapshots: rows })
    return { body, headers: signatureHeader(sign(body)) }
  },
})
