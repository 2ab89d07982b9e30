// Scores a world of entities, questions, forecasts and prices straight from METHODOLOGY 4.0.0: every sum is
// computed anew for each span in which nothing changes.
import { type RawForecast, distinctForecasts } from './forecasts.ts'
import { published } from './rounding.ts'
import { type Asked, type EventKind, type WorldQuestion, askedOf } from './asked.ts'
import { type Title, placeOn, poolsOf, titleOf } from './board.ts'
import { recordOf } from './entity.ts'
import { YARDSTICKS, gainOver } from './judged.ts'
import { type Pair, pairsOf } from './pair.ts'
import { referencesOf } from './references.ts'
import { intervalOf, skillOf } from './skill.ts'
import { type Price, type Span, spansOf } from './spans.ts'
import { type Voices, type WorldEntity, attemptsOf, recordedVoices, voicesOf } from './voices.ts'

/** The shape of the worlds in the file of worked values. */
export interface World {
  as_of_ms: number
  entities: WorldEntity[]
  events: { event_id: string; kind: EventKind }[]
  questions: WorldQuestion[]
  /** In the order in which they were recorded. */
  forecasts: {
    entity: string
    question: string
    at_ms: number
    /** Null for a withdrawal. */
    ppm: number | null
    forecast_id: string
    witnessed: boolean
  }[]
  prices: { question: string; at_ms: number; ppm: number | null }[]
  declarations: { agent: string; at_ms: number; model: string }[]
}

const ELIGIBLE = 25
const BOARD_ALPHA = 0.05

export type PairValues = Record<string, number | string | boolean | null>

export interface ScoredPairs {
  asked: Asked[]
  lives: Life[]
  voices: Voices
  pairs: Pair[]
}

/** The pairs of a world, and who measures whom. */
export function scoredPairs(world: World): ScoredPairs {
  const asked = askedOf(world.questions, world.events, world.as_of_ms)
  const lives = livesOf(world, asked)
  const scoredBy = (voices: Voices) =>
    lives.flatMap(({ asked: question, rows, spans }) => pairsOf(question, rows, spans, voices))
  const byRecord = scoredBy(recordedVoices(world.entities))
  const settled = byRecord.filter(({ asked: { isSettled } }) => isSettled)
  const voices = voicesOf(world.entities, entitiesOf(settled))
  return { asked, lives, voices, pairs: voices.rule === 'recorded' ? byRecord : scoredBy(voices) }
}

export function scoreWorld(world: World) {
  const { as_of_ms: asOfMs, entities } = world
  const { asked, lives, voices, pairs } = scoredPairs(world)
  const contested = pairs.filter(({ isContested }) => isContested)
  const firstSettledMs = new Map(
    [...Map.groupBy(contested, ({ entity }) => entity)].map(([entity, own]) => [
      entity,
      Math.min(...own.map(({ asked: { settledAtMs } }) => settledAtMs)),
    ]),
  )
  const attempts = attemptsOf(entities, entitiesOf(pairs), firstSettledMs)
  const kindOf = new Map(entities.map(({ id, kind }) => [id, kind]))
  const edges = contested.map(({ entity, asked: { id } }) => ({ entity, question: id }))
  const pools = new Map(
    (['agent', 'forecaster'] as const).flatMap((kind) => [
      ...poolsOf(edges.filter(({ entity }) => kindOf.get(entity) === kind)),
    ]),
  )
  const asksOf = new Map(
    [...Map.groupBy(contested, ({ entity }) => `${kindOf.get(entity)}|${pools.get(entity)}`)].map(
      ([board, members]) => [board, new Set(members.map(({ asked: { id } }) => id))],
    ),
  )
  const records = entities.map((entity) => {
    const { id, kind } = entity
    const own = pairs.filter((pair) => pair.entity === id)
    const declarations = world.declarations
      .filter(({ agent, at_ms }) => agent === id && at_ms <= asOfMs)
      .sort((a, b) => a.at_ms - b.at_ms)
      .map(({ at_ms, model }) => ({ atMs: at_ms, model }))
    const record = recordOf(own, kind, attempts.get(id) ?? null, declarations)
    const pool = pools.get(id) ?? null
    const hasRetired = (entity.retired_at_ms ?? Infinity) <= asOfMs
    const isOnBoard = record.contested_questions >= ELIGIBLE && !hasRetired
    const bar = isOnBoard ? boardInterval(own) : null
    return {
      ...record,
      id,
      kind,
      voice: voices.of.has(id),
      pool,
      pool_size: pool === null ? null : countOf(pools, kindOf, pool, kind),
      ...answeredOf(own, asked, pool === null ? undefined : asksOf.get(`${kind}|${pool}`)),
      isOnBoard,
      board_interval: bar,
    }
  })
  const placed = records.map(({ isOnBoard, id, ...record }) => {
    const board = records.filter(
      (other) => other.isOnBoard && other.kind === record.kind && other.pool === record.pool,
    )
    const place = isOnBoard
      ? placeOn(board.map(onBoard), onBoard(record))
      : { rank: null, rank_interval: null, percentile: null }
    const title: Title = titleOf(record, voices.rule)
    const award = record.kind === 'agent' ? { certification: title } : { badge: title }
    return [id, { ...record, ...place, ...award }] as const
  })
  const settled = asked.filter(({ isSettled }) => isSettled)
  return {
    voice_rule: voices.rule,
    voices: entities.map(({ id }) => id).filter((id) => voices.of.has(id)),
    pairs: new Map(pairs.map((pair) => [`${pair.entity}|${pair.asked.id}`, valuesOf(pair)])),
    entities: new Map(placed),
    references: new Map(
      [...asksOf].flatMap(([board, ids]) => {
        const own = lives.filter(({ asked: { id } }) => ids.has(id))
        const categories = [...Map.groupBy(own, ({ asked: { category } }) => category)]
        return categories.flatMap(([category, members]) =>
          referencesOf(members, settled, voices.of).map(
            ([name, numbers]) => [`${board}|${category}|${name}`, numbers] as const,
          ),
        )
      }),
    ),
  }
}

