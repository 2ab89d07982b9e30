// Computes three of the scores by window functions of DuckDB alone, as a peer of the service's scorer.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database, literal, parquet } from '../pipeline/duckdb.ts'
import { orderEveryone, scoreEveryone } from '../pipeline/engine/duckdb-engine.ts'
import { METHODOLOGY } from '../pipeline/scoring/methodology.ts'
import { attachAll } from '../pipeline/tables/views.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { LocalFiles } from '../pipeline/store/local-files.ts'
import { statisticsOf } from '../pipeline/tables/delta.ts'
import { currentVersions } from '../pipeline/tables/delta-log.ts'
import { WORLD_END } from './world.ts'

export interface ScorerFigures {
  forecasts: number
  pairs: number
  serviceSeconds: number
  sqlSeconds: number
  /** Pairs that only one of the two has. */
  unmatched: number
  /** The greatest absolute difference of each score that both compute. */
  differences: { brier: number; baseline: number; peer: number }
}

/**
 * Grain: one row per entity and question. N and Σ ln q̃ are running sums over the instants at which something
 * changes; their integrals are read where an entity's forecast begins and ends.
 */
const SQL_SCORES = `
  WITH standing_forecast AS (
    SELECT question_id, entity_id, outcome = 'yes' AS yes, probability, closes_ms, horizon_ms,
      greatest(epoch_ms(forecast_at), opened_ms) AS at_ms,
      ln(greatest(0.001, least(0.999, CASE outcome WHEN 'yes' THEN probability ELSE 1 - probability END))) AS log_q
    FROM forecasts JOIN (
      SELECT question_id, outcome, epoch_ms(opened_at) AS opened_ms, epoch_ms(closes_at) - epoch_ms(opened_at) AS horizon_ms,
        least(epoch_ms(closes_at), epoch_ms(resolved_at)) AS closes_ms
      FROM questions JOIN resolutions USING (question_id)) USING (question_id)
    WHERE epoch_ms(forecast_at) < closes_ms
    QUALIFY row_number() OVER (PARTITION BY question_id, entity_id, at_ms ORDER BY forecast_at DESC, forecast_id DESC) = 1
  ), spell AS (
    SELECT *, lag(log_q) OVER own AS log_q_before, coalesce(lead(at_ms) OVER own, closes_ms) AS until_ms
    FROM standing_forecast WINDOW own AS (PARTITION BY question_id, entity_id ORDER BY at_ms)
  ), change AS (
    SELECT question_id, at_ms, any_value(closes_ms) AS closes_ms, count(*) FILTER (log_q_before IS NULL) AS entering,
      sum(log_q - coalesce(log_q_before, 0)) AS log_change
    FROM spell GROUP BY question_id, at_ms
  ), field AS (
    SELECT question_id, at_ms, closes_ms, sum(entering) OVER before AS n, sum(log_change) OVER before AS logs,
      coalesce(lead(at_ms) OVER (PARTITION BY question_id ORDER BY at_ms), closes_ms) - at_ms AS span_ms
    FROM change WINDOW before AS (PARTITION BY question_id ORDER BY at_ms)
  ), step AS (
    SELECT question_id, at_ms, at_ms + span_ms AS next_ms, closes_ms,
      CASE WHEN n > 1 THEN n / (n - 1) * span_ms ELSE 0 END AS own, CASE WHEN n > 1 THEN logs / (n - 1) * span_ms ELSE 0 END AS everyone
    FROM field
  ), integral AS (
    SELECT question_id, next_ms AS at_ms, sum(own) OVER past AS own, sum(everyone) OVER past AS everyone
    FROM step WINDOW past AS (PARTITION BY question_id ORDER BY at_ms)
    UNION ALL SELECT question_id, min(at_ms), 0, 0 FROM step GROUP BY question_id
  )
  SELECT spell.question_id, entity_id,
    sum((probability - yes::INTEGER) ** 2 * (until_ms - spell.at_ms)) / sum(until_ms - spell.at_ms) AS brier,
    sum(100 * (1 + log_q / ln(2)) * (until_ms - spell.at_ms)) / any_value(horizon_ms) AS baseline_score,
    sum(100 * (log_q * (finish.own - start.own) - (finish.everyone - start.everyone))) / any_value(horizon_ms) AS peer_score
  FROM spell
  JOIN integral start ON start.question_id = spell.question_id AND start.at_ms = spell.at_ms
  JOIN integral finish ON finish.question_id = spell.question_id AND finish.at_ms = spell.until_ms
  GROUP BY spell.question_id, entity_id`

/**
 * Scores the store with each of the two and compares. Both read the tables and write a Parquet file, with two
 * threads.
 */
export async function compareScorers(root: string): Promise<ScorerFigures> {
  const directory = await mkdtemp(join(tmpdir(), 'fvs-bench-scorers-'))
  try {
    const store = await FileStore.begin(root)
    const local = new LocalFiles(store, directory)
    const versions = await currentVersions(store)
    const open = () => Database.open({ threads: 2, memoryLimit: '1GB', directory })
    const ours = join(directory, 'service.parquet')
    const theirs = join(directory, 'sql.parquet')

    let started = performance.now()
    const pairs = await (async () => {
      using database = await open()
      const context = { methodology: METHODOLOGY, database, local }
      const world = await orderEveryone(context, versions, WORLD_END)
      await scoreEveryone(context, world)
      await world.writeScores(ours, 0, world.pairs, { release: 1, as_of: '2026-01-01T00:00:00.000Z' })
      return world.pairs
    })()
    const serviceSeconds = (performance.now() - started) / 1000

    using database = await open()
    started = performance.now()
    await attachAll(database, local, versions)
    await database.run(
      `COPY (${SQL_SCORES} ORDER BY entity_id, question_id) TO ${literal(theirs)} (FORMAT parquet, COMPRESSION zstd)`,
    )
    const sqlSeconds = (performance.now() - started) / 1000

    const [compared] = await database.rows<
      Record<'brier' | 'baseline' | 'peer', number> & { unmatched: bigint }
    >(
      `SELECT max(abs(s.brier - q.brier)) AS brier, max(abs(s.baseline_score - q.baseline_score)) AS baseline,
         max(abs(s.peer_score - q.peer_score)) AS peer, count(*) FILTER (s.brier IS NULL OR q.brier IS NULL) AS unmatched
       FROM ${parquet([ours])} s FULL JOIN ${parquet([theirs])} q USING (entity_id, question_id)`,
    )
    const { unmatched, ...differences } = compared!
    return {
      forecasts: versions.forecasts.files.reduce((sum, file) => sum + statisticsOf(file).numRecords, 0),
      pairs,
      serviceSeconds,
      sqlSeconds,
      unmatched: Number(unmatched),
      differences,
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
