// The catalogue of metrics. The payload schemas, the scorer's sums, the columns of the Parquet files and the tables of
// docs/data.md are made from it. The formulas are in docs/methodology.md.
import { z } from 'zod'
import {
  type Meaning,
  PUBLICATIONS,
  type PairMetric,
  type ParquetType,
  type PublicationKind,
  type Publications,
  count,
  counted,
  entityMetric,
  flag,
  measured,
  measuredOrNull,
  within,
} from './metric.ts'

const SHARE = { unit: 'share', range: [0, 1] } as const
const ERROR = { unit: 'squared error', range: [0, 1], better: 'lower' } as const
const POINTS = { unit: 'points', range: [null, null], better: 'higher' } as const
const PICO = { scale: 'pico', column: 'double' } as const
const COUNT = {
  scale: 'count',
  column: 'int32',
  unit: 'forecasts',
  range: [0, null],
  better: 'neither',
} as const
const MASS = {
  scale: 'ppm',
  column: 'double',
  unit: 'probability',
  range: [0, null],
  better: 'neither',
} as const

/** In the order of the columns of a release's scores. */
export const PAIR_METRICS = {
  coverage: {
    ...PICO,
    ...SHARE,
    better: 'neither',
    published: true,
    sum: 'plain',
    about: 'share of the question’s scheduled time that was covered',
  },
  brier: {
    ...PICO,
    ...ERROR,
    published: true,
    sum: 'weighted',
    about: 'mean squared error over the time held',
  },
  reference_brier: {
    ...PICO,
    ...ERROR,
    better: 'neither',
    published: true,
    sum: 'weighted',
    about: 'mean squared error of the reference forecast over the same time',
  },
  log_score: {
    ...PICO,
    unit: 'nats',
    range: [0.001, 6.9078],
    better: 'lower',
    published: true,
    sum: 'weighted',
    about: 'mean logarithmic score over the time held',
  },
  baseline_score: {
    ...PICO,
    ...POINTS,
    published: true,
    sum: 'plain',
    about: 'score against a forecast that is always one half',
  },
  peer_score: {
    ...PICO,
    ...POINTS,
    published: true,
    sum: 'plain',
    about: 'score against the other forecasts at the same times',
  },
  forecasts: { ...COUNT, published: true, sum: 'plain', about: 'forecasts before the effective close' },
  closing_probability: {
    ...SHARE,
    scale: 'ppm',
    column: 'int32',
    better: 'neither',
    published: true,
    sum: 'none',
    about: 'the last forecast before the effective close',
  },
  imported: { ...COUNT, published: false, sum: 'plain', about: 'forecasts that the operator imported' },
  conviction: {
    ...PICO,
    ...SHARE,
    better: 'neither',
    published: false,
    sum: 'plain',
    about: 'time-weighted |2p − 1|',
  },
  moved: { ...MASS, published: false, sum: 'plain', about: 'probability mass moved by updates' },
  toward: { ...MASS, published: false, sum: 'plain', about: 'probability mass moved toward the outcome' },
  flip_flop: {
    ...PICO,
    ...SHARE,
    better: 'neither',
    published: false,
    sum: 'present',
    about: '(Σ|Δp| − (max − min)) / (k − 2) over k ≥ 3 forecasts',
  },
} as const satisfies Record<string, PairMetric>

export type PairMetricName = keyof typeof PAIR_METRICS

const bound = { unit: 'skill', range: [null, null], better: 'higher', type: 'DOUBLE' } as const
const part = { unit: 'squared error', range: [null, null], better: 'neither', type: 'DOUBLE' } as const

