// The published scores: a Parquet file of pairs in order, with their columns in published units.
import { SCORES_COMMENTS } from '../../schemas/column-comments.ts'
import { PAIR_METRICS, PUBLISHED_PAIR_METRICS } from '../../schemas/metrics.ts'
import { type Database, literal, withComments } from '../duckdb.ts'
import { DIVISOR, JOINT, UNIT } from './queries.ts'

/** The release that a file belongs to, as each of its rows says. */
export interface ReleaseStamp {
  release: number
  /** In ISO 8601, UTC. */
  as_of: string
}

/** −1 stands for null. */
const PUBLISHED_SCORES = PUBLISHED_PAIR_METRICS.map((name) => {
  const { per, column } = PAIR_METRICS[name]
  if (name === 'closing_probability') return `CASE WHEN ${name} >= 0 THEN ${name} / ${per} END AS ${name}`
  if (per !== 1) return `${name} / ${per} AS ${name}`
  return column === 'double' ? `${name}::BIGINT AS ${name}` : name
})

/** The columns of `scored` from which the published flags follow. */
const FLAGS = ['witnessed', 'judged', 'priced']

/** X and f of each yardstick, by the same double operations as in `gainsOver` and `spreadOf`. */
const GAINS = Object.entries({ average: '', median: 'median_', market: 'market_' }).map(
  ([yardstick, prefix]) => {
    const gain = `(${yardstick}_brier - judged_brier)`
    const gainIfOther = `(${yardstick}_brier_if_other - judged_brier_if_other)`
    const spread = `round_even(sqrt(greatest(0, -${gain} * ${gainIfOther})), 0)`
    return `CASE WHEN contested THEN ${gain}::BIGINT END AS ${prefix}gain,
      CASE WHEN contested THEN ${spread}::BIGINT END AS ${prefix}spread`
  },
)

/**
 * How many rows a row group of the scores has. A node reads one for a page of an entity. With fewer rows the
 * footer would be longer, which the node reads first.
 */
export const SCORES_ROW_GROUP = 10_240

/**
 * Selects the rows of `scored` from `start` up to `end`, in order, with their texts. Sorts them although they
 * are in order: sorted rows give the same row groups with any number of threads, those of a scan do not, and
 * the sort costs little.
 */
export function scoredBetween(start: number, end: number): string {
  return `(SELECT entity_type::VARCHAR AS entity_type, entity_id::VARCHAR AS entity_id, question_id::VARCHAR AS question_id,
      CASE outcome WHEN 1 THEN 'yes' ELSE 'no' END AS outcome, resolved_at, settled, settled_at,
      cluster_name::VARCHAR AS cluster, week_name::VARCHAR AS week, joint, unit_questions,
      ${[...PUBLISHED_PAIR_METRICS, ...FLAGS].join(', ')}, settled = 1 AND judged = 1 AS contested
    FROM (FROM scored WHERE rowid >= ${start} AND rowid < ${end} ORDER BY rowid))`
}

/**
 * Writes published scores as a Parquet file, even while the database runs other queries. Grain: one row per
 * entity and question, in the order of `rows`. `rows` must have the columns named here but those of the
 * release.
 *
 * Uses one thread. Several would hold many row groups of 6 MB: DuckDB cuts a sorted block into twelve, and
 * counts only the first.
 */
export async function writeScores(
  database: Database,
  path: string,
  rows: string,
  { release, as_of }: ReleaseStamp,
): Promise<void> {
  // The rows are in order, so statistics find an entity. The third level of zstd, its default, takes longer
  // for more bytes.
  await database.runByOneThread(
    `COPY (SELECT ${release}::INTEGER AS release, ${literal(as_of)}::TIMESTAMPTZ AS as_of,
      entity_type, entity_id, question_id, outcome, resolved_at, settled = 1 AS settled,
      CASE WHEN settled = 1 THEN settled_at END AS settled_at, ${UNIT} AS unit, cluster, week,
      ${DIVISOR}::INTEGER AS divisor, ${JOINT} AS joint, unit_questions::INTEGER AS unit_questions,
      ${PUBLISHED_SCORES.join(', ')}, witnessed = 1 AS witnessed, contested, priced = 1 AS priced,
      ${GAINS.join(', ')}
    FROM ${rows}) TO ${literal(path)}
    (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 2, ROW_GROUP_SIZE ${SCORES_ROW_GROUP}, WRITE_BLOOM_FILTER false,
     ${withComments(SCORES_COMMENTS)})`,
  )
}
