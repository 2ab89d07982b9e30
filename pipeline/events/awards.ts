// Tells whose award differs between two releases.
import { ServiceError } from '../../schemas/errors.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import { literal } from '../duckdb.ts'
import { awardsIn } from '../release/summary.ts'
import { type FeedContext, MOST_AT_ONCE, type Told, partOf } from './part.ts'

/** Makes the views of the awards of two releases. False if files of the release before are deleted. */
export async function attachAwards(
  { database, local }: FeedContext,
  manifest: ReleaseManifest,
  previous: ReleaseManifest | undefined,
): Promise<boolean> {
  try {
    for (const [view, of] of [
      ['award_now', manifest],
      ['award_before', previous],
    ] as const) {
      await database.run(`CREATE OR REPLACE TEMP VIEW ${view} AS ${await awardsIn(local, of)}`)
    }
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'notFound') return false
    throw error
  }
}

export async function awardEvents(
  { database }: FeedContext,
  { release, as_of: at }: ReleaseManifest,
  place: string | null,
): Promise<Told> {
  const rows = await database.rows<{
    entity_type: 'agent' | 'forecaster'
    entity_id: string
    from: string | null
    to: string | null
  }>(
    `SELECT entity_type, entity_id, award_before.award AS "from", award_now.award AS "to"
     FROM award_now FULL JOIN award_before USING (entity_type, entity_id)
     WHERE coalesce(award_now.award, '') <> coalesce(award_before.award, '')
       AND entity_type || ' ' || entity_id > ${literal(place ?? '')}
     ORDER BY entity_type, entity_id LIMIT ${MOST_AT_ONCE + 1}`,
  )
  return partOf(
    rows,
    ({ entity_type, entity_id }) => `${entity_type} ${entity_id}`,
    (row) => [{ type: 'certification.changed', at, release, ...row }],
  )
}
