// The catalogue of metrics: what each number means, in one place. The payload schemas, the sums of the
// scorer, the columns of the Parquet files, the examples of the API and the tables of docs/data.md follow
// from it. Formulas: docs/methodology.md.
import { z } from 'zod'
import {
  type EntityColumn,
  type Measure,
  type PublicationKind,
  PUBLICATIONS,
  agentsOnly,
  count,
  counted,
  entityMetric,
  measure,
  measured,
  pairMetric,
  within,
} from './metric.ts'
import type { EntityType } from './tables.ts'

const SHARE = measure('share', 0, 1)
const SHARE_GOOD = measure('share', 0, 1, 'higher')
const SHARE_BAD = measure('share', 0, 1, 'lower')
const ERROR = measure('squared error', 0, 1, 'lower')
const REFERENCE = measure('squared error', 0, 1)
const PART = measure('squared error', null, null)
const NATS = measure('nats', 0, 6.9078, 'lower')
const POINTS = measure('points', null, null, 'higher')
const QUESTIONS = measure('questions', 0, null)
const TURNED = measure('questions', 1, null, 'higher')
const FORECASTS = measure('forecasts', 0, null)
const ENTITIES = measure('entities', 0, null)
const MASS = measure('probability', 0, null)
const SKILL = measure('skill', null, 1, 'higher')
const BOUND = measure('skill', null, null, 'higher')
const DEVIATION = measure('skill', 0, null, 'lower')
const RANK = measure('rank', 1, null, 'lower')
const PER_CENT = measure('per cent', 0, 100, 'higher')

/**
 * The numbers of one entity on one question, in the order of the columns of the scores; unpublished ones come
 * last.
 */
export const PAIR_METRICS = {
  coverage: pairMetric('pico', 'plain', SHARE, 'share of the question’s scheduled time that was covered'),
  brier: pairMetric('pico', 'none', ERROR, 'mean squared error over the time held'),
  reference_brier: pairMetric('pico', 'none', REFERENCE, 'what the other voices got over the same time'),
  crowd_brier: pairMetric(
    'pico',
    'none',
    REFERENCE,
    'what copying the average of the other voices would have got',
  ),
  log_score: pairMetric('pico', 'none', NATS, 'mean logarithmic score over the time held'),
  baseline_score: pairMetric('pico', 'plain', POINTS, 'score against a forecast that is always one half'),
  peer_score: pairMetric('pico', 'plain', POINTS, 'score against the other forecasts at the same times'),
  voices: pairMetric('count', 'none', ENTITIES, 'voices of other owners that took part in the question'),
  forecasts: pairMetric('count', 'plain', FORECASTS, 'forecasts before the effective close'),
  closing_probability: pairMetric(
    'ppm',
    'none',
    SHARE,
    'the forecast that stood at the effective close; null if it was withdrawn',
  ),
  imported: pairMetric('count', 'plain', FORECASTS, 'forecasts that the operator imported', false),
  conviction: pairMetric('pico', 'plain', SHARE, 'time-weighted |2p − 1|', false),
  moved: pairMetric('mass', 'plain', MASS, 'probability mass moved by updates', false),
  toward: pairMetric('mass', 'plain', MASS, 'probability mass moved toward the outcome', false),
  flip_flop: pairMetric(
    'pico',
    'present',
    SHARE,
    '(Σ|Δp| − (max − min)) / (k − 2) over k ≥ 3 forecasts',
    false,
  ),
  brier_part: pairMetric('pico', 'plain', ERROR, 'coverage times `brier`', false),
  reference_part: pairMetric('pico', 'none', REFERENCE, 'coverage times `reference_brier`', false),
  crowd_part: pairMetric('pico', 'none', REFERENCE, 'coverage times `crowd_brier`', false),
  brier_other: pairMetric('pico', 'none', ERROR, '`brier_part` had the question ended otherwise', false),
  reference_other: pairMetric(
    'pico',
    'none',
    REFERENCE,
    '`reference_part` had the question ended otherwise',
    false,
  ),
  crowd_other: pairMetric('pico', 'none', REFERENCE, '`crowd_part` had the question ended otherwise', false),
  own_weight: pairMetric('count', 'none', SHARE, 'the weight of its own voice in the field, in 1e-4', false),
  in_time: pairMetric('count', 'none', SHARE, '1 if its first forecast stood early enough', false),
  witnessed: pairMetric('count', 'plain', SHARE, '1 if the service saw every forecast being made', false),
} as const

