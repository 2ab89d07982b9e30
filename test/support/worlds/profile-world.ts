// Profiles as pages get them, of a small scored world: one entity of any ability among twenty equal people.
import type { Profile } from '../../../api/pages/profile/profile.ts'
import { type Day, milestones } from '../../../api/pages/profile/figures.ts'
import type { Payloads } from '../../../api/pages/profile/subject.ts'
import { callPath } from '../../../schemas/entity-paths.ts'
import { logistic, normal, sfc32 } from '../../../jobs/sandbox/random.ts'
import { canonical } from '../../../pipeline/proof/canonical.ts'
import { type RankedEntity, payloadsOf } from '../../../pipeline/release/payloads.ts'
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { fromPico } from '../../../pipeline/scoring/round.ts'
import { type RunningPoint, runningSkill } from '../../../pipeline/scoring/running.ts'
import { skillByTopic } from '../../../pipeline/scoring/topics.ts'
import type { HeldFacts } from '../../../schemas/entity-facts.ts'
import type { EntityType } from '../../../schemas/tables.ts'
import type { Environment } from '../../../schemas/values.ts'
import type { World } from '../plain/world.ts'
import { scoreWorld } from './scored-world.ts'

const START = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
export const SUBJECT = '01a20012-a424-73ad-bf0a-2c0410e39446'

export interface Circumstances extends Partial<Omit<RankedEntity, 'facts'>> {
  facts?: Partial<HeldFacts>
  kind?: EntityType
  questions: number
  /** How many more have an outcome and have not closed. */
  pending?: number
  /** How many other people answer each question. */
  peers?: number
  /** Of what it reads and of what its peers read, in log-odds. */
  error?: number
  peerError?: number
  /** The part of the truth, in log-odds, that its peers read; by default all of it. */
  peersKnow?: number
  /** False where the peers are agents that nobody answers for. */
  hasOwners?: boolean
  imported?: 0 | 1
  environment?: Environment
  publicUrl?: string
  /** The titles of the questions. */
  titleOf?: (number: number) => string
}

export function profileIn({
  kind = 'agent',
  questions,
  pending = 0,
  peers = 20,
  error = 0.2,
  peerError = 0.8,
  peersKnow = 1,
  hasOwners = true,
  imported = 0,
  environment = 'production',
  publicUrl,
  titleOf = (number) => `Will coin ${number} show heads?`,
  facts = {},
  ...told
}: Circumstances): Profile {
  const world = worldOf({
    kind,
    questions,
    pending,
    peers,
    error,
    peerError,
    peersKnow,
    hasOwners,
    imported,
    retiredAtMs: facts.retired_at ?? null,
  })
  const { voiceRule, entities, pairs } = scoreWorld(world)
  const scored = entities.find(({ entityId }) => entityId === SUBJECT)!
  const asOf = world.as_of_ms
  const claims = kind === 'agent' ? { name: 'crow', model_type: 'reads well' } : { name: 'A. Forecaster' }
  const known = { ...scored.facts, ...claims, last_forecast_at: asOf - DAY_MS, ...facts }
  const entity = { ...scored, ...told, facts: known }
  const provenance = {
    methodology_version: METHODOLOGY.version,
    release: 12,
    as_of: new Date(asOf).toISOString(),
    environment,
  }
  const { profile, ...payloads } = payloadsOf(entity, voiceRule, provenance)
  const published = { ...payloads, profile: { ...profile, name: known.name } } as unknown as Payloads
  const own = pairs.filter((pair) => pair.entity === SUBJECT)
  const scores = own.map((pair) => {
    const { asked } = pair
    const number = Number(pair.question.slice(-12))
    return {
      question_id: pair.question,
      title: titleOf(number),
      category: number % 3 === 0 ? null : 'weather',
      outcome: world.questions[number]!.outcome === 1 ? ('yes' as const) : ('no' as const),
      resolved_at: new Date(world.questions[number]!.resolved_at_ms!),
      settled_at: asked.isSettled ? new Date(asked.settledAtMs) : null,
      coverage: fromPico(pair.coverage),
      brier: fromPico(pair.brier),
      settled: asked.isSettled,
      closing_probability: pair.closing_probability < 0 ? null : pair.closing_probability / 1e6,
      contested: asked.isSettled && pair.judged === 1,
      judged_coverage: fromPico(pair.judged_coverage),
      judged_brier: pair.judged_brier,
      judged_brier_if_other: pair.judged_brier_if_other,
      average_brier: pair.average_brier,
      average_brier_if_other: pair.average_brier_if_other,
      unit: asked.unit,
      cluster: asked.cluster,
      week: asked.week,
      joint: 'lone' as const,
    }
  })
  const { parameters } = METHODOLOGY
  const attempt = 'attempt' in published.metrics ? published.metrics.attempt : null
  const wanted = milestones(published.metrics.contested_questions, parameters)
  const running = runningSkill(METHODOLOGY, scores, attempt, wanted)
  return {
    site: { environment, publicUrl },
    published,
    verification: {
      text: new TextDecoder().decode(canonical(published.verification)),
      signature: `v1=${'5a'.repeat(32)}`,
      proofPath:
        environment === 'production' ? `${callPath(kind, SUBJECT)}/verification/proof?release=12` : undefined,
    },
    scores,
    running,
    days: weeksOf(running, asOf),
    topics: skillByTopic(METHODOLOGY, scores),
    replaced: [],
    rules: parameters,
    boardSize: published.rankings.rank === null ? 0 : 14,
  }
}

