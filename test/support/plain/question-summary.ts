// What is published of a settled question, straight from its definition (docs/data.md): every number is
// computed anew from the rows.
import type { QuestionSummary } from '../../../schemas/payloads.ts'
import type { Asked } from './asked.ts'
import { inByteOrder } from './order.ts'
import type { Pair } from './pair.ts'
import { roundHalfEven, sum } from './rounding.ts'
import type { Span } from './spans.ts'
import { type Life, type World, scoredPairs } from './world.ts'

type Last = Pair & { closing: number }

/** The summaries of all settled questions that somebody forecast, in order of id. */
export function summariesPlainly(world: World, isHidden: (id: string) => boolean): QuestionSummary[] {
  const { lives, voices, pairs: all } = scoredPairs(world)
  const kinds = new Map(world.entities.map(({ id, kind }) => [id, kind]))
  const settled = all.filter(({ asked: { isSettled } }) => isSettled)
  const asked = [...Map.groupBy(settled, ({ asked: { id } }) => id)]
    .map(([id, pairs]) => ({
      life: lives.find((life) => life.asked.id === id)!,
      question: pairs[0]!.asked,
      pairs,
      crowd: pairs.filter(isLast).filter(({ entity }) => voices.of.has(entity)),
    }))
    .sort((a, b) => inByteOrder(a.question.id, b.question.id))
  const errors = asked
    .filter(({ crowd }) => crowd.length > 0)
    .map(({ crowd, question }) => off(average(crowd), question))
  return asked.map(({ life, question, pairs, crowd }): QuestionSummary => {
    const shown = pairs
      .filter(isLast)
      .filter(({ entity }) => kinds.get(entity) === 'forecaster' || !isHidden(entity))
    const end = ({ entity, closing }: Last) =>
      kinds.get(entity) === 'agent'
        ? { agent_id: entity, probability: closing / 1e6 }
        : { user_id: entity, probability: closing / 1e6 }
    const inOrder = (sign: 1 | -1) => (a: Last, b: Last) =>
      sign * (off(a.closing, question) - off(b.closing, question)) ||
      b.coverage - a.coverage ||
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
      course: coursePlainly(life, voices.of),
    }
  })
}

function isLast(pair: Pair): pair is Last {
  return pair.closing !== null
}

const average = (crowd: readonly Last[]): number =>
  roundHalfEven(sum(crowd.map(({ closing }) => closing)) / crowd.length)

const off = (ppm: number, { outcome }: Asked): number => Math.abs(ppm - outcome * 1e6)

const brier = (ppm: number, question: Asked): number => roundHalfEven(off(ppm, question) ** 2 / 1e6) / 1e6

function crowdPlainly(
  crowd: readonly Last[],
  question: Asked,
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

function coursePlainly({ asked, spans }: Life, voices: ReadonlySet<string>): QuestionSummary['course'] {
  const { openedAtMs, endMs } = asked
  const course = Array.from({ length: 60 }, (_, point) => {
    const atMs = openedAtMs + Math.floor(((endMs - openedAtMs) * point) / 59)
    const isAt = ({ fromMs }: Span) => fromMs <= atMs
    const standing = [...spans.findLast(isAt)!.standing].filter(([entity]) => voices.has(entity))
    if (standing.length === 0) return null
    return roundHalfEven(sum(standing.map(([, ppm]) => ppm)) / standing.length) / 1e6
  })
  return new Set(course.filter((at) => at !== null)).size > 1 ? course : null
}
