// The catalogue of metrics: what each number means, in one place. The payload schemas, the sums of the
// scorer, the columns of the Parquet files, the examples of the API and the page `/docs/data` follow
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
const JUDGED_ERROR = measure('squared error in 1e-9', 0, 1e9)
const INSTANT = measure('milliseconds', null, null)
const PART = measure('squared error', null, null)
const NATS = measure('nats', 0, 6.9078, 'lower')
const POINTS = measure('points', null, null, 'higher')
const QUESTIONS = measure('questions', 0, null)
const FORECASTS = measure('forecasts', 0, null)
const ENTITIES = measure('entities', 0, null)
const MASS = measure('probability', 0, null)
const SKILL = measure('skill', null, 1, 'higher')
const BOUND = measure('skill', null, null, 'higher')
const RANK = measure('rank', 1, null, 'lower')
const PER_CENT = measure('per cent', 0, 100, 'higher')

/**
 * The numbers of one entity on one question, in the order of the columns of the scores; unpublished ones come
 * last.
 */
export const PAIR_METRICS = {
  coverage: pairMetric('pico', 'plain', SHARE, 'share of the question’s scheduled time that was covered'),
  brier: pairMetric('pico', 'none', ERROR, 'mean squared error over the time held'),
  log_score: pairMetric('pico', 'none', NATS, 'mean logarithmic score over the time held'),
  baseline_score: pairMetric('pico', 'plain', POINTS, 'score against a forecast that is always one half'),
  peer_score: pairMetric('pico', 'plain', POINTS, 'score against the other forecasts at the same times'),
  judged_coverage: pairMetric(
    'pico',
    'none',
    SHARE,
    'share of the question’s scheduled time that titles look at',
  ),
  judged_brier: pairMetric(
    'nano',
    'none',
    JUDGED_ERROR,
    'B: the squared error over the judged time, in 1e-9',
  ),
  average_brier: pairMetric('nano', 'none', JUDGED_ERROR, 'K: that of the others’ average'),
  median_brier: pairMetric('nano', 'none', JUDGED_ERROR, 'M: that of the median of the voices'),
  market_brier: pairMetric(
    'nano',
    'none',
    JUDGED_ERROR,
    'Q: that of the market’s price, of the average where none stood',
  ),
  judged_brier_if_other: pairMetric('nano', 'none', JUDGED_ERROR, 'B had the question ended otherwise'),
  average_brier_if_other: pairMetric('nano', 'none', JUDGED_ERROR, 'K had the question ended otherwise'),
  median_brier_if_other: pairMetric('nano', 'none', JUDGED_ERROR, 'M had the question ended otherwise'),
  market_brier_if_other: pairMetric('nano', 'none', JUDGED_ERROR, 'Q had the question ended otherwise'),
  voices: pairMetric('count', 'none', ENTITIES, 'the most others that stood at a judged instant'),
  forecasts: pairMetric('count', 'plain', FORECASTS, 'forecasts that stood before the effective close'),
  closing_probability: pairMetric(
    'ppm',
    'none',
    SHARE,
    'the forecast that stood at the effective close; null if it was withdrawn',
  ),
  lean: pairMetric(
    'pico',
    'none',
    measure('probability', -1, 1),
    'mean distance from the others’ average, with its sign',
    false,
  ),
  conviction: pairMetric('pico', 'plain', SHARE, 'time-weighted |2p − 1|', false),
  moved: pairMetric('mass', 'plain', MASS, 'probability mass moved by updates', false),
  toward: pairMetric('mass', 'plain', MASS, 'probability mass moved toward the outcome', false),
  first_at: pairMetric('instant', 'none', INSTANT, 'when the first forecast that counts was made', false),
  last_at: pairMetric('instant', 'none', INSTANT, 'when the last forecast that counts was made', false),
  judged: pairMetric('count', 'none', SHARE, '1 if there is a judged instant', false),
  priced: pairMetric('count', 'none', SHARE, '1 if a price stood at one', false),
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
  unit: 'what counts as one question: the event whose questions are told as one, or the question',
  cluster: 'what may hang together: the question’s event, or the question',
  week: 'the ISO week (UTC) in which the question closed',
  divisor: 'what the errors are divided by, because the questions of the unit count as one',
  joint:
    'how the questions of the unit depend on each other: `lone` for a question by itself, `ordered` thresholds, or `exclusive` options',
  unit_questions: 'how many questions of the unit are not annulled',
  witnessed: 'whether the service saw every forecast being made',
  contested: 'whether it is settled and has a judged instant',
  priced: 'whether a market’s price stood at a judged instant',
  gain: 'X: `average_brier` − `judged_brier`, in 1e-9; null where not contested',
  median_gain: 'X against `median_brier`',
  market_gain: 'X against `market_brier`',
  spread: 'f: how far `gain` would scatter had the question been able to end otherwise, in 1e-9',
  median_spread: 'f of `median_gain`',
  market_spread: 'f of `market_gain`',
}