/** Five days, a week apart, on which the skill was as after a fifth of the questions, two fifths and so on. */
function weeksOf(running: readonly RunningPoint[], asOfMs: number): Day[] {
  if (running.length < 5) return []
  return Array.from({ length: 5 }, (_, week) => {
    const { skill, interval } = running[Math.ceil(((week + 1) * running.length) / 5) - 1]!
    return {
      date: new Date(asOfMs - (4 - week) * 7 * DAY_MS).toISOString().slice(0, 10),
      skill,
      interval: interval && { ...interval, level: 0.95 },
      rank: 5 - week,
      places: week === 0 ? null : { lower: 5 - week, upper: 6 - week },
    }
  })
}

/**
 * Each question is open for a day and has a cluster of its own; everyone answers it once, in its first half.
 */
function worldOf({
  kind,
  questions,
  pending,
  peers,
  error,
  peerError,
  peersKnow,
  hasOwners,
  imported,
  retiredAtMs,
}: Required<
  Pick<
    Circumstances,
    | 'kind'
    | 'questions'
    | 'pending'
    | 'peers'
    | 'error'
    | 'peerError'
    | 'peersKnow'
    | 'hasOwners'
    | 'imported'
  >
> & { retiredAtMs: number | null }): World {
  const random = sfc32(11)
  const ids = Array.from({ length: peers }, (_, peer) => idOf('0000', peer))
  const entities = [
    ...ids.map((id) =>
      hasOwners
        ? { id, kind: 'forecaster' as const, owner: null, registered_at_ms: 0 }
        : { id, kind: 'agent' as const, owner: null, registered_at_ms: START },
    ),
    kind === 'agent'
      ? { id: SUBJECT, kind, owner: 'rook', registered_at_ms: START - DAY_MS, retired_at_ms: retiredAtMs }
      : { id: SUBJECT, kind, owner: null, registered_at_ms: 0 },
  ]
  const world: World = {
    as_of_ms: START + (questions + 2) * DAY_MS,
    entities,
    events: [],
    questions: [],
    forecasts: [],
    prices: [],
    declarations: [],
  }
  for (let number = 0; number < questions + pending; number++) {
    const truth = 3 * normal(random)
    const opened = START + Math.min(number, questions) * DAY_MS
    const id = idOf('1111', number)
    world.questions.push({
      id,
      category: null,
      event_id: String(number),
      opened_at_ms: opened,
      closes_at_ms: number < questions ? opened + DAY_MS : world.as_of_ms + DAY_MS,
      resolved_at_ms: opened + DAY_MS + 3_600_000,
      known_at_ms: null,
      outcome: random() < logistic(truth) ? 1 : 0,
    })
    for (const { id: entity } of entities) {
      const noise = normal(random)
      const read = entity === SUBJECT ? truth + error * noise : peersKnow * truth + peerError * noise
      const at = opened + Math.floor(random() * (DAY_MS / 2))
      world.forecasts.push({
        entity,
        question: id,
        at_ms: at,
        ppm: Math.round(logistic(read) * 1e6),
        forecast_id: `${number} ${entity}`,
        witnessed: entity !== SUBJECT || imported === 0,
      })
    }
  }
  return world
}

function idOf(group: string, number: number): string {
  return `01a20012-a424-7${group.slice(1)}-8000-${String(number).padStart(12, '0')}`
}
