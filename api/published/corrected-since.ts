// Which questions of an entity had their outcome corrected since an earlier release.
import type { Release } from './release-payloads.ts'
import type { EarlierReleases } from './earlier-releases.ts'
import type { Scores } from './scores.ts'
import type { EntityType } from '../../schemas/tables.ts'
import pMap from 'p-map'

/** The most releases that are looked through. */
const MOST_RELEASES = 100
const READS_AT_ONCE = 8
const ROWS_AT_ONCE = 10_000

export interface Corrected {
  questionIds: string[]
  /** Whether all releases since then were looked through, and not only the last hundred. */
  isWhole: boolean
}

/** Returns such questions of those that the entity is scored on now, so none whose outcome was taken back. */
export async function correctedSince(
  {
    releases,
    earlier,
    scores,
  }: { releases: Release; earlier: Pick<EarlierReleases, 'manifest'>; scores: Scores },
  entityType: EntityType,
  entityId: string,
  release: number,
): Promise<Corrected> {
  const current = releases.current!
  const first = Math.max(release + 1, current.release - MOST_RELEASES + 1)
  const numbers = Array.from({ length: current.release - first + 1 }, (_, index) => first + index)
  const superseded = await pMap(
    numbers,
    async (number) =>
      (number === current.release ? current : await earlier.manifest(number)).superseded.map(
        ({ question_id }) => question_id,
      ),
    { concurrency: READS_AT_ONCE },
  )
  const corrected = new Set(superseded.flat())
  const questionIds: string[] = []
  let cursor: string | undefined
  while (corrected.size > 0) {
    const page = await scores.page(current, { entityType, entityId, limit: ROWS_AT_ONCE, cursor })
    for (const { question_id: id } of page.rows) if (corrected.has(id)) questionIds.push(id)
    if (page.nextCursor === null || page.nextCursor === undefined) break
    cursor = page.nextCursor
  }
  return { questionIds: questionIds.sort(), isWhole: first === release + 1 }
}