type Pairs = typeof PAIR_METRICS
export type PairMetricName = keyof Pairs
export type PublishedPairMetric = {
  [Name in PairMetricName]: Pairs[Name]['published'] extends true ? Name : never
}[PairMetricName]

export const PUBLISHED_PAIR_METRICS = Object.entries(PAIR_METRICS)
  .filter(([, { published }]) => published)
  .map(([name]) => name as PublishedPairMetric)

/** The meanings of the other columns of the scores. */
export const PAIR_ABOUT = {
  outcome: '`yes` or `no`',
  resolved_at: 'when the outcome became known',
  settled: 'whether the question had closed by `as_of`; only then it counts in the numbers of an entity',
  settled_at: 'when the outcome was known and the question had closed; null until then',
  cluster: 'the question’s event, or the week of its category',
  witnessed: 'whether the service saw every forecast being made',
  contested: 'whether it is settled, was forecast in time, and at least five other voices took part',
  standard_reference: 'coverage times what a middle field would have got, in 1e-9; null where not contested',
  gain_if_other: '`standard_reference` − coverage × `brier` had the question ended otherwise, in 1e-9',
  crowd_gain_if_other: 'coverage × (`crowd_brier` − `brier`) had the question ended otherwise, in 1e-9',
  spread: 'how far the gain would scatter had the question been able to end otherwise, in 1e-9',
}

const share = within(SHARE)
const place = z.number().int().min(1)
export const skillInterval = z.strictObject({ lower: z.number(), upper: z.number(), level: z.number() })
const interval = skillInterval.nullable()
export const boardInterval = z.strictObject({ lower: z.number(), upper: z.number() })
export const rankInterval = z.strictObject({ lower: place, upper: place })
export const percentileInterval = z.strictObject({ lower: within(PER_CENT), upper: within(PER_CENT) })
export const recalibrationBlock = z.strictObject({
  lower: share.describe('the least forecast in the block'),
  upper: share.describe('the greatest forecast in the block'),
  frequency: share.describe('how often the outcome was yes: the recalibrated forecast'),
  count: count.describe('closing forecasts in the block'),
})
export const decomposition = z.strictObject({
  brier: share,
  miscalibration: z.number(),
  discrimination: z.number(),
  uncertainty: z.number(),
})
export const calibrationBin = z.strictObject({
  lower: share,
  upper: share,
  count: count.describe('closing forecasts in this bin'),
  mean_probability: share.nullable().describe('null in an empty bin, like the rest'),
  observed_frequency: share.nullable().describe('how often the outcome was yes'),
  wilson_lower: share.nullable().describe('Wilson interval of the frequency, 95 %'),
  wilson_upper: share.nullable().describe('Wilson interval of the frequency, 95 %'),
})
const columnOf = (
  field: string,
  meaning: Measure,
  about: string,
  type: EntityColumn['type'] = 'DOUBLE',
): EntityColumn => {
  return { ...meaning, type, field, about }
}
const skillColumns = {
  skill_lower: columnOf('lower', BOUND, 'lower end of the interval of the skill'),
  skill_upper: columnOf('upper', BOUND, 'upper end of the interval of the skill'),
  skill_level: columnOf('level', SHARE, 'level of both intervals: 1 − α'),
}
const crowdColumns = {
  crowd_skill_lower: columnOf('lower', BOUND, 'lower end of the interval of the crowd skill'),
  crowd_skill_upper: columnOf('upper', BOUND, 'upper end of the interval of the crowd skill'),
}
const boardColumns = {
  board_lower: columnOf('lower', BOUND, 'lower end of the interval by which entities are ranked'),
  board_upper: columnOf('upper', BOUND, 'upper end of the interval by which entities are ranked'),
}
const strictColumns = {
  strict_skill_lower: columnOf('lower', BOUND, 'lower end of the strict interval of the skill'),
  strict_skill_upper: columnOf('upper', BOUND, 'upper end of the strict interval of the skill'),
}
const rankColumns = {
  rank_lower: columnOf('lower', RANK, 'best rank in the interval of the rank', 'INT32'),
  rank_upper: columnOf('upper', RANK, 'worst rank in the interval of the rank', 'INT32'),
}
const percentileColumns = {
  percentile_lower: columnOf('lower', PER_CENT, 'lower end of the interval of the percentile'),
  percentile_upper: columnOf('upper', PER_CENT, 'upper end of the interval of the percentile'),
}
const decompositionColumns = {
  closing_brier: columnOf('brier', ERROR, 'mean Brier score of the closing forecasts'),
  miscalibration: columnOf(
    'miscalibration',
    { ...PART, better: 'lower' },
    'error that recalibration would remove',
  ),
  discrimination: columnOf(
    'discrimination',
    { ...PART, better: 'higher' },
    'how well yes and no are told apart',
  ),
  uncertainty: columnOf('uncertainty', PART, 'error of always forecasting the base rate'),
}
const exampleInterval = { lower: 0.176308, upper: 0.365222, level: 0.95 }
const exampleStrictInterval = { lower: 0.150217, upper: 0.351944, level: 0.95 }
const exampleCrowdInterval = { lower: 0.081166, upper: 0.262446, level: 0.95 }
const exampleBlock = { lower: 0.01, upper: 0.09, frequency: 0.029412, count: 34 }
const exampleDecomposition = {
  brier: 0.075,
  miscalibration: 0.075,
  discrimination: 0.226331,
  uncertainty: 0.226331,
}
const exampleBin = {
  lower: 0,
  upper: 0.1,
  count: 34,
  mean_probability: 0.05,
  observed_frequency: 0.029412,
  wilson_lower: 0.005208,
  wilson_upper: 0.149167,
}

