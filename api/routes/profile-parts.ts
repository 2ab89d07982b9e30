// The certificate, the skill from question to question, and the days before, which a profile shows besides
// the payloads of its entity.
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import { type RunningPoint, runningSkill } from '../../pipeline/scoring/running.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { Published } from '../published/published.ts'
import type { Release } from '../published/release-payloads.ts'
import { type Day, milestones } from '../pages/profile/figures.ts'
import type { Certificate } from '../pages/profile/certificate.ts'
import { type Payloads, isAgent } from '../pages/profile/subject.ts'
import type { SnapshotRow } from '../published/history.ts'
import type { FoundCredential } from '../published/credentials.ts'
import type { Score } from './published-entity.ts'

/** Nothing for an earlier release, because credentials are of the current one. */
export async function credentialOf(
  { credentials }: Published,
  { manifest, earlierThan }: Release,
  entityType: EntityType,
  id: string,
): Promise<FoundCredential | undefined> {
  if (!manifest || earlierThan !== undefined) return undefined
  return credentials.find(manifest.release, entityType, id)
}

export function certificateIn(document: FoundCredential['document']): Certificate {
  const { issuer, ...members } = document as unknown as Certificate & { issuer: { name: string } }
  const { validFrom, validUntil } = members
  return { name: members.name, issuerName: issuer.name, validFrom, validUntil }
}

export function runningOf(
  methodology: Methodology,
  payloads: Payloads,
  scores: readonly Score[],
): RunningPoint[] {
  const attempt = isAgent(payloads) ? payloads.verification.attempt : null
  const wanted = milestones(payloads.metrics.contested_questions, methodology.parameters)
  return runningSkill(methodology, scores, attempt, wanted)
}

/** The most days that a profile shows. */
const MOST_DAYS = 40

/** The days of a history that a profile shows besides that of the release. */
export function earlierDays({ manifest }: Release, entityType: EntityType, id: string) {
  return [entityType, id, dayBefore(manifest!.as_of), MOST_DAYS - 1] as const
}

/** Returns days before the release on which a skill of the entity was published. */
export async function daysBefore(
  context: Published,
  release: Release,
  entityType: EntityType,
  id: string,
): Promise<Day[]> {
  const some = context.history.some(...earlierDays(release, entityType, id))
  const rows: SnapshotRow[] = await some.catch((error: unknown) => {
    // The operator is told of a damaged snapshot by its own call, and the rest of the page is right.
    if (error instanceof ServiceError && error.kind === 'corrupt') return []
    throw error
  })
  return rows.flatMap(({ date, skill, skill_interval: interval, rank, rank_interval: places }) =>
    skill === null ? [] : [{ date, skill, interval, rank, places }],
  )
}

/** Returns the day of the release itself; the snapshot of that day may be written a moment later. */
export function dayOf({ metrics, rankings }: Payloads): Day[] {
  const { skill, skill_interval: interval } = metrics
  if (skill === null) return []
  const { rank, rank_interval: places } = rankings
  return [{ date: metrics.as_of.slice(0, 10), skill, interval, rank, places }]
}

function dayBefore(instant: string): string {
  return new Date(Date.parse(instant) - 24 * 3_600_000).toISOString().slice(0, 10)
}
