// What is published of a settled question, straight from its definition (docs/data.md): every number is
// computed anew from the rows.
import type { QuestionSummary } from '../../../schemas/payloads.ts'
import { inByteOrder } from './order.ts'
import type { PlainPair } from './question.ts'
import { roundHalfEven, sum } from './rounding.ts'
import { type Span, rowsBeforeClose, spansOf } from './standing.ts'
import { type PlainWorld, measuresOf, rowsOf, scoredPairs } from './world.ts'

type Question = PlainWorld['questions'][number]
type Last = PlainPair & { closing: number }

/** The summaries of all settled questions that somebody forecast, in order of id. */
export function summariesPlainly(world: PlainWorld, isHidden: (id: string) => boolean): QuestionSummary[] {
  const measures = measuresOf(world)
  const kinds = new Map(world.entities.map(({ id, kind }) => [id, kind]))
  const settled = scoredPairs(world, measures).filter(({ pair }) => pair.settled)
  const asked = [...Map.groupBy(settled, ({ question }) => question)]
    .map(([id, own]) => ({
      question: world.questions.find((question) => question.id === id)!,
      pairs: own.map(({ pair }) => pair),
      crowd: own
        .map(({ pair }) => pair)
        .filter(isLast)
        .filter(({ entity }) => measures.voices.has(entity)),
    }))
    .sort((a, b) => inByteOrder(a.question.id, b.question.id))
  const errors = asked
    .filter(({ crowd }) => crowd.length > 0)
    .map(({ crowd, question }) => off(average(crowd), question))
  return asked.map(({ question, pairs, crowd }): QuestionSummary => {
    const shown = pairs
      .filter(isLast)
      .filter(({ entity }) => kinds.get(entity) === 'forecaster' || !isHidden(entity))
    const end = ({ entity, closing }: Last) =>
      kinds.get(entity) === 'agent'
        ? { agent_id: entity, probability: closing / 1e6 }
        : { user_id: entity, probability: closing / 1e6 }
    const inOrder = (sign: 1 | -1) => (a: Last, b: Last) =>
      sign * (off(a.closing, question) - off(b.closing, question)) ||
      b.held - a.held ||
      inByteOrder(kinds.get(a.entity)!, kinds.get(b.entity)!) ||
      inByteOrder(a.entity, b.entity)
    const closest = shown.toSorted(inOrder(1)).slice(0, Math.min(5, Math.ceil(shown.length / 2)))
    const others = shown.filter((last) => !closest.includes(last))
    return {
      question_id: question.id,
      outcome: question.outcome === 1 ? 'yes' : 'no',
      agents: pairs.filter(({ entity }) => kinds.get(entity) === 'agent').length,
      forecasters: pairs.filter(({ entity }) => kinds.get(entity) === 'forecaster').length,
      withdrawn: pairs.filter(({ closing }) => closing === null).length,
      crowd: crowd.length === 0 ? null : crowdPlainly(crowd, question, errors),
      closest: closest.map(end),
      farthest: others.toSorted(inOrder(-1)).slice(0, 5).map(end),
      course: coursePlainly(world, question, measures.voices),
    }
  })
}

function isLast(pair: PlainPair): pair is Last {
  return pair.closing !== null
}

const average = (crowd: readonly Last[]): number =>
  roundHalfEven(sum(crowd.map(({ closing }) => closing)) / crowd.length)

const off = (ppm: number, { outcome }: Question): number => Math.abs(ppm - outcome! * 1e6)

const brier = (ppm: number, question: Question): number => roundHalfEven(off(ppm, question) ** 2 / 1e6) / 1e6

function crowdPlainly(
  crowd: readonly Last[],
  question: Question,
  errors: readonly number[],
): QuestionSummary['crowd'] {
  const mean = average(crowd)
  const byError = crowd.toSorted((a, b) => off(a.closing, question) - off(b.closing, question))
  const middle = byError[Math.ceil(crowd.length / 2) - 1]!.closing
  return {
    voices: crowd.length,
    average: mean / 1e6,
    average_brier: brier(mean, question),
    middle: middle / 1e6,
    middle_brier: brier(middle, question),
    counts: Array.from({ length: 20 }, (_, bin) => {
      const isIn = ({ closing }: Last) =>
        closing >= bin * 50_000 && (closing < (bin + 1) * 50_000 || (bin === 19 && closing === 1e6))
      return crowd.filter(isIn).length
    }),
    surprise: { more: errors.filter((error) => error > off(mean, question)).length, of: errors.length },
  }
}

function coursePlainly(
  world: PlainWorld,
  { id, opened_at_ms: openedAtMs, closes_at_ms: closesAtMs, resolved_at_ms, outcome }: Question,
  voices: ReadonlySet<string>,
): QuestionSummary['course'] {
  const question = { openedAtMs, closesAtMs, resolvedAtMs: resolved_at_ms!, outcome: outcome! }
  const rows = rowsOf(world).filter((row) => row.question === id)
  const spans = spansOf(question, rowsBeforeClose(question, rows))
  const lifeMs = Math.min(closesAtMs, resolved_at_ms!) - openedAtMs
  const course = Array.from({ length: 60 }, (_, point) => {
    const atMs = openedAtMs + Math.floor((lifeMs * point) / 59)
    const isAt = ({ fromMs }: Span) => fromMs <= atMs
    const standing = spans.findLast(isAt)!.standing.filter(({ entity }) => voices.has(entity))
    if (standing.length === 0) return null
    return roundHalfEven(sum(standing.map(({ ppm }) => ppm)) / standing.length) / 1e6
  })
  return new Set(course.filter((at) => at !== null)).size > 1 ? course : null
}
