// `fvs import-from --check`: scores the files of a platform alone, in a store that is thrown away, and
// compares the scores with those that the platform publishes.
import { join } from 'node:path'
import { type Database, literal } from '../pipeline/duckdb.ts'
import { type ImportWork } from '../pipeline/import/compare.ts'
import type { SourceImport } from '../pipeline/import/import-source.ts'
import { importParts } from '../pipeline/import/import.ts'
import { KNOWN_NAME, defineKnownNames } from '../pipeline/import/people-names.ts'
import type { ImportSource } from '../pipeline/import/source.ts'
import { stageScores } from '../pipeline/import/source-rows.ts'
import { makeRelease } from '../pipeline/release/make.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { LocalFiles } from '../pipeline/store/local-files.ts'
import { releasePrefix } from '../pipeline/store/paths.ts'
import type { Components } from './components/components.ts'

/** The scores of one kind that the platform publishes, beside those of the same pairs here. */
export interface ComparedScores {
  score: string
  pairs: number
  largestDifference: number
  /** Published pairs that are not scored here. */
  notScored: number
}

/** The mean Brier score of a forecaster over its questions. */
export interface ForecasterBrier {
  name: string
  questions: number
  brier: number
  /**
   * The difference from the mean of (p − o)² over the files; null if a forecaster has changed a forecast,
   * since each one then counts for its time.
   */
  difference: number | null
}

export interface SourceCheck {
  scores: ComparedScores[]
  forecasters: number
  /** The forecasters with most questions. */
  briers: ForecasterBrier[]
}

const SHOWN_FORECASTERS = 10

/** Scores the parts of an import alone. The store of the components is neither read nor written. */
export async function checkSource(
  components: Components,
  context: ImportWork,
  source: ImportSource,
  { parts, idsSecret }: Pick<SourceImport, 'parts' | 'idsSecret'>,
): Promise<SourceCheck> {
  const { database } = context
  const folder = join(components.directory, 'check')
  const store = await FileStore.begin(folder)
  const apart = { ...components, store, local: new LocalFiles(store, join(folder, 'cache')) }
  await importParts({ ...context, ...apart, released: {} }, parts)
  const result = await makeRelease(apart)
  const scores = await database.rows<{ file: string }>(
    `SELECT file FROM glob(${literal(join(folder, releasePrefix(result.release), 'scores', '*.parquet'))})`,
  )
  if (scores.length === 0) return { scores: [], forecasters: 0, briers: [] }
  const pairs = `read_parquet([${scores.map(({ file }) => literal(file)).join(', ')}], hive_partitioning = false)`
  await database.run(`CREATE OR REPLACE TEMP VIEW pairs AS FROM ${pairs}`)
  await defineKnownNames({ store, database })
  const hasPublished = await stageScores(database, source, { idsSecret })
  return { scores: hasPublished ? await comparedScores(database) : [], ...(await briersOf(database)) }
}

async function comparedScores(database: Database): Promise<ComparedScores[]> {
  const rows = await database.rows<{ score: string; pairs: bigint; largest: number | null; missing: bigint }>(
    `SELECT score, count(here.value) AS pairs, max(abs(here.value - published.value)) AS largest,
       count(*) FILTER (here.value IS NULL) AS missing
     FROM published LEFT JOIN (
       SELECT entity_id, question_id, unnest(['peer_score', 'baseline_score']) AS score,
         unnest([peer_score, baseline_score]) AS value FROM pairs
     ) here USING (entity_id, question_id, score)
     GROUP BY score ORDER BY score`,
  )
  return rows.map(({ score, pairs, largest, missing }) => ({
    score,
    pairs: Number(pairs),
    largestDifference: largest ?? 0,
    notScored: Number(missing),
  }))
}

async function briersOf(database: Database): Promise<{ forecasters: number; briers: ForecasterBrier[] }> {
  const rows = await database.rows<{
    name: string
    questions: bigint
    brier: number
    difference: number | null
    forecasters: bigint
  }>(
    `WITH plain AS (
       SELECT entity_id, avg((probability - if(outcome = 'yes', 1, 0)) ** 2) AS brier, count(*) AS rows
       FROM forecasts SEMI JOIN pairs USING (entity_id, question_id) JOIN current_resolutions USING (question_id)
       GROUP BY entity_id)
     SELECT coalesce(${KNOWN_NAME}(entity_id), entity_id) AS name, count(*) AS questions, avg(pairs.brier) AS brier,
       if(any_value(plain.rows) = count(*), abs(avg(pairs.brier) - any_value(plain.brier)), NULL) AS difference,
       count(*) OVER () AS forecasters
     FROM pairs JOIN plain USING (entity_id)
     GROUP BY entity_id ORDER BY questions DESC, name LIMIT ${SHOWN_FORECASTERS}`,
  )
  return {
    forecasters: Number(rows[0]?.forecasters ?? 0n),
    briers: rows.map(({ name, questions, brier, difference }) => ({
      name,
      questions: Number(questions),
      brier,
      difference,
    })),
  }
}

/** Returns the lines that say how a check ended. */
export function linesOfCheck({ scores, forecasters, briers }: SourceCheck): string[] {
  const rest = forecasters - briers.length
  return [
    ...scores.map(
      ({ score, pairs, largestDifference, notScored }) =>
        `check: ${score} of ${pairs} pairs, largest difference ${largestDifference.toPrecision(3)}${notScored > 0 ? `; ${notScored} published pairs are not scored here` : ''}`,
    ),
    ...briers.map(
      ({ name, questions, brier, difference }) =>
        `check: Brier score of ${name} ${brier.toFixed(6)} over ${questions} questions${difference === null ? '' : `, ${difference.toPrecision(3)} from the mean over the files`}`,
    ),
    ...(rest > 0 ? [`check: and of ${rest} more forecasters`] : []),
    ...(forecasters === 0 ? ['check: the files have no forecast on a question with an outcome'] : []),
  ]
}