/** The payloads that hold a metric. */
const METRICS = ['metrics'] as const
const ADVANCED = ['advanced_metrics'] as const
const RANKINGS = ['rankings'] as const
const COMPARED = ['metrics', 'rankings'] as const
const JUDGED = ['verification', 'metrics', 'rankings'] as const
const RANKED = ['verification', 'rankings'] as const
const DECIDING = ['verification', 'metrics'] as const

/** The metrics of one entity, in the order of the columns of the entities. */
// prettier-ignore
export const ENTITY_METRICS = {
  eligible: entityMetric(z.boolean(), COMPARED, 'BOOLEAN', measure('yes or no', null, null),
    'whether there are enough contested questions to be ranked', true),
  rank: entityMetric(place.nullable(), RANKINGS, 'INT32', RANK,
    'place among the eligible entities of the same kind and pool, 1 is best; null when not eligible or retired', 6),
  rank_interval: entityMetric(rankInterval.nullable(), COMPARED, rankColumns, RANK,
    'the ranks that the intervals of the board allow; null without a rank', { lower: 1, upper: 14 }),
  percentile: measured(RANKED, PER_CENT, 'among the eligible voices of the same kind and pool; null without a rank', 94.5),
  percentile_interval: entityMetric(percentileInterval.nullable(), RANKED, percentileColumns, PER_CENT,
    'the percentiles that the interval of the skill allows; null without a rank', { lower: 86.5, upper: 99.5 }),
  skill: measured(JUDGED, SKILL,
    '1 is perfect, 0 as good as the middle voice on the same questions; null without a contested question, ' +
      'in verifications and rankings also when not eligible', 0.270765),
  skill_interval: entityMetric(interval, JUDGED, skillColumns, BOUND,
    'holds the true skill after every release at once with probability `level`; null with fewer than two clusters', exampleInterval),
  board_interval: entityMetric(boardInterval.nullable(), RANKINGS, boardColumns, BOUND,
    'the same at the level 0.95 for everyone, so that bars of one board mean the same', { lower: 0.176308, upper: 0.365222 }),
  strict_skill_interval: entityMetric(interval, DECIDING, strictColumns, BOUND,
    'the interval against a reference that is never above what the others got; null with fewer than two clusters', exampleStrictInterval),
  evidence: entityMetric(within(measure('multiples', 0, null)), DECIDING, 'DOUBLE', measure('multiples', 0, null),
    'how often the record outweighs the ten imaginary questions', 4.2),
  fragility: entityMetric(place.nullable(), METRICS, 'INT32', TURNED,
    'how many outcomes would have to be different, the greatest losses first, for it to show no skill above 0; null where it shows none or all are not enough', 9),
  crowd_skill: measured(COMPARED, SKILL,
    'the same against copying the average of the other voices; null without a contested question', 0.171806),
  crowd_skill_interval: entityMetric(interval, JUDGED, crowdColumns, BOUND,
    'interval of the crowd skill; null with fewer than two clusters', exampleCrowdInterval),
  crowd_evidence: entityMetric(within(measure('multiples', 0, null)), DECIDING, 'DOUBLE', measure('multiples', 0, null),
    'the same for the crowd skill', 3.9),
  pool: entityMetric(z.string().nullable(), RANKED, 'STRING', measure('id', null, null),
    'the pool of entities that common questions tie together, by the least id of its voices; null without a contested question',
    '018e4b2c-0000-7000-8000-000000000001'),
  pool_size: entityMetric(count.nullable(), RANKINGS, 'INT32', ENTITIES, 'entities in the pool', 412),
  strength: entityMetric(within(measure('share', 0.05, 10)), COMPARED, 'DOUBLE', measure('share', 0.05, 10, 'lower'),
    'how much error it makes where the middle voice makes 1', 0.729235),
  voice: entityMetric(z.boolean(), COMPARED, 'BOOLEAN', measure('yes or no', null, null),
    'whether others are measured against it', true),
  owner_agents: agentsOnly(entityMetric(count.nullable(), DECIDING, 'INT32', measure('agents', 0, null),
    'how many agents of its owner have a scored question; agents without a recorded owner are counted together', 1)),
  attempt: agentsOnly(entityMetric(place.nullable(), DECIDING, 'INT32', measure('agents', 1, null),
    'it is the k-th of its owner, in the order in which the first contested question of each was settled; null without one', 1)),
  resolved_questions: counted(PUBLICATIONS, QUESTIONS, 'settled questions that were forecast', 152),
  contested_questions: counted(PUBLICATIONS, QUESTIONS, 'those of them that were forecast in time and on which five other voices took part', 148),
  pending_questions: counted(DECIDING, QUESTIONS, 'questions with an outcome that have not closed yet, which count for nothing until then', 3),
  clusters: counted(DECIDING, measure('clusters', 0, null), 'different events, or weeks of a category, among the contested questions', 91),
  forecasts: counted(METRICS, FORECASTS, 'forecasts on the settled questions', 104),
  imported_share: measured(METRICS, SHARE, 'share of the forecasts that the operator imported', 0),
  witnessed_share: measured(DECIDING, SHARE, 'share of the settled questions whose forecasts the service saw being made; null without one', 1),
  coverage: measured(DECIDING, SHARE, 'mean share of the time of the contested questions that was covered; null without one', 0.62),
  coverage_sum: entityMetric(within(QUESTIONS), METRICS, 'DOUBLE', QUESTIONS,
    'sum over the settled questions of the share of their time that was covered', 39.666667),
  brier: measured(METRICS, ERROR, 'Brier score, weighted by coverage', 0.085605),
  log_score: measured(METRICS, NATS, 'logarithmic score, weighted by coverage', 0.32624),
  baseline_score: measured(METRICS, POINTS, 'mean over the questions; a forecast that is always one half gets 0', 40.378743),
  peer_score: measured(METRICS, POINTS, 'mean over the questions against the other forecasts', 6.973079),
  calibration: entityMetric(decomposition.nullable(), METRICS, decompositionColumns, PART,
    'CORP decomposition of the closing forecasts; null without one', exampleDecomposition),
  corp: entityMetric(z.array(recalibrationBlock).nullable(), METRICS, null, SHARE,
    'recalibration curve: the blocks of the isotonic fit, ascending; null without a closing forecast', [exampleBlock]),
  calibration_curve: entityMetric(z.array(calibrationBin), METRICS, null, SHARE, 'ten bins of equal width', [exampleBin]),
  expected_calibration_error: measured(METRICS, SHARE_BAD,
    'mean distance of the bins from the diagonal, weighted by their counts', 0.015386),
  skill_stability: measured(ADVANCED, SHARE_GOOD,
    'share of the windows with a gain on the reference; null with fewer than 50 contested questions', 0.964286),
  skill_deviation: measured(ADVANCED, DEVIATION, 'standard deviation of the skill over the windows', 0.045647),
  windows: counted(ADVANCED, measure('windows', 0, null), 'windows of consecutive contested questions', 28),
  conviction: measured(ADVANCED, SHARE, '0 is always one half, 1 is always certain', 0.45967),
  conviction_gap: measured(ADVANCED, measure('share', -0.5, 1),
    'mean certainty minus the share of closing forecasts on the right side; above 0 is overconfident', -0.05),
  responsiveness: measured(ADVANCED, SHARE_GOOD, 'share of the mass moved that went toward the outcome; null if none was moved', 0.81),
  updates: counted(ADVANCED, FORECASTS, 'forecasts on a question after the first', 52),
  updates_per_question: measured(ADVANCED, FORECASTS, 'mean number of updates over the questions', 1),
  flip_flop: measured(ADVANCED, SHARE_BAD, 'how much forecasts moved back and forth; null without a question with three forecasts', null),
  field_size: entityMetric(count, RANKINGS, 'INT32', ENTITIES,
    'the field of its percentile: the eligible voices of the same kind and pool, and itself if it has a rank', 100),
  population: entityMetric(count, RANKINGS, null, ENTITIES, 'entities of the same kind', 340),
} as const