/** In the order of the columns of a release's entities. */
export const ENTITY_METRICS = {
  eligible: flag(['metrics', 'rankings'], 'whether there are enough resolved questions to be ranked'),
  rank: entityMetric(z.number().int().min(1).nullable(), ['rankings'], 'INT32', {
    unit: 'rank',
    range: [1, null],
    better: 'lower',
    about: '1 is best; null when not eligible',
  }),
  percentile: measuredOrNull(['verification', 'rankings'], {
    unit: 'per cent',
    range: [0, 100],
    better: 'higher',
    about: 'among eligible entities of the same kind; null when not eligible',
  }),
  skill: measuredOrNull(['verification', 'metrics', 'rankings'], {
    unit: 'skill',
    range: [null, 1],
    better: 'higher',
    about:
      'Brier skill score against time-matched peers; null without a resolved question, and in verifications and rankings also when not eligible',
  }),
  skill_interval: entityMetric(
    z.strictObject({ lower: z.number(), upper: z.number(), level: z.number() }).nullable(),
    ['verification', 'metrics'],
    {
      skill_lower: { ...bound, field: 'lower', about: 'lower end of the interval of the skill' },
      skill_upper: { ...bound, field: 'upper', about: 'upper end of the interval of the skill' },
    },
    {
      unit: 'skill',
      range: [null, null],
      better: 'higher',
      about: 'interval of the skill; null with fewer than two resolved questions',
    },
  ),
  resolved_questions: counted(PUBLICATIONS, 'questions', 'resolved questions that the entity forecast'),
  forecasts: counted(['metrics'], 'forecasts', 'forecasts on the resolved questions'),
  imported_share: measuredOrNull(['metrics'], {
    ...SHARE,
    better: 'neither',
    about: 'share of the forecasts that the operator imported',
  }),
  coverage_sum: measured(['metrics'], {
    unit: 'questions',
    range: [0, null],
    better: 'neither',
    about: 'sum over the resolved questions of the share of their time that was covered',
  }),
  brier: measuredOrNull(['metrics'], { ...ERROR, about: 'Brier score, weighted by coverage' }),
  log_score: measuredOrNull(['metrics'], {
    unit: 'nats',
    range: [0, null],
    better: 'lower',
    about: 'logarithmic score, weighted by coverage',
  }),
  baseline_score: measuredOrNull(['metrics'], {
    ...POINTS,
    about: 'mean score over the questions; a forecast that is always one half gets 0',
  }),
  peer_score: measuredOrNull(['metrics'], {
    ...POINTS,
    about: 'mean score over the questions against the other forecasts at the same times',
  }),
  calibration: entityMetric(
    z
      .strictObject({
        brier: within([0, 1]),
        miscalibration: z.number(),
        discrimination: z.number(),
        uncertainty: z.number(),
      })
      .nullable(),
    ['metrics'],
    {
      closing_brier: {
        ...ERROR,
        type: 'DOUBLE',
        field: 'brier',
        about: 'mean Brier score of the closing forecasts',
      },
      miscalibration: {
        ...part,
        better: 'lower',
        field: 'miscalibration',
        about: 'error that recalibration would remove',
      },
      discrimination: {
        ...part,
        better: 'higher',
        field: 'discrimination',
        about: 'how well yes and no are told apart',
      },
      uncertainty: {
        ...part,
        field: 'uncertainty',
        about: 'error of always forecasting the base rate',
      },
    },
    {
      unit: 'squared error',
      range: [null, null],
      better: 'neither',
      about: 'CORP decomposition of the closing forecasts; null without one',
    },
  ),
  calibration_curve: entityMetric(
    z.array(
      z.strictObject({
        lower: within([0, 1]),
        upper: within([0, 1]),
        count: count.describe('closing forecasts in this bin'),
        mean_probability: within([0, 1]).nullable().describe('mean closing forecast; null in an empty bin'),
        observed_frequency: within([0, 1])
          .nullable()
          .describe('share of outcomes that were yes; null in an empty bin'),
        wilson_lower: within([0, 1])
          .nullable()
          .describe('lower end of the 95 % Wilson interval of the frequency; null in an empty bin'),
        wilson_upper: within([0, 1])
          .nullable()
          .describe('upper end of the 95 % Wilson interval of the frequency; null in an empty bin'),
      }),
    ),
    ['metrics'],
    null,
    { ...SHARE, better: 'neither', about: 'ten bins of equal width' },
  ),
  expected_calibration_error: measuredOrNull(['metrics'], {
    ...SHARE,
    better: 'lower',
    about: 'mean distance of the bins from the diagonal, weighted by their counts',
  }),
  skill_stability: measuredOrNull(['advanced_metrics'], {
    ...SHARE,
    better: 'higher',
    about: 'share of the windows with a gain on the peers; null with fewer than 50 resolved questions',
  }),
  skill_deviation: measuredOrNull(['advanced_metrics'], {
    unit: 'skill',
    range: [0, null],
    better: 'lower',
    about: 'standard deviation of the skill over the windows',
  }),
  windows: counted(['advanced_metrics'], 'windows', 'windows of consecutive questions'),
  conviction: measuredOrNull(['advanced_metrics'], {
    ...SHARE,
    better: 'neither',
    about: '0 is always one half, 1 is always certain',
  }),
  conviction_gap: measuredOrNull(['advanced_metrics'], {
    unit: 'share',
    range: [-0.5, 1],
    better: 'neither',
    about: 'mean certainty minus the share of closing forecasts on the right side; above 0 is overconfident',
  }),
  responsiveness: measuredOrNull(['advanced_metrics'], {
    ...SHARE,
    better: 'higher',
    about: 'share of the probability mass moved that went toward the outcome; null if none was moved',
  }),
  updates: counted(['advanced_metrics'], 'forecasts', 'forecasts after the first on each question'),
  updates_per_question: measuredOrNull(['advanced_metrics'], {
    unit: 'forecasts',
    range: [0, null],
    better: 'neither',
    about: 'mean number of updates over the questions',
  }),
  flip_flop: measuredOrNull(['advanced_metrics'], {
    ...SHARE,
    better: 'lower',
    about: 'how much forecasts moved back and forth; null without a question with at least three forecasts',
  }),
  eligible_population: counted(['rankings'], 'entities', 'eligible entities of the same kind', false),
  population: counted(['rankings'], 'entities', 'entities of the same kind', false),
} as const

