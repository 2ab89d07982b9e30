// Worlds to score, drawn from a seed: fields of every size, owners of several agents, ties, events, withdrawals,
// pools that never met, questions that nobody scores or that have not closed, and, if wanted, prices.
import type { EventKind } from '../plain/asked.ts'
import type { World } from '../plain/world.ts'
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
  /** Whether there are kinds of events, prices, outcomes known earlier and declarations. */
  isRich?: boolean
}

const WEEK_MS = 7 * 86_400_000
const AS_OF_MS = 14 * WEEK_MS
const KINDS: readonly EventKind[] = ['exclusive', 'at_most_one', 'ordered', 'independent']

export function randomWorld({
  seed,
  people,
  agents,
  owners,
  questions,
  noise,
  circles = 1,
  extreme,
  isRich = false,
}: WorldShape): World {
  const random = choicesOf(seed).random
  const below = (n: number) => Math.floor(random() * n)
  const id = (kind: string, n: number) => `${kind}${String(n).padStart(3, '0')}`
  const entities: World['entities'] = [
    ...Array.from({ length: people }, (_, n) => ({
      id: id('f', n),
      kind: 'forecaster' as const,
      owner: null,
      registered_at_ms: 0,
    })),
    ...Array.from({ length: agents }, (_, n) => ({
      id: id('a', n),
      kind: 'agent' as const,
      owner: owners > 0 && random() < 0.7 ? id(random() < 0.3 ? 'domain:o' : 'o', below(owners)) : null,
      // Few instants, so that ids break ties.
      registered_at_ms: below(3),
      // A third have retired at the end, and a third retire right after it.
      retired_at_ms: [null, AS_OF_MS, AS_OF_MS + 1][n % 3]!,
    })),
  ]
  const ability = entities.map(() => noise * (0.05 + 1.9 * random()))
  const world: World = {
    as_of_ms: AS_OF_MS,
    entities,
    events: [],
    questions: [],
    forecasts: [],
    prices: [],
    declarations: [],
  }
  for (let n = 0; n < questions; n++) {
    const opened_at_ms = below(5) * WEEK_MS
    const closes_at_ms = opened_at_ms + 1 + below(11 * WEEK_MS)
    const drawn = random()
    const outcome = drawn < 0.03 ? null : drawn < 0.06 ? 'annulled' : random() < 0.5 ? 1 : 0
    const question = id('q', n)
    world.questions.push({
      id: question,
      opened_at_ms,
      closes_at_ms,
      resolved_at_ms: random() < 0.7 ? closes_at_ms : opened_at_ms + below(closes_at_ms - opened_at_ms),
      outcome,
      category: random() < 0.5 ? null : 'c',
      event_id: random() < 0.8 ? id('e', random() < 0.5 ? n : below(questions)) : null,
      known_at_ms: isRich && random() < 0.2 ? opened_at_ms + below(closes_at_ms - opened_at_ms) : null,
    })
    for (let i = isRich ? below(6) : 0; i > 0; i--) {
      const at_ms = opened_at_ms - WEEK_MS + below(closes_at_ms - opened_at_ms + WEEK_MS)
      if (world.prices.some((price) => price.question === question && price.at_ms === at_ms)) continue
      world.prices.push({ question, at_ms, ppm: random() < 0.2 ? null : below(1e6 + 1) })
    }
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
        const at = opened_at_ms - WEEK_MS + below(6) * Math.floor((closes_at_ms - opened_at_ms) / 3)
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
  if (!isRich) return world
  const named = new Set(world.questions.flatMap(({ event_id }) => event_id ?? []))
  for (const event_id of [...named].sort()) {
    if (random() < 0.7) world.events.push({ event_id, kind: KINDS[below(KINDS.length)]! })
  }
  for (const { id: agent } of entities.filter(({ kind }) => kind === 'agent')) {
    if (random() < 0.5) world.declarations.push({ agent, at_ms: below(AS_OF_MS), model: 'other' })
  }
  return world
}