type Catalogue = typeof ENTITY_METRICS
export type EntityMetricName = keyof Catalogue
/** The value of every metric of an entity. */
export type EntityMetrics = { -readonly [Name in EntityMetricName]: z.infer<Catalogue[Name]['schema']> }

const ENTITY_METRIC_NAMES = Object.keys(ENTITY_METRICS) as EntityMetricName[]

/** Returns the metrics that a payload of a kind of entity holds. */
export function metricsIn(kind: PublicationKind, entityType: EntityType): EntityMetricName[] {
  return ENTITY_METRIC_NAMES.filter((name) => {
    const metric = ENTITY_METRICS[name]
    const isOfKind = (metric.publications as readonly PublicationKind[]).includes(kind)
    return isOfKind && (!('only' in metric) || metric.only === entityType)
  })
}

/** The schemas of the published metrics of a pair. */
export const pairFields = Object.fromEntries(
  PUBLISHED_PAIR_METRICS.map((name) => {
    const metric = PAIR_METRICS[name]
    const value = metric.per === 1 ? within(metric).int() : within(metric)
    const schema = name === 'closing_probability' ? value.nullable() : value
    return [name, schema.describe(metric.about)]
  }),
) as Record<Exclude<PublishedPairMetric, 'closing_probability'>, z.ZodNumber> & {
  closing_probability: z.ZodNullable<z.ZodNumber>
}

