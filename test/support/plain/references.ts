// Reference forecasts: scored as entities are, measured by all voices (METHODOLOGY §4).
import { roundHalfEven } from './rounding.ts'
import type { Asked } from './asked.ts'
import { orNull } from './entity.ts'
import { type Held, gainOver, judge, medianOf } from './judged.ts'
import type { Span } from './spans.ts'
import { intervalOf, skillOf } from './skill.ts'

const LEAST_UNITS = 25
const BASE_RATE_QUESTIONS = 10
const ALPHA = 0.05

interface Instant {
  voices: readonly number[]
  price: number | null
}

/** What each says at an instant, in ppm; null says nothing. */
const REFERENCES = {
  half: () => 500_000,
  base_rate: (_: Instant, rate: number) => rate,
  middle: ({ voices }: Instant) => (voices.length === 0 ? null : medianOf(voices)),
  market: ({ price }: Instant) => price,
} satisfies Record<string, (at: Instant, rate: number) => number | null>

export interface SettledQuestion {
  asked: Asked
  spans: readonly Span[]
}

/** `questions` are the settled ones of a category on which somebody of the pool has a contested pair. */
export function referencesOf(
  questions: readonly SettledQuestion[],
  settled: readonly Asked[],
  voices: ReadonlySet<string>,
) {
  return Object.entries(REFERENCES).flatMap(([name, say]) => {
    const judged = questions.flatMap(({ asked, spans }) => {
      const rate = baseRate(asked, settled)
      const held = spans.flatMap((span): Held[] => {
        const heard = [...span.standing].filter(([id]) => voices.has(id)).map(([, ppm]) => ppm)
        const own = say({ voices: heard, price: span.price }, rate)
        return own === null ? [] : [{ span, own, against: { others: heard, voices: heard } }]
      })
      const scored = judge(asked, held)
      return scored.judgedMs === 0 ? [] : [{ asked, scored }]
    })
    const over = (yardstick: 'K' | 'M' | 'Q') =>
      skillOf(judged.map(({ asked, scored }) => gainOver(asked, scored, yardstick)))
    const average = over('K')
    if (average.units < LEAST_UNITS) return []
    const priced = judged.filter(({ scored }) => scored.isPriced)
    const numbers = {
      contested_questions: average.units,
      clusters: average.clusters,
      priced_questions: new Set(priced.map(({ asked }) => asked.unit)).size,
      skill: orNull(average.skill),
      median_skill: orNull(over('M').skill),
      market_skill: priced.length === 0 ? null : orNull(over('Q').skill),
      skill_interval: intervalOf(average, ALPHA),
      evidence: orNull(average.evidence),
    }
    return [[name, numbers] as const]
  })
}

/** The share of yes in the category among the questions that were settled before this one opened, in ppm. */
function baseRate({ category, openedAtMs }: Asked, settled: readonly Asked[]): number {
  const known = settled.filter((other) => other.category === category && other.settledAtMs < openedAtMs)
  if (known.length < BASE_RATE_QUESTIONS) return 500_000
  return roundHalfEven((1e6 * known.filter(({ outcome }) => outcome === 1).length) / known.length)
}
