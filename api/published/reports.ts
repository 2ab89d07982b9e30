// Why each question of an agent counts or does not.
import type { NamedEntity, UnscoredQuestion } from '../../pipeline/release/forecasts-of.ts'
import type { ScoreRow } from '../../pipeline/release/score-rows.ts'
import type { ReportedQuestion } from '../../schemas/worked-out.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Scores } from './scores.ts'
import type { WorkedOut } from './worked-out.ts'
import type { Asker } from '../turns.ts'
import { NANO } from '../../schemas/values.ts'

const ROW_BYTES = 300

export type ReportRow = Omit<ReportedQuestion, 'title'>

interface Source {
  scores: Pick<Scores, 'newest'>
  /** The questions with an outcome of which an entity said something, without the scored ones. */
  unscored: (
    manifest: ReleaseManifest,
    entity: NamedEntity,
    scored: ReadonlySet<string>,
  ) => Promise<UnscoredQuestion[]>
  rules: ReportRules
}

/** The parameters that say when a forecast is judged. */
interface ReportRules {
  least_others: number
  judged_share: number
}

export class Reports {
  readonly #source: Source
  readonly #kept: WorkedOut

  constructor(source: Source, kept: WorkedOut) {
    this.#source = source
    this.#kept = kept
  }

  /** Returns a row for each question of an agent in a release. */
  rowsOf(manifest: ReleaseManifest, agentId: string, asker: Asker): Promise<ReportRow[]> {
    return this.#kept.answerUnder(`report ${manifest.release} ${agentId}`, asker, async () => {
      const value = await this.#make(manifest, agentId)
      return { value, sizeBytes: ROW_BYTES * (1 + value.length) }
    })
  }

  async #make(manifest: ReleaseManifest, agentId: string): Promise<ReportRow[]> {
    const { scores, unscored, rules } = this.#source
    const entity = { entityType: 'agent', entityId: agentId } as const
    const rows: ReportRow[] = []
    for await (const some of scores.newest(manifest, 'agent', agentId)) {
      rows.push(...some.map((row) => scoredRow(row, rules)))
    }
    const scored = new Set(rows.map(({ question_id }) => question_id))
    const others = await unscored(manifest, entity, scored)
    return [...rows, ...others.map(unscoredRow)]
  }
}

function scoredRow(row: ScoreRow, rules: ReportRules): ReportRow {
  const { question_id, outcome, coverage, gain } = row
  return {
    question_id,
    outcome,
    coverage: six(coverage),
    gain: gain === null ? null : six(gain / NANO),
    ...whyNotCounted(row, rules),
  }
}

function whyNotCounted(
  { settled, contested }: ScoreRow,
  { least_others: others, judged_share: share }: ReportRules,
): Pick<ReportRow, 'reason' | 'detail'> {
  if (contested) return { reason: null, detail: null }
  if (!settled) return { reason: 'not-settled', detail: 'it counts from its scheduled close on' }
  const detail = `in the first ${share * 100} % of its life no forecast stood beside ${others} others, nor a market’s price`
  return { reason: 'unmeasured', detail }
}

function unscoredRow({ question_id, outcome, isLate }: UnscoredQuestion): ReportRow {
  const [reason, detail] =
    outcome === 'annulled'
      ? (['annulled', 'it was annulled'] as const)
      : isLate
        ? (['late', 'every forecast came after it had closed or its outcome was known'] as const)
        : (['withdrawn', 'no forecast stood while it was open'] as const)
  return { question_id, outcome, coverage: 0, gain: null, reason, detail }
}

/** With six decimals, as published numbers have. */
function six(value: number): number {
  return Number(value.toFixed(6)) + 0
}