const entitiesOf = (pairs: readonly Pair[]): Set<string> => new Set(pairs.map(({ entity }) => entity))

const onBoard = (record: {
  skill: number | null
  board_interval: { lower: number; upper: number } | null
}) => ({
  skill: record.skill!,
  board_interval: record.board_interval,
})

function boardInterval(own: readonly Pair[]): { lower: number; upper: number } | null {
  const gains = own.filter(({ isContested }) => isContested).map((pair) => gainOver(pair.asked, pair, 'K'))
  const interval = intervalOf(skillOf(gains), BOARD_ALPHA)
  return interval && { lower: interval.lower, upper: interval.upper }
}

function countOf(
  pools: ReadonlyMap<string, string>,
  kindOf: ReadonlyMap<string, string>,
  pool: string,
  kind: string,
): number {
  return [...pools].filter(([id, name]) => name === pool && kindOf.get(id) === kind).length
}

export interface Life {
  asked: Asked
  rows: RawForecast[]
  spans: Span[]
}

/** The rows before c of each question, without the refused ones: an agent's forecasts are not imported. */
function livesOf({ entities, forecasts, prices }: World, asked: readonly Asked[]): Life[] {
  const agents = new Set(entities.filter(({ kind }) => kind === 'agent').map(({ id }) => id))
  const taken = forecasts.filter(({ entity, witnessed }) => witnessed || !agents.has(entity))
  const rows = distinctForecasts(
    taken.map(({ entity, question, at_ms, ppm, forecast_id, witnessed }, i) => ({
      forecastId: forecast_id,
      entity,
      question,
      atMs: at_ms,
      ppm,
      recordedAtMs: i,
      imported: !agents.has(entity),
      witnessed,
    })),
  )
  return asked.map((one): Life => {
    const isBefore = ({ atMs }: { atMs: number }) => atMs < one.endMs
    const own = rows.filter(({ question }) => question === one.id).filter(isBefore)
    const said = prices
      .filter(({ question }) => question === one.id)
      .map(({ at_ms, ppm }): Price => ({ atMs: at_ms, ppm }))
      .sort((a, b) => a.atMs - b.atMs)
      .filter(isBefore)
    return { asked: one, rows: own, spans: one.endMs <= one.openedAtMs ? [] : spansOf(one, own, said) }
  })
}

/** The settled questions of the pool that were open while the entity was active, and how many it answered. */
function answeredOf(own: readonly Pair[], asked: readonly Asked[], ofPool: ReadonlySet<string> | undefined) {
  if (ofPool === undefined) return { offered_questions: 0, answered_share: null }
  const settled = own.filter(({ asked: { isSettled } }) => isSettled)
  const scored = new Set(settled.map(({ asked: { id } }) => id))
  const times = settled.flatMap(({ forecasts }) => forecasts.map(({ atMs }) => atMs))
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const offered = asked.filter(
    ({ id, isSettled, openedAtMs, endMs }) =>
      isSettled && ofPool.has(id) && ((openedAtMs <= last && endMs > first) || scored.has(id)),
  )
  const answered = offered.filter(({ id }) => scored.has(id))
  return { offered_questions: offered.length, answered_share: published(answered.length / offered.length) }
}

/** The values of a pair under the names of the worked values. */
function valuesOf(pair: Pair): PairValues {
  const { asked, came, other, isContested } = pair
  const gains = Object.fromEntries(
    YARDSTICKS.flatMap((yardstick) => {
      const { gain, spread } = gainOver(asked, pair, yardstick)
      return [
        [`X_${yardstick}`, isContested ? Number(gain) : null],
        [`f_${yardstick}`, isContested ? Number(spread) : null],
      ]
    }),
  )
  const { coverage, brier, log_score, baseline_score, peer_score, voices } = pair
  return {
    coverage,
    brier,
    log_score,
    baseline_score,
    peer_score,
    voices,
    judged_coverage: pair.judgedMs / asked.lifeMs,
    ...Object.fromEntries(Object.entries(came).map(([name, value]) => [name, Number(value)])),
    ...Object.fromEntries(Object.entries(other).map(([name, value]) => [`${name}'`, Number(value)])),
    ...gains,
    contested: isContested,
    priced: pair.isPriced,
    settled: asked.isSettled,
    settled_at_ms: asked.isSettled ? asked.settledAtMs : null,
    witnessed: pair.isWitnessed,
    unit: asked.unit,
    cluster: asked.cluster,
    week: asked.week,
    divisor: asked.divisor,
  }
}
