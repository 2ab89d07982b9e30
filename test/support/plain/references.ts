// The reference forecasts straight from their definition (docs/methodology.md): the crowd, always 0.5 and the base
// rate on every settled question, integrated anew.
import { clusterOf } from './cluster.ts'
import { type HeldSpan, errorIntegrals } from './errors.ts'
import { type Fraction, dividedBy, wholeUnits } from './fraction.ts'
import type { RawForecast } from './forecasts.ts'
import type { Gain } from './gains.ts'
import { inByteOrder } from './order.ts'
import type { Pools } from './pools.ts'
import { bigSum, published, roundHalfEven, sum } from './rounding.ts'
import { intervalAt, skillPlainly } from './skill.ts'
import { type PlainQuestion, rowsBeforeClose, spansOf } from './standing.ts'
import type { Strengths, WholePair } from './strength.ts'

const PPM = 1_000_000
const LEAST_QUESTIONS = 25
const CONTEST_VOICES = 5

/** The errors of the crowd, and of what it is compared with, times the share of the question's time. */
interface Errors {
  reference: Fraction
  crowd: Fraction
}

export interface PlainCrowd {
  voices: number
  /** When the first of them spoke. */
  firstMs: number
  inTime: boolean
  heldMs: number
  came: Errors
  other: Errors
}

/** The crowd on a question: the average of the voices while one of them has a forecast standing. */
export function crowdPlainly(
  question: PlainQuestion,
  rows: readonly RawForecast[],
  voices: ReadonlySet<string>,
): PlainCrowd | undefined {
  const { openedAtMs, closesAtMs, outcome } = question
  const held = spansOf(question, rowsBeforeClose(question, rows)).flatMap(({ standing, ...span }) => {
    const heard = standing.filter(({ entity }) => voices.has(entity))
    return heard.length === 0 ? [] : [{ ...span, heard }]
  })
  if (held.length === 0) return undefined
  const spans = held.map(({ spanMs, heard }): HeldSpan => {
    return { spanMs, own: 0, others: heard.map(({ ppm }) => ppm) }
  })
  const horizonMs = closesAtMs - openedAtMs
  const errorsAt = (end: 0 | 1): Errors => {
    const { reference_brier, crowd_brier } = errorIntegrals(spans, end)
    return { reference: dividedBy(reference_brier, horizonMs), crowd: dividedBy(crowd_brier, horizonMs) }
  }
  return {
    voices: new Set(held.flatMap(({ heard }) => heard.map(({ entity }) => entity))).size,
    firstMs: held[0]!.fromMs,
    inTime: 4 * (closesAtMs - held[0]!.fromMs) >= horizonMs,
    heldMs: sum(spans.map(({ spanMs }) => spanMs)),
    came: errorsAt(outcome),
    other: errorsAt(outcome === 1 ? 0 : 1),
  }
}

interface PlainAsked {
  id: string
  opened_at_ms: number
  closes_at_ms: number
  resolved_at_ms: number | null
  outcome: 0 | 1 | null
  category: string | null
  event_id: string | null
}

export interface PlainReference {
  reference: 'crowd' | 'always_half' | 'base_rate'
  pool: string
  category: string | null
  skill: number
  board_interval: { lower: number; upper: number } | null
  crowd_skill: number
  brier: number
  contested_questions: number
  resolved_questions: number
}

/** The numbers of the whole world that its questions need. */
interface Field {
  asOfMs: number
  voices: ReadonlySet<string>
  pairs: readonly WholePair[]
  pools: Pools
  strengths: Strengths
}

type Settled = PlainAsked & { outcome: 0 | 1; settledMs: number }

