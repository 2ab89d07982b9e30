// The catalogue of metrics: what each number means, in one place. The payload schemas, the sums of the scorer, the
// columns of the Parquet files, the examples of the API and the tables of docs/data.md follow from it. Formulas:
// docs/methodology.md.
import { z } from 'zod'
import {
  type EntityColumn,
  type Measure,
  type PublicationKind,
  PUBLICATIONS,
  count,
  counted,
  entityMetric,
  measure,
  measured,
  pairMetric,
  within,
} from './metric.ts'

const SHARE = measure('share', 0, 1)
const SHARE_GOOD = measure('share', 0, 1, 'higher')
const SHARE_BAD = measure('share', 0, 1, 'lower')
const ERROR = measure('squared error', 0, 1, 'lower')
const REFERENCE = measure('squared error', 0, 1)
const PART = measure('squared error', null, null)
const NATS = measure('nats', 0, 6.9078, 'lower')
const POINTS = measure('points', null, null, 'higher')
const QUESTIONS = measure('questions', 0, null)
const FORECASTS = measure('forecasts', 0, null)
const ENTITIES = measure('entities', 0, null)
const MASS = measure('probability', 0, null)
const SKILL = measure('skill', null, 1, 'higher')
const BOUND = measure('skill', null, null, 'higher')
const DEVIATION = measure('skill', 0, null, 'lower')
const RANK = measure('rank', 1, null, 'lower')
const PER_CENT = measure('per cent', 0, 100, 'higher')

/** Of one entity on one question, in the order of the columns of the scores; those that are not published come last. */
export const PAIR_METRICS = {
  coverage: pairMetric('pico', 'plain', SHARE, 'share of the question’s scheduled time that was covered'),
  brier: pairMetric('pico', 'weighted', ERROR, 'mean squared error over the time held'),
  reference_brier: pairMetric('pico', 'weighted', REFERENCE, 'mean squared error of the reference forecast'),
  log_score: pairMetric('pico', 'weighted', NATS, 'mean logarithmic score over the time held'),
  baseline_score: pairMetric('pico', 'plain', POINTS, 'score against a forecast that is always one half'),
  peer_score: pairMetric('pico', 'plain', POINTS, 'score against the other forecasts at the same times'),
  forecasts: pairMetric('count', 'plain', FORECASTS, 'forecasts before the effective close'),
  closing_probability: pairMetric('ppm', 'none', SHARE, 'the last forecast before the effective close'),
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
} as const

export type PairMetricName = keyof typeof PAIR_METRICS

const share = within(SHARE)
const rank = z.number().int().min(1).nullable()
const interval = z.strictObject({ lower: z.number(), upper: z.number(), level: z.number() }).nullable()
const decomposition = z
  .strictObject({
    brier: share,
    miscalibration: z.number(),
    discrimination: z.number(),
    uncertainty: z.number(),
  })
  .nullable()
