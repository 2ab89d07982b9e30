// Checks an operator's rows and converts them to table rows. All input columns are text, whatever the file's format.
import { NAME_CHARACTERS, nameFault } from '../../schemas/names.ts'
import { ENTITY_TYPES, OUTCOMES } from '../../schemas/tables.ts'
import { literal } from '../duckdb.ts'

export const IMPORTS = ['questions', 'resolutions', 'forecasters', 'forecasts'] as const
export type ImportKind = (typeof IMPORTS)[number]

/** A check of one input row. `fails` is an SQL condition that is true for a bad row; `reason` is the SQL of a text. */
interface Check {
  fails: string
  reason: string
}

const NAME_FAULT = 'name_fault'

/** Functions that the checks call. */
export const CHECK_FUNCTIONS = { [NAME_FAULT]: nameFault }

interface ImportSpec {
  required: readonly string[]
  optional: readonly string[]
  /** Made in this order, after those for missing values of required columns. */
  checks: readonly Check[]
  /** The columns of the table, for a row that passed every check. Grain: one row per input row. */
  select: string
  /** Finds a row of the tables that says the same as the row `fresh`, which is then not imported. */
  known: string
}

const shown = (column: string) =>
  `'"' || CASE WHEN length(${column}) > 80 THEN left(${column}, 80) || '…' ELSE ${column} END || '"'`

const missing = (column: string): Check => ({
  fails: `${column} IS NULL`,
  reason: literal(`${column} is missing`),
})

const uuid = (column: string): Check => ({
  fails: `NOT regexp_full_match(lower(${column}), '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')`,
  reason: `'${column} is ' || ${shown(column)} || ', not a UUID'`,
})

const oneOf = (column: string, values: readonly string[]): Check => ({
  fails: `${column} NOT IN (${values.map(literal).join(', ')})`,
  reason: `'${column} is ' || ${shown(column)} || ${literal(`, not one of ${values.join(', ')}`)}`,
})

const longest = (column: string, characters: number): Check => ({
  fails: `coalesce(length(${column}) > ${characters}, false)`,
  reason: literal(`${column} has more than ${characters} characters`),
})

/** The rule of schemas/names.ts, by which registrations are checked too. */
const name = (column: string): Check => ({
  fails: `${NAME_FAULT}(${column}) IS NOT NULL`,
  reason: `'${column} ' || ${NAME_FAULT}(${column})`,
})

/** The instant that a text denotes, to the millisecond; NULL if it denotes none. */
const instant = (column: string) =>
  `date_trunc('millisecond', try_cast(regexp_replace(upper(${column}), '([+-]\\d{2})(\\d{2})$', '\\1:\\2') AS TIMESTAMPTZ))`

const time = (column: string): Check => ({
  fails: `NOT regexp_full_match(upper(${column}), '\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]([01]\\d|2[0-3])(:?[0-5]\\d)?)')
    OR ${instant(column)} IS NULL OR ${instant(column)} < TIMESTAMPTZ '1970-01-01 00:00:00Z' OR ${instant(column)} >= TIMESTAMPTZ '2200-01-01 00:00:00Z'`,
  reason: `'${column} is ' || ${shown(column)} || ', not a time with an offset such as 2026-01-31T12:00:00Z'`,
})

const notAfterNow = (column: string): Check => ({
  fails: `${instant(column)} > getvariable('now')`,
  reason: `'${column} is ' || ${shown(column)} || ', later than now'`,
})

const repeats = (column: string): Check => ({
  fails: `record > (SELECT min(earlier.record) FROM incoming earlier WHERE lower(earlier.${column}) = lower(incoming.${column}))`,
  reason: `'${column} ' || ${shown(column)} || ' appears a second time'`,
})

const knownQuestion: Check = {
  fails: `lower(question_id) NOT IN (SELECT question_id FROM questions)`,
  reason: `'question_id ' || ${shown('question_id')} || ' is not a known question; import the question first'`,
}

const ppm = `round_even(probability::DOUBLE * 1e6, 0)::INTEGER`

/** The namespace of the ids of imported forecasts, an arbitrary UUID. */
export const FORECAST_IDS = '0f7b0a4e-6a0d-4c57-8a64-0c1f5f6b6a11'

/** A version 5 UUID (RFC 9562) of the forecast's content, so that importing a forecast again gives the same id. */
const forecastId = `(
  SELECT concat_ws('-', h[1:8], h[9:12], '5' || h[14:16],
    '89ab89ab89ab89ab'[strpos('0123456789abcdef', h[17])] || h[18:20], h[21:32])
  FROM (SELECT sha1(unhex('${FORECAST_IDS.replaceAll('-', '')}') || encode(
    concat_ws('|', entity_type, lower(entity_id), lower(question_id), ${ppm}, epoch_ms(${instant('forecast_at')}))
  )) AS h))`