/** By pool and category, all questions first. */
export function referencesPlainly(
  questions: readonly PlainAsked[],
  rows: readonly (RawForecast & { question: string })[],
  field: Field,
): PlainReference[] {
  const settled = questions.flatMap((question): Settled[] => {
    const { outcome, resolved_at_ms: resolvedMs, closes_at_ms: closesMs } = question
    if (outcome === null || resolvedMs === null || closesMs > field.asOfMs) return []
    return [{ ...question, outcome, settledMs: Math.max(closesMs, resolvedMs) }]
  })
  const parts = settled.flatMap((question) => {
    const pool = field.pools.ofQuestion.get(question.id)
    const own = rows.filter((row) => row.question === question.id)
    const crowd = pool === undefined ? undefined : crowdPlainly(plainly(question), own, field.voices)
    if (crowd === undefined) return []
    const { category } = question
    const one = { question, crowd, pool: pool! }
    return [{ ...one, part: null }, ...(category ? [{ ...one, part: category }] : [])]
  })
  const groups = [...Map.groupBy(parts, ({ pool, part }) => JSON.stringify([pool, part])).values()]
  return groups
    .sort(([a], [b]) => inByteOrder(a!.pool, b!.pool) || inByteOrder(a!.part ?? '', b!.part ?? ''))
    .flatMap((members) => {
      const contested = members.filter(({ crowd }) => crowd.inTime && crowd.voices >= CONTEST_VOICES)
      if (contested.length < LEAST_QUESTIONS) return []
      return (['crowd', 'always_half', 'base_rate'] as const).map((reference): PlainReference => {
        const errorOf = (one: Scored) => ownErrors(one, reference, settled)
        const gains = (against: 'standard' | 'crowd') =>
          contested.map((one) => gainOf(one, errorOf(one), against, field))
        const skill = skillPlainly(gains('standard'))
        const bounds = intervalAt(0.05, skill)
        const share = ({ question, crowd }: Scored) => crowd.heldMs / horizonOf(question)
        return {
          reference,
          pool: members[0]!.pool,
          category: members[0]!.part,
          skill: published(skill.skill!),
          board_interval: bounds && { lower: published(bounds.lower), upper: published(bounds.upper) },
          crowd_skill: published(skillPlainly(gains('crowd')).skill!),
          brier: published(
            sum(members.map((one) => Number(nano(errorOf(one).came)) / 1e9)) / sum(members.map(share)),
          ),
          contested_questions: contested.length,
          resolved_questions: members.length,
        }
      })
    })
}

interface Scored {
  question: Settled
  crowd: PlainCrowd
}

const plainly = ({ opened_at_ms, closes_at_ms, resolved_at_ms, outcome }: Settled): PlainQuestion => ({
  openedAtMs: opened_at_ms,
  closesAtMs: closes_at_ms,
  resolvedAtMs: resolved_at_ms!,
  outcome,
})

const horizonOf = ({ opened_at_ms, closes_at_ms }: Settled): number => closes_at_ms - opened_at_ms

const nano = (fraction: Fraction): bigint => wholeUnits(fraction, 10n ** 9n)

/** The share of yes among those of the category that were settled before the question opened. */
function baseRate(question: Settled, settled: readonly Settled[]): number {
  const known = settled.filter(
    ({ category, settledMs }) =>
      (category || null) === (question.category || null) && settledMs < question.opened_at_ms,
  )
  const yes = known.filter(({ outcome }) => outcome === 1).length
  return roundHalfEven((PPM * (yes + 1)) / (known.length + 2))
}

function ownErrors(
  { question, crowd }: Scored,
  reference: PlainReference['reference'],
  settled: readonly Settled[],
): { came: Fraction; other: Fraction } {
  if (reference === 'crowd') return { came: crowd.came.crowd, other: crowd.other.crowd }
  const ppm = reference === 'always_half' ? PPM / 2 : baseRate(question, settled)
  const errorAt = (end: 0 | 1): Fraction => ({
    over: BigInt(crowd.heldMs) * BigInt(ppm - end * PPM) ** 2n,
    under: BigInt(horizonOf(question)) * 10n ** 12n,
  })
  return { came: errorAt(question.outcome), other: errorAt(question.outcome === 1 ? 0 : 1) }
}

function gainOf(
  { question, crowd }: Scored,
  own: { came: Fraction; other: Fraction },
  against: 'standard' | 'crowd',
  { voices, pairs, pools, strengths }: Field,
): Gain {
  const heard = pairs.filter((pair) => pair.question === question.id && voices.has(pair.entity))
  const scale = strengths.scales.get(pools.ofQuestion.get(question.id)!)!
  const weight = bigSum(heard.map(({ w }) => w))
  const weighted = bigSum(heard.map(({ w, entity }) => w * BigInt(strengths.of.get(entity)!)))
  const factor = Number(weight * BigInt(scale)) / Number(weighted)
  const referenceAt = ({ reference, crowd: average }: Errors) =>
    against === 'crowd' ? nano(average) : BigInt(roundHalfEven(Number(nano(reference)) * factor))
  const [reference, otherReference] = [referenceAt(crowd.came), referenceAt(crowd.other)]
  const [gain, otherGain] = [reference - nano(own.came), otherReference - nano(own.other)]
  const spread = BigInt(roundHalfEven(Math.sqrt(Math.max(0, -Number(gain) * Number(otherGain)))))
  return { cluster: clusterOf(question), reference, otherReference, gain, otherGain, spread }
}
