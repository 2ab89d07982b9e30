// Views in SQL for DuckDB over the public files of a release, with the address of each file.
import type { DataIndex } from '../../schemas/answers.ts'

interface View {
  name: string
  about: string
  /** The parts of the release that it reads, by a folder in the path of their files. */
  reads: Record<string, string>
  select: string
}

/** In front of the columns of each are the release and its `as_of`. */
const VIEWS: readonly View[] = [
  {
    name: 'scores',
    about: 'a row for each entity and question, with the title of the question',
    reads: { score: 'scores', question: 'public/questions' },
    select: `score.* EXCLUDE (release, as_of), question.title, question.category
FROM score LEFT JOIN question USING (question_id)`,
  },
  {
    name: 'leaderboard',
    about: 'the ranked entities, by pool and rank',
    reads: { entity: 'entities' },
    select: `entity_type, pool, rank, entity_id, award, skill, skill_lower, skill_upper, median_skill, contested_questions
FROM entity WHERE rank IS NOT NULL
ORDER BY entity_type, pool_size DESC, pool, rank`,
  },
  {
    name: 'reference_forecasts',
    about: 'always 0.5, the base rate, the median and the market, on all questions of a pool and by category',
    reads: { scored: 'references' },
    select: `reference, entity_type, pool, category, skill, board_lower, board_upper, median_skill, market_skill, contested_questions
FROM scored`,
  },
  {
    name: 'calibration_bins',
    about: 'closing forecasts in ten bins, and how often the answer was yes',
    reads: { score: 'scores' },
    select: `entity_type, entity_id, least(floor(closing_probability * 10), 9)::INTEGER AS bin, count(*) AS questions,
  avg(closing_probability) AS mean_forecast, avg((outcome = 'yes')::INTEGER) AS share_of_yes
FROM score WHERE settled AND closing_probability IS NOT NULL
GROUP BY ALL`,
  },
  {
    name: 'forecast_outcomes',
    about: 'every forecast on a settled question, with the outcome and its squared error',
    reads: { forecast: 'public/forecasts', resolution: 'public/resolutions' },
    select: `forecast.*, outcome, resolved_at, power(probability - (outcome = 'yes')::INTEGER, 2) AS squared_error
FROM forecast JOIN resolution USING (question_id)`,
  },
  {
    name: 'question_categories',
    about: 'how many questions a category has, and how they ended',
    reads: { question: 'public/questions', resolution: 'public/resolutions' },
    select: `category, count(*) AS questions, count(outcome) AS known,
  count(*) FILTER (outcome = 'yes') AS yes, count(*) FILTER (outcome = 'no') AS no
FROM question LEFT JOIN resolution USING (question_id)
GROUP BY ALL`,
  },
]

/**
 * Returns the statements that make the views, for the files that the index lists. A view is left out if the
 * release has none of a part that it reads.
 *
 * @param address that of `/data`.
 */
export function viewsSql({ release, as_of, files }: DataIndex, address: string): string {
  const filesIn = (folder: string) =>
    files
      .filter(
        ({ path }) =>
          path.endsWith('.parquet') && path.split('/').slice(2).join('/').startsWith(`${folder}/`),
      )
      .map(({ path }) => `'${address.replaceAll("'", "''")}/${path}'`)
  const made = VIEWS.map(({ name, about, reads, select }) => {
    const parts = Object.entries(reads).map(([part, folder]) => [part, filesIn(folder)] as const)
    const missing = parts.find(([, paths]) => paths.length === 0)
    if (missing)
      return `-- There is no view ${name}: the release has no public files in ${reads[missing[0]]}/.\n`
    const read = parts.map(([part, paths]) => `${part} AS (FROM read_parquet([\n  ${paths.join(',\n  ')}]))`)
    return `-- ${name}: ${about}.
CREATE OR REPLACE VIEW ${name} AS
WITH ${read.join(', ')}
SELECT ${release} AS release, TIMESTAMPTZ '${as_of}' AS as_of, ${select};
`
  })
  return `-- Views of release ${release}, for DuckDB with its extension httpfs. Their files never change.\n\n${made.join('\n')}`
}