const recordedNow = `getvariable('now')::TIMESTAMPTZ AS recorded_at`

export const IMPORT_SPECS: Record<ImportKind, ImportSpec> = {
  questions: {
    required: ['question_id', 'title', 'opened_at', 'closes_at'],
    optional: ['category', 'url', 'event_id'],
    checks: [
      uuid('question_id'),
      longest('title', 2000),
      name('title'),
      longest('category', NAME_CHARACTERS),
      name('category'),
      longest('url', 2000),
      longest('event_id', NAME_CHARACTERS),
      name('event_id'),
      time('opened_at'),
      time('closes_at'),
      {
        fails: `${instant('opened_at')} >= ${instant('closes_at')}`,
        reason: `'closes_at is ' || ${shown('closes_at')} || ', not after opened_at ' || ${shown('opened_at')}`,
      },
      repeats('question_id'),
    ],
    select: `lower(question_id) AS question_id, title, category, url, event_id,
      ${instant('opened_at')} AS opened_at, ${instant('closes_at')} AS closes_at, ${recordedNow}`,
    known: `SELECT 1 FROM current_questions k WHERE k.question_id = fresh.question_id AND k.title = fresh.title
      AND k.category IS NOT DISTINCT FROM fresh.category AND k.url IS NOT DISTINCT FROM fresh.url
      AND k.event_id IS NOT DISTINCT FROM fresh.event_id AND k.opened_at = fresh.opened_at AND k.closes_at = fresh.closes_at`,
  },
  resolutions: {
    required: ['question_id', 'outcome', 'resolved_at'],
    optional: [],
    checks: [
      uuid('question_id'),
      knownQuestion,
      oneOf('outcome', OUTCOMES),
      time('resolved_at'),
      notAfterNow('resolved_at'),
      repeats('question_id'),
    ],
    select: `lower(question_id) AS question_id, outcome, ${instant('resolved_at')} AS resolved_at, ${recordedNow}`,
    known: `SELECT 1 FROM current_resolutions k WHERE k.question_id = fresh.question_id
      AND k.outcome = fresh.outcome AND k.resolved_at = fresh.resolved_at`,
  },
  forecasters: {
    required: ['user_id'],
    optional: ['display_name'],
    checks: [
      uuid('user_id'),
      longest('display_name', NAME_CHARACTERS),
      name('display_name'),
      repeats('user_id'),
    ],
    select: `lower(user_id) AS user_id, display_name, ${recordedNow}`,
    known: `SELECT 1 FROM current_forecasters k WHERE k.user_id = fresh.user_id
      AND k.display_name IS NOT DISTINCT FROM fresh.display_name`,
  },
  forecasts: {
    required: ['entity_type', 'entity_id', 'question_id', 'probability', 'forecast_at'],
    optional: [],
    checks: [
      oneOf('entity_type', ENTITY_TYPES),
      uuid('entity_id'),
      uuid('question_id'),
      knownQuestion,
      {
        fails: `entity_type = 'agent' AND lower(entity_id) NOT IN (SELECT agent_id FROM agents)`,
        reason: `'entity_id ' || ${shown('entity_id')} || ' is not a registered agent'`,
      },
      {
        fails: `contains(probability, '_') OR NOT coalesce(try_cast(probability AS DOUBLE) BETWEEN 0 AND 1, false)`,
        reason: `'probability is ' || ${shown('probability')} || ', not a number from 0 to 1'`,
      },
      time('forecast_at'),
      notAfterNow('forecast_at'),
    ],
    select: `${forecastId} AS forecast_id, entity_type, lower(entity_id) AS entity_id, lower(question_id) AS question_id,
      ${ppm} / 1e6 AS probability, ${instant('forecast_at')} AS forecast_at, ${recordedNow}, 'import' AS source`,
    known: `SELECT 1 FROM forecasts k WHERE k.forecast_id = fresh.forecast_id`,
  },
}

/**
 * The faults of the rows in `incoming`. Grain: one row per bad input row, with its record number (from 0) and the
 * reason of the first check that fails.
 */
export function faultsQuery({ required, checks }: ImportSpec): string {
  const cases = [...required.map(missing), ...checks]
    .map(({ fails, reason }) => `WHEN ${fails} THEN ${reason}`)
    .join('\n')
  return `SELECT record, reason FROM (SELECT record, CASE ${cases} END AS reason FROM incoming) WHERE reason IS NOT NULL ORDER BY record`
}
