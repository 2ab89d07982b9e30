// Worlds to score, drawn from a seed: fields of every size, owners of several agents, ties, events, withdrawals,
// pools that never met, and questions that nobody scores or that have not closed.
import type { PlainWorld } from '../plain/world.ts'
import { choicesOf } from '../faults/seeded.ts'

export interface WorldShape {
  seed: number
  people: number
  agents: number
  /** Of these the agents are, or of nobody. */
  owners: number
  questions: number
  /** How far forecasts are from the outcome: 0 for perfect ones by everyone, 1 for noise. */
  noise: number
  /** Every entity answers the questions of one of these alone; one if left out. */
  circles?: number
  /** The first person, and the rest, are right or wrong all the time. */
  extreme?: 'right' | 'wrong' | undefined
}

const DAY_MS = 86_400_000
const AS_OF_MS = 14 * DAY_MS

export function randomWorld({
  seed,
  people,
  agents,
  owners,
  questions,
  noise,
  circles = 1,
  extreme,
}: WorldShape): PlainWorld {
  const random = choicesOf(seed).random
  const below = (n: number) => Math.floor(random() * n)
  const id = (kind: string, n: number) => `${kind}${String(n).padStart(3, '0')}`
  const entities: PlainWorld['entities'] = [
    ...Array.from({ length: people }, (_, n) => ({
      id: id('f', n),
      kind: 'forecaster' as const,
      owner: null,
      registered_at_ms: 0,
    })),
    ...Array.from({ length: agents }, (_, n) => ({
      id: id('a', n),
      kind: 'agent' as const,
      owner: owners > 0 && random() < 0.7 ? id('o', below(owners)) : null,
      // Few instants, so that ids break ties.
      registered_at_ms: below(3),
      // A third have retired at the end, and a third retire right after it.
      retired_at_ms: [null, AS_OF_MS, AS_OF_MS + 1][n % 3]!,
    })),
  ]
  const ability = entities.map(() => noise * (0.05 + 1.9 * random()))
  const world: PlainWorld = { as_of_ms: AS_OF_MS, entities, questions: [], forecasts: [] }
  for (let n = 0; n < questions; n++) {
    const opened_at_ms = below(5) * DAY_MS
    const closes_at_ms = opened_at_ms + 1 + below(11 * DAY_MS)
    const outcome = random() < 0.05 ? null : random() < 0.5 ? 1 : 0
    const question = id('q', n)
    world.questions.push({
      id: question,
      opened_at_ms,
      closes_at_ms,
      resolved_at_ms: random() < 0.7 ? closes_at_ms : opened_at_ms + below(closes_at_ms - opened_at_ms),
      outcome,
      category: random() < 0.5 ? null : 'c',
      event_id: random() < 0.8 ? id('e', random() < 0.5 ? n : below(questions)) : null,
    })
    for (const [index, entity] of entities.entries()) {
      if (random() < 0.1 || index % circles !== n % circles) continue
      const forecasts = 1 + below(4)
      for (let i = 0; i < forecasts; i++) {
        const error = Math.min(1e6, Math.floor(ability[index]! * random() ** 2 * 1e6))
        const isFirst = index === 0
        const own = extreme === undefined ? error : (extreme === 'right') === isFirst ? 0 : 1e6
        const ppm = outcome === 1 ? 1e6 - own : own
        // Before the opening, at it, in the middle, at the close and after it; in one millisecond with
        // others.
        const at = opened_at_ms - DAY_MS + below(6) * Math.floor((closes_at_ms - opened_at_ms) / 3)
        const between = random() < 0.5 ? at : opened_at_ms + below(closes_at_ms - opened_at_ms)
        const number = String(below(1e9)).padStart(9, '0')
        world.forecasts.push({
          entity: entity.id,
          question,
          at_ms: between,
          ppm: extreme === undefined && random() < 0.07 ? null : ppm,
          forecast_id: `${number}${world.forecasts.length}`,
          witnessed: entity.kind === 'agent' || random() < 0.5,
        })
      }
    }
  }
  return world
}
