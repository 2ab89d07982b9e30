// Certificates of agents and badges of forecasters, from published numbers (METHODOLOGY §3, Certification).
import type { Range } from './ranking.ts'
import type { VoiceRule } from './voices.ts'

/** The published numbers that decide. */
export interface PlainRecord {
  n_c: number
  clusters: number
  evidence: number
  crowd_evidence: number
  skill_interval: Range | null
  strict_skill_interval: Range | null
  crowd_skill_interval: Range | null
  /** Null for an entity that is not eligible. */
  percentile: number | null
}

const above = (interval: Range | null): boolean => interval !== null && interval.lower > 0

/** The numbers of a record that prove a skill above 0. */
type Proof = Pick<PlainRecord, 'clusters' | 'evidence' | 'skill_interval' | 'strict_skill_interval'>

/** Better than the middle of the field, on enough evidence. */
export function isProven({ clusters, evidence, skill_interval, strict_skill_interval }: Proof): boolean {
  return clusters >= 25 && evidence >= 1 && above(skill_interval) && above(strict_skill_interval)
}

export type PlainCertification = 'none' | 'provisional' | 'certified' | 'expert'

export function certificationPlainly(record: PlainRecord, rule: VoiceRule): PlainCertification {
  const { n_c, crowd_evidence, crowd_skill_interval } = record
  if (n_c < 25) return 'none'
  if (rule === 'everyone' || n_c < 50 || !isProven(record)) return 'provisional'
  return n_c >= 100 && crowd_evidence >= 1 && above(crowd_skill_interval) ? 'expert' : 'certified'
}

export type PlainBadge = 'none' | 'bronze' | 'silver' | 'gold' | 'platinum'

export function badgePlainly(record: PlainRecord, rule: VoiceRule): PlainBadge {
  const { clusters, percentile } = record
  if (percentile === null || percentile < 50) return 'none'
  if (rule === 'everyone') return 'bronze'
  if (isProven(record) && percentile >= 99) return 'platinum'
  if (isProven(record) && percentile >= 90) return 'gold'
  return clusters >= 10 && percentile >= 75 ? 'silver' : 'bronze'
}