/** The columns of gains, in order. */
export const GAIN_COLUMNS = [
  'gain',
  'spread',
  'median_gain',
  'median_spread',
  'market_gain',
  'market_spread',
] as const

const share = within(SHARE)
const place = z.number().int().min(1)
export const skillInterval = z.strictObject({ lower: z.number(), upper: z.number(), level: z.number() })
const interval = skillInterval.nullable()
export const boardInterval = z.strictObject({ lower: z.number(), upper: z.number() })
export const recentSkill = z.strictObject({
  questions: count,
  skill: within(SKILL).nullable(),
  skill_interval: interval,
})
export const rankInterval = z.strictObject({ lower: place, upper: place })
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
const intervalColumns = (prefix: string, name: string) => ({
  [`${prefix}_lower`]: columnOf('lower', BOUND, `lower end of the interval of the ${name}`),
  [`${prefix}_upper`]: columnOf('upper', BOUND, `upper end of the interval of the ${name}`),
})
const skillColumns = {
  ...intervalColumns('skill', 'skill'),
  skill_level: columnOf('level', SHARE, 'level of the intervals: 1 − α'),
}
const boardColumns = {
  board_lower: columnOf('lower', BOUND, 'lower end of the interval by which entities are ranked'),
  board_upper: columnOf('upper', BOUND, 'upper end of the interval by which entities are ranked'),
}
const rankColumns = {
  rank_lower: columnOf('lower', RANK, 'best rank in the interval of the rank', 'INT32'),
  rank_upper: columnOf('upper', RANK, 'worst rank in the interval of the rank', 'INT32'),
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
const exampleMedianInterval = { lower: 0.111166, upper: 0.292446, level: 0.95 }
const exampleRecent = {
  questions: 100,
  skill: 0.24,
  skill_interval: { lower: 0.101, upper: 0.379, level: 0.95 },
}
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

const skillOver = (what: string) =>
  `the share of the error of ${what} that was avoided, less what a short record could owe to luck: 1 is perfect, ` +
  '0 as good as that; null without a contested question'
const proportion = (about: string, example: number) =>
  entityMetric(
    within(measure('multiples', 0, null)),
    JUDGED,
    'DOUBLE',
    measure('multiples', 0, null),
    about,
    example,
  )

/** The metrics of one entity, in the order of the columns of the entities. */
// prettier-ignore
export const ENTITY_METRICS = {
  eligible: entityMetric(z.boolean(), COMPARED, 'BOOLEAN', measure('yes or no', null, null),
    'whether there are enough contested questions to be ranked', true),
  rank: entityMetric(place.nullable(), RANKINGS, 'INT32', RANK,
    'place among the eligible of the same kind and pool, 1 is best; null when not eligible or retired', 6),
  rank_interval: entityMetric(rankInterval.nullable(), COMPARED, rankColumns, RANK,
    'the ranks that the intervals of the board allow; null without a rank', { lower: 1, upper: 14 }),
  percentile: measured(RANKED, PER_CENT, 'among the eligible of the same kind and pool; null without a rank', 94.5),
  skill: measured(JUDGED, SKILL, skillOver('the others’ average'), 0.270765),
  skill_interval: entityMetric(interval, JUDGED, skillColumns, BOUND,
    'holds the true skill after every release at once with probability `level`; null with fewer than two clusters', exampleInterval),
  median_skill: measured(JUDGED, SKILL, skillOver('the median of the voices'), 0.201806),
  median_skill_interval: entityMetric(interval, JUDGED, intervalColumns('median_skill', 'median skill'), BOUND,
    'the same for the median skill', exampleMedianInterval),
  market_skill: measured(JUDGED, SKILL, `${skillOver('the market’s price')}, or where nothing is priced`, null),
  market_skill_interval: entityMetric(interval, JUDGED, intervalColumns('market_skill', 'market skill'), BOUND,
    'the same for the market skill; null also where nothing is priced', null),
  board_interval: entityMetric(boardInterval.nullable(), RANKINGS, boardColumns, BOUND,
    'that of the skill at the level 0.95 for everyone, so that bars of one board mean the same; null without a rank',
    { lower: 0.176308, upper: 0.365222 }),
  evidence: proportion('how often the record outweighs the ten imaginary questions', 4.2),
  pool: entityMetric(z.string().nullable(), RANKED, 'STRING', measure('id', null, null),
    'the entities of its kind that common questions tie together, by the least id among them; null without a contested question',
    '018e4b2c-0000-7000-8000-000000000001'),
  pool_size: entityMetric(count.nullable(), RANKED, 'INT32', ENTITIES, 'entities in the pool', 412),
  voice: entityMetric(z.boolean(), JUDGED, 'BOOLEAN', measure('yes or no', null, null),
    'whether others are measured against it', true),
  owner_agents: agentsOnly(entityMetric(count.nullable(), DECIDING, 'INT32', measure('agents', 0, null),
    'how many agents of its owner have a scored question; agents without an owner are counted together', 1)),
  attempt: agentsOnly(entityMetric(place.nullable(), DECIDING, 'INT32', measure('agents', 1, null),
    'it is the k-th of its owner, in the order in which the first contested question of each was settled; null without one', 1)),
  resolved_questions: counted(PUBLICATIONS, QUESTIONS, 'settled questions that were forecast', 152),
  contested_questions: counted(PUBLICATIONS, QUESTIONS,
    'those of them on which it stood beside five others, or a price, in the judged part of their lives', 148),
  priced_questions: counted(JUDGED, QUESTIONS, 'contested questions on which a price stood beside it', 0),
  pending_questions: counted(DECIDING, QUESTIONS, 'questions with an outcome that have not closed yet, which count for nothing until then', 3),
  offered_questions: counted(JUDGED, QUESTIONS, 'settled questions of its pool that were open while it was active', 210),
  answered_share: measured(JUDGED, SHARE, 'share of those on which it has a forecast; null without any', 0.72),
  clusters: counted(DECIDING, measure('clusters', 0, null), 'different events, or questions without one, among the contested questions', 91),
  priced_clusters: counted(DECIDING, measure('clusters', 0, null), 'the same among the priced questions', 0),
  forecasts: counted(METRICS, FORECASTS, 'forecasts that count on the settled questions', 104),
  witnessed_share: measured(DECIDING, SHARE, 'share of the settled questions whose forecasts the service saw being made; null without one', 1),
  coverage: measured(DECIDING, SHARE, 'mean share of the time of the contested questions in which it was judged; null without one', 0.42),
  recent: entityMetric(recentSkill, DECIDING, null, SKILL, 'the skill over the last hundred contested questions', exampleRecent),
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
    'share of the windows of 25 questions with a gain on the others’ average; null with fewer than 50 contested questions', 0.964286),
  conviction: measured(ADVANCED, SHARE, '0 is always one half, 1 is always certain', 0.45967),
  lean: measured(ADVANCED, measure('probability', -1, 1),
    'mean distance from the others’ average: who leans one way through a season of shocks has a record of one bet', -0.012),
  responsiveness: measured(ADVANCED, SHARE_GOOD, 'share of the mass moved that went toward the outcome; null if none was moved', 0.81),
  updates: counted(ADVANCED, FORECASTS, 'forecasts on a question after the first', 52),
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

/** Returns the schemas of these metrics. */
export function metricFields<Name extends EntityMetricName>(
  names: readonly Name[],
): { [N in Name]: Catalogue[N]['schema'] } {
  const fields = names.map((name) => [name, ENTITY_METRICS[name].schema])
  return Object.fromEntries(fields) as ReturnType<typeof metricFields<Name>>
}

/** Returns these metrics as an example. */
export function metricExamples<Name extends EntityMetricName>(
  names: readonly Name[],
): Pick<EntityMetrics, Name> {
  const values = names.map((name) => [name, ENTITY_METRICS[name].example])
  return Object.fromEntries(values) as Pick<EntityMetrics, Name>
}

/** Returns the schemas of the metrics that a payload holds. */
export function fieldsOf<K extends PublicationKind, E extends EntityType>(
  kind: K,
  entityType: E,
): { [Name in NameIn<K, E>]: Catalogue[Name]['schema'] } {
  return metricFields(metricsIn(kind, entityType) as NameIn<K, E>[])
}

/** Returns the metrics of a payload as an example. */
export function exampleOf<K extends PublicationKind, E extends EntityType>(
  kind: K,
  entityType: E,
): Pick<EntityMetrics, NameIn<K, E>> {
  return metricExamples(metricsIn(kind, entityType) as NameIn<K, E>[])
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
