// `fvs import-from --check`: scores the files of a platform alone, in a store that is thrown away, and
// compares the scores with the platform's own.
import { join } from 'node:path'
import { type Database, literal } from '../../pipeline/duckdb.ts'
import { type ImportWork } from '../../pipeline/import/compare.ts'
import type { SourceImport } from '../../pipeline/import/import-source.ts'
import { importParts } from '../../pipeline/import/import.ts'
import { KNOWN_NAME, defineKnownNames } from '../../pipeline/import/people-names.ts'
import type { ImportSource } from '../../pipeline/import/source.ts'
import { stageSaid, stageScores } from '../../pipeline/import/source-check.ts'
import { countOf } from '../../pipeline/import/take-in.ts'
import { makeRelease } from '../../pipeline/release/make.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import type { Components } from '../components/components.ts'

/** The platform's scores of one kind, beside the scores of the same pairs here. */
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
  /** How many questions with an outcome the forecaster has in the files, and how many forecasts on them. */
  questionsInFiles: number
  forecastsInFiles: number
  /**
   * The difference from the mean of (p − o)² over the forecasts in the files. Null if the forecaster has
   * changed a forecast, because each then counts for its time.
   */
  difference: number | null
}

export interface SourceCheck {
  scores: ComparedScores[]
  forecasters: number
  /** How many forecasters have a forecast on a question with an outcome in the files, but no score here. */
  notScored: number
  /** The forecasters with the most questions. */
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
  // Log only warnings: nobody needs the events of a store that is thrown away.
  const logger = components.logger.child({}, { level: 'warn' })
  const apart = { ...components, logger, store, local: new LocalFiles(store, join(folder, 'cache')) }
  await importParts({ ...context, ...apart, released: {} }, parts)
  const result = await makeRelease(apart)
  const scores = await database.rows<{ file: string }>(
    `SELECT file FROM glob(${literal(join(folder, releasePrefix(result.release), 'scores', '*.parquet'))})`,
  )
  const hasSaid = await stageSaid(database, source)
  if (scores.length === 0) {
    const notScored = hasSaid ? await countOf({ database }, '(SELECT DISTINCT entity_id FROM said)') : 0
    return { scores: [], forecasters: 0, notScored, briers: [] }
  }
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

async function briersOf(database: Database): Promise<Omit<SourceCheck, 'scores'>> {
  const rows = await database.rows<{
    name: string
    questions: bigint
    brier: number
    questions_in_files: bigint
    forecasts_in_files: bigint
    difference: number | null
    forecasters: bigint
    not_scored: bigint
  }>(
    `WITH plain AS (
       SELECT entity_id, avg((probability - if(outcome = 'yes', 1, 0)) ** 2) AS brier, count(*) AS forecasts,
         count(DISTINCT question_id) AS questions, count(DISTINCT (question_id, forecast_at)) AS moments
       FROM said GROUP BY entity_id),
     scored AS (SELECT entity_id, count(*) AS questions, avg(brier) AS brier FROM pairs GROUP BY entity_id)
     SELECT coalesce(${KNOWN_NAME}(entity_id), entity_id) AS name, scored.questions, scored.brier,
       plain.questions AS questions_in_files, plain.forecasts AS forecasts_in_files,
       if(plain.moments = plain.questions, abs(scored.brier - plain.brier), NULL) AS difference,
       count(scored.brier) OVER () AS forecasters, count(*) OVER () - count(scored.brier) OVER () AS not_scored
     FROM plain LEFT JOIN scored USING (entity_id)
     ORDER BY scored.questions DESC NULLS LAST, name LIMIT ${SHOWN_FORECASTERS}`,
  )
  const scored = rows.filter((row) => row.brier !== null)
  return {
    forecasters: Number(rows[0]?.forecasters ?? 0n),
    notScored: Number(rows[0]?.not_scored ?? 0n),
    briers: scored.map((row) => ({
      name: row.name,
      questions: Number(row.questions),
      brier: row.brier,
      questionsInFiles: Number(row.questions_in_files),
      forecastsInFiles: Number(row.forecasts_in_files),
      difference: row.difference,
    })),
  }
}

/** Returns the lines of a check's result. */
export function linesOfCheck({ scores, forecasters, notScored, briers }: SourceCheck): string[] {
  const rest = forecasters - briers.length
  return [
    ...scores.map(
      ({ score, pairs, largestDifference, notScored: missing }) =>
        `check: ${score} of ${pairs} pairs, largest difference ${largestDifference.toPrecision(3)}${missing > 0 ? `; ${missing} published pairs are not scored here` : ''}`,
    ),
    ...briers.map(lineOfBrier),
    ...(rest > 0 ? [`check: and of ${rest} more forecasters`] : []),
    ...(notScored > 0
      ? [
          `check: ${notScored} forecasters of the files have forecasts on questions with an outcome, and no score here`,
        ]
      : []),
    ...(forecasters + notScored === 0
      ? ['check: the files have no forecast on a question with an outcome']
      : []),
  ]
}

function lineOfBrier(brier: ForecasterBrier): string {
  const lost = brier.questionsInFiles - brier.questions
  const questions = `${brier.questions} question${brier.questions === 1 ? '' : 's'}${lost > 0 ? ` of the ${brier.questionsInFiles} that the files have` : ''}`
  const mean =
    brier.difference === null
      ? ''
      : `, ${brier.difference.toPrecision(3)} from the mean over the ${brier.forecastsInFiles} forecast${brier.forecastsInFiles === 1 ? '' : 's'} of the files`
  return `check: Brier score of ${brier.name} ${brier.brier.toFixed(6)} over ${questions}${mean}`
}
