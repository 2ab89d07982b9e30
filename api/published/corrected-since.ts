// Which questions of an entity had their outcome corrected since an earlier release.
import type { Release } from './release-payloads.ts'
import type { EarlierReleases } from './earlier-releases.ts'
import { replacedOutcomes } from '../../pipeline/release/replaced-outcomes.ts'
import type { Scores } from './scores.ts'
import type { EntityType } from '../../schemas/tables.ts'
import pMap from 'p-map'

/** The most releases that are looked through. */
const MOST_RELEASES = 100
const READS_AT_ONCE = 8

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
  const manifestOf = async (number: number) =>
    number === current.release ? current : await earlier.manifest(number)
  const replaced = await pMap(
    numbers,
    async (number) => replacedOutcomes((await manifestOf(number)).corrections),
    { concurrency: READS_AT_ONCE },
  )
  const corrected = new Set(replaced.flat().map(({ questionId }) => questionId))
  const questionIds: string[] = []
  if (corrected.size > 0) {
    for await (const rows of scores.newest(current, entityType, entityId)) {
      for (const { question_id: id } of rows) if (corrected.has(id)) questionIds.push(id)
    }
  }
  return { questionIds: questionIds.sort(), isWhole: first === release + 1 }
}