type NameIn<K extends PublicationKind, E extends EntityType> = {
  [Name in EntityMetricName]: K extends Catalogue[Name]['publications'][number]
    ? Catalogue[Name] extends { only: infer Only }
      ? E extends Only
        ? Name
        : never
      : Name
    : never
}[EntityMetricName]

/** Returns the schemas of the metrics that a payload holds. */
export function fieldsOf<K extends PublicationKind, E extends EntityType>(
  kind: K,
  entityType: E,
): { [Name in NameIn<K, E>]: Catalogue[Name]['schema'] } {
  const fields = metricsIn(kind, entityType).map((name) => [name, ENTITY_METRICS[name].schema])
  return Object.fromEntries(fields) as ReturnType<typeof fieldsOf<K, E>>
}

/** Returns the metrics of a payload as an example. */
export function exampleOf<K extends PublicationKind, E extends EntityType>(
  kind: K,
  entityType: E,
): Pick<EntityMetrics, NameIn<K, E>> {
  const values = metricsIn(kind, entityType).map((name) => [name, ENTITY_METRICS[name].example])
  return Object.fromEntries(values) as ReturnType<typeof exampleOf<K, E>>
}

/** The columns of the Parquet files of entities, in order, each with the metric that it holds. */
export const ENTITY_COLUMNS: readonly (EntityColumn & { name: string; metric: EntityMetricName })[] =
  ENTITY_METRIC_NAMES.flatMap((metric) => {
    const { columns, unit, range, better, about } = ENTITY_METRICS[metric]
    if (columns === null) return []
    const own =
      typeof columns === 'string' ? { [metric]: { unit, range, better, about, type: columns } } : columns
    return Object.entries(own).map(([name, column]) => ({ ...column, name, metric }))
  })