type Catalogue = typeof ENTITY_METRICS
export type EntityMetricName = keyof Catalogue
/** The values of all metrics of an entity. */
export type EntityMetrics = { -readonly [Name in EntityMetricName]: z.infer<Catalogue[Name]['schema']> }

const ENTITY_METRIC_NAMES = Object.keys(ENTITY_METRICS) as EntityMetricName[]

type FieldsOf<K extends PublicationKind> = {
  [
    Name in EntityMetricName as K extends Catalogue[Name]['publications'][number] ? Name : never
  ]: Catalogue[Name]['schema']
}

export function metricsIn(kind: PublicationKind): EntityMetricName[] {
  return ENTITY_METRIC_NAMES.filter((name) =>
    (ENTITY_METRICS[name].publications as Publications).includes(kind),
  )
}

/** The schemas of the metrics that a payload holds. */
export function fieldsOf<K extends PublicationKind>(kind: K): FieldsOf<K> {
  return Object.fromEntries(metricsIn(kind).map((name) => [name, ENTITY_METRICS[name].schema])) as FieldsOf<K>
}

export interface EntityColumn extends Meaning {
  name: string
  type: ParquetType
  metric: EntityMetricName
  /** The field of a group that the column holds. */
  field: string | undefined
}

/** The columns of the Parquet files of entities, in order. */
export const ENTITY_COLUMNS: readonly EntityColumn[] = ENTITY_METRIC_NAMES.flatMap((name): EntityColumn[] => {
  const { columns, unit, range, better, about } = ENTITY_METRICS[name]
  if (columns === null) return []
  if (typeof columns === 'string') {
    return [{ name, type: columns, metric: name, field: undefined, unit, range, better, about }]
  }
  return Object.entries(columns).map(([column, { field, ...rest }]) => ({
    ...rest,
    name: column,
    metric: name,
    field,
  }))
})