const bin = z.strictObject({
  lower: share,
  upper: share,
  count: count.describe('closing forecasts in this bin'),
  mean_probability: share.nullable().describe('null in an empty bin, like the rest'),
  observed_frequency: share.nullable().describe('how often the outcome was yes'),
  wilson_lower: share.nullable().describe('Wilson interval of the frequency, 95 %'),
  wilson_upper: share.nullable().describe('Wilson interval of the frequency, 95 %'),
})
const columnOf = (field: string, meaning: Measure, about: string): EntityColumn => {
  return { ...meaning, type: 'DOUBLE', field, about }
}
const intervalColumns = {
  skill_lower: columnOf('lower', BOUND, 'lower end of the interval of the skill'),
  skill_upper: columnOf('upper', BOUND, 'upper end of the interval of the skill'),
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
const exampleInterval = { lower: 0.274818, upper: 0.32621, level: 0.95 }
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
const STANDING = ['verification', 'rankings'] as const

/** Of one entity, in the order of the columns of the entities. */
// prettier-ignore
export const ENTITY_METRICS = {
  eligible: entityMetric(z.boolean(), ['metrics', 'rankings'], 'BOOLEAN', measure('yes or no', null, null),
    'whether there are enough resolved questions to be ranked', true),
  rank: entityMetric(rank, RANKINGS, 'INT32', RANK, '1 is best; null when not eligible', 26),
  percentile: measured(STANDING, PER_CENT, 'among eligible entities of the same kind; null when not eligible', 74.5),
  skill: measured(['verification', 'metrics', 'rankings'], SKILL,
    'Brier skill score against time-matched peers; null without a resolved question, ' +
      'in verifications and rankings also when not eligible', 0.300514),
  skill_interval: entityMetric(interval, ['verification', 'metrics'], intervalColumns, BOUND,
    'interval of the skill; null with fewer than two resolved questions', exampleInterval),
  resolved_questions: counted(PUBLICATIONS, QUESTIONS, 'questions with an outcome that were forecast', 52),
  forecasts: counted(METRICS, FORECASTS, 'forecasts on the resolved questions', 104),
  imported_share: measured(METRICS, SHARE, 'share of the forecasts that the operator imported', 0),
  coverage_sum: entityMetric(within(QUESTIONS), METRICS, 'DOUBLE', QUESTIONS,
    'sum over the resolved questions of the share of their time that was covered', 39.666667),
  brier: measured(METRICS, ERROR, 'Brier score, weighted by coverage', 0.085605),
  log_score: measured(METRICS, NATS, 'logarithmic score, weighted by coverage', 0.32624),
  baseline_score: measured(METRICS, POINTS, 'mean over the questions; a forecast that is always one half gets 0', 40.378743),
  peer_score: measured(METRICS, POINTS, 'mean over the questions against the other forecasts', 6.973079),
  calibration: entityMetric(decomposition, METRICS, decompositionColumns, PART,
    'CORP decomposition of the closing forecasts; null without one', exampleDecomposition),
  calibration_curve: entityMetric(z.array(bin), METRICS, null, SHARE, 'ten bins of equal width', [exampleBin]),
  expected_calibration_error: measured(METRICS, SHARE_BAD,
    'mean distance of the bins from the diagonal, weighted by their counts', 0.015386),
  skill_stability: measured(ADVANCED, SHARE_GOOD,
    'share of the windows with a gain on the peers; null with fewer than 50 resolved questions', 0.964286),
  skill_deviation: measured(ADVANCED, DEVIATION, 'standard deviation of the skill over the windows', 0.045647),
  windows: counted(ADVANCED, measure('windows', 0, null), 'windows of consecutive questions', 28),
  conviction: measured(ADVANCED, SHARE, '0 is always one half, 1 is always certain', 0.45967),
  conviction_gap: measured(ADVANCED, measure('share', -0.5, 1),
    'mean certainty minus the share of closing forecasts on the right side; above 0 is overconfident', -0.05),
  responsiveness: measured(ADVANCED, SHARE_GOOD, 'share of the mass moved that went toward the outcome; null if none was moved', 0.81),
  updates: counted(ADVANCED, FORECASTS, 'forecasts on a question after the first', 52),
  updates_per_question: measured(ADVANCED, FORECASTS, 'mean number of updates over the questions', 1),
  flip_flop: measured(ADVANCED, SHARE_BAD, 'how much forecasts moved back and forth; null without a question with three forecasts', null),
  eligible_population: entityMetric(count, RANKINGS, null, ENTITIES, 'eligible entities of the same kind', 100),
  population: entityMetric(count, RANKINGS, null, ENTITIES, 'entities of the same kind', 340),
} as const

type Catalogue = typeof ENTITY_METRICS
export type EntityMetricName = keyof Catalogue
/** The value of every metric of an entity. */
export type EntityMetrics = { -readonly [Name in EntityMetricName]: z.infer<Catalogue[Name]['schema']> }

const ENTITY_METRIC_NAMES = Object.keys(ENTITY_METRICS) as EntityMetricName[]

export function metricsIn(kind: PublicationKind): EntityMetricName[] {
  return ENTITY_METRIC_NAMES.filter((name) =>
    (ENTITY_METRICS[name].publications as readonly PublicationKind[]).includes(kind),
  )
}

type NameIn<K extends PublicationKind> = {
  [Name in EntityMetricName]: K extends Catalogue[Name]['publications'][number] ? Name : never
}[EntityMetricName]

/** The schemas of the metrics that a payload holds. */
export function fieldsOf<K extends PublicationKind>(
  kind: K,
): { [Name in NameIn<K>]: Catalogue[Name]['schema'] } {
  const fields = metricsIn(kind).map((name) => [name, ENTITY_METRICS[name].schema])
  return Object.fromEntries(fields) as ReturnType<typeof fieldsOf<K>>
}

/** What a payload holds, as an example. */
export function exampleOf<K extends PublicationKind>(kind: K): Pick<EntityMetrics, NameIn<K>> {
  const values = metricsIn(kind).map((name) => [name, ENTITY_METRICS[name].example])
  return Object.fromEntries(values) as ReturnType<typeof exampleOf<K>>
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
