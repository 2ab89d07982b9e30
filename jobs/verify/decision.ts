// Decides the award of a verification again, from the numbers beside it.
import { z } from 'zod'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { decideTitle } from '../../pipeline/scoring/title.ts'
import { printable } from '../../pipeline/printable.ts'
import { agentVerification, forecasterVerification } from '../../schemas/payloads.ts'

/** The award of a verification, its reason, and its holder. */
export interface Decision {
  award: string
  because: string
  record: EntityRecord | undefined
  /** The reason why the numbers do not give the award; absent if they do. */
  fault?: string
}

/** The fields of a verification that are no numbers. */
interface EntityRecord {
  name?: string | null
  owner_id?: string | null
  retired_at?: string | null
  witnessed_share: number | null
}

/** Only verifications have a rule for voices. */
const anyVerification = z.looseObject({
  voice_rule: z.string(),
  methodology_version: z.string(),
  certification: z.string().optional(),
  badge: z.string().optional(),
})
const verification = z.union([agentVerification, forecasterVerification])

/**
 * Says what decides the award of a verification, and what is wrong with it; undefined for every other
 * payload.
 */
export function decisionOf(content: unknown): Decision | undefined {
  const { data: any } = anyVerification.safeParse(content)
  if (!any) return undefined
  const award = any.badge ?? any.certification ?? 'none'
  if (any.methodology_version !== METHODOLOGY.version) {
    const because = `method ${any.methodology_version} says so, which this version of the service does not have`
    return { award, because, record: undefined }
  }
  const { data } = verification.safeParse(content)
  if (!data) return undefined
  const { witnessed_share } = data
  const record =
    'badge' in data
      ? { witnessed_share }
      : { name: data.name, owner_id: data.owner_id, retired_at: data.retired_at, witnessed_share }
  const { title, because } = decideTitle(METHODOLOGY, data)
  return title === award
    ? { award, because, record }
    : { award, because, record, fault: `it says ${award}, and its numbers give ${title}, because ${because}` }
}

/** As in: certified, because …; named "my-agent", of the owner "rook", … */
export function decisionText({ award, because, record }: Omit<Decision, 'fault'>): string {
  return `${printable(award)}, because ${printable(because)}${record ? `; ${recordText(record)}` : ''}`
}

/** As in: named "my-agent", of the owner "rook", retired at 2026-02-01T00:00:00.000Z, witnessed 100 %. */
function recordText({
  name,
  owner_id: owner,
  retired_at: retired,
  witnessed_share: share,
}: EntityRecord): string {
  const isAgent = name !== undefined
  return [
    ...(typeof name === 'string' ? [`named ${JSON.stringify(name)}`] : []),
    ...(isAgent ? [owner ? `of the owner ${JSON.stringify(owner)}` : 'of no recorded owner'] : []),
    ...(retired ? [`retired at ${retired}`] : []),
    share === null
      ? 'nothing settled'
      : `the service saw ${Number((share * 100).toFixed(2))} % of its settled questions being forecast`,
  ].join(', ')
}
