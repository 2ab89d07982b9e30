// The columns of importable files: the one place that says what each holds and how it is checked.
import { NAME_CHARACTERS, PROSE_CHARACTERS } from '../../schemas/names.ts'
import { IMPORTED_TABLES, type ImportedTable } from '../../schemas/tables.ts'

/** The most characters of a question's title. */
export const TITLE_CHARACTERS = 2000
/** The most characters of the name of a market. */
const SOURCE_CHARACTERS = 64

export const IMPORTS = IMPORTED_TABLES
export type ImportKind = ImportedTable

/**
 * - `id`: a UUID, or with `--ids text` any text. `entityType`: forecaster, since agents are not imported.
 * - `name`: text by the rule of schemas/names.ts. `key`: a name by which rows belong together. `group`: the
 *   key of an event. `text`: any text. `prose`: text of many lines by that rule.
 * - `plan`: a time. `event`: a time that is not later than now.
 * - `position`: a whole number. `eventKind`: one of `EVENT_KINDS`.
 * - `probability`: a number, or nothing, which withdraws what stood. `withdrawal`: whether the row
 *   withdraws it; the table has no such column, because its probability says the same.
 */
export type Holds =
  | 'id'
  | 'entityType'
  | 'name'
  | 'key'
  | 'group'
  | 'text'
  | 'prose'
  | 'plan'
  | 'event'
  | 'outcome'
  | 'position'
  | 'eventKind'
  | 'probability'
  | 'withdrawal'

/** The columns by which two rows of a kind are about the same. */
export const KEY_COLUMNS: Record<ImportKind, readonly string[]> = {
  questions: ['question_id'],
  events: ['event_id'],
  resolutions: ['question_id'],
  prices: ['question_id', 'priced_at'],
  forecasters: ['user_id'],
  forecasts: ['entity_id', 'question_id', 'forecast_at'],
}

export interface ImportColumn {
  readonly name: string
  readonly holds: Holds
  readonly required: boolean
  /** The most characters. */
  readonly longest?: number
  /** Whether a value may be in one row only. */
  readonly unique?: boolean
  /** Whether a value must be the id of a known question. */
  readonly known?: boolean
  /**
   * The reasons to leave a row of a platform's files out: without a value, without a name, later than now.
   */
  readonly ifMissing?: string
  readonly ifNoName?: string
  readonly ifLate?: string
  /** A value for the template, which can be imported once its questions are known. */
  readonly example: string
}

const required = (name: string, holds: Holds, example: string, rules: Partial<ImportColumn> = {}) => ({
  name,
  holds,
  required: true,
  example,
  ...rules,
})
const optional = (name: string, holds: Holds, example: string, rules: Partial<ImportColumn> = {}) => ({
  ...required(name, holds, example, rules),
  required: false,
})

export function isTime({ holds }: Pick<ImportColumn, 'holds'>): boolean {
  return holds === 'plan' || holds === 'event'
}

/** Whether a column of a file is one of its table. */
export function isStored({ holds }: Pick<ImportColumn, 'holds'>): boolean {
  return holds !== 'withdrawal'
}

/** Whether a column holds text, in which a program may have written a word for a missing value. */
export function isText({ holds }: ImportColumn, areIdsText: boolean): boolean {
  if (holds === 'id') return areIdsText
  return holds === 'name' || holds === 'text' || holds === 'prose' || isKey({ holds }, areIdsText)
}

/** Whether rows belong together by a column's text, which therefore has one form. */
export function isKey({ holds }: Pick<ImportColumn, 'holds'>, areIdsText: boolean): boolean {
  return holds === 'key' || holds === 'group' || (holds === 'id' && areIdsText)
}

const QUESTION = '0198c1a0-0000-7000-8000-000000000001'
const FORECASTER = '0198c1a0-0000-7000-8000-000000000002'

/** The columns of each kind, in the order in which they are checked. */
export const IMPORT_COLUMNS: Record<ImportKind, readonly ImportColumn[]> = {
  questions: [
    required('question_id', 'id', QUESTION, { unique: true, ifMissing: 'the question has no id' }),
    required('title', 'name', 'Will it rain in Paris on 2026-02-01?', {
      longest: TITLE_CHARACTERS,
      ifMissing: 'the question has no title',
      ifNoName: 'the title has no letter and no digit',
    }),
    optional('resolution_criteria', 'prose', 'Yes if Météo-France measures more than 0 mm', {
      longest: PROSE_CHARACTERS,
    }),
    optional('background', 'prose', 'It rains there on every second day', { longest: PROSE_CHARACTERS }),
    optional('category', 'name', 'weather', { longest: NAME_CHARACTERS }),
    optional('url', 'text', 'https://example.org/rain', { longest: 2000 }),
    optional('event_id', 'group', 'rain in Paris', { longest: NAME_CHARACTERS }),
    optional('position', 'position', '1'),
    optional('option', 'name', 'on the first day', { longest: NAME_CHARACTERS }),
    optional('source', 'key', 'a weather forum', { longest: NAME_CHARACTERS }),
    optional('source_id', 'key', '4711', { longest: NAME_CHARACTERS }),
    required('opened_at', 'plan', '2026-01-01T00:00:00Z', {
      ifMissing: 'the question has no time of opening',
    }),
    required('closes_at', 'plan', '2026-02-01T00:00:00Z', {
      ifMissing: 'the question has no time of close',
    }),
  ],
  events: [
    required('event_id', 'key', 'rain in Paris', {
      longest: NAME_CHARACTERS,
      unique: true,
      ifMissing: 'the event has no id',
    }),
    required('title', 'name', 'When will it rain in Paris?', {
      longest: TITLE_CHARACTERS,
      ifMissing: 'the event has no title',
      ifNoName: 'the title has no letter and no digit',
    }),
    required('kind', 'eventKind', 'independent', { ifMissing: 'the event has no kind' }),
    optional('source', 'key', 'a weather forum', { longest: NAME_CHARACTERS }),
    optional('source_id', 'key', '4711', { longest: NAME_CHARACTERS }),
    optional('url', 'text', 'https://example.org/rain', { longest: 2000 }),
  ],
  resolutions: [
    required('question_id', 'id', QUESTION, {
      unique: true,
      known: true,
      ifMissing: 'it names no question',
    }),
    required('outcome', 'outcome', 'yes', { ifMissing: 'the question has no outcome' }),
    required('resolved_at', 'event', '2026-02-02T08:00:00Z', {
      ifMissing: 'the outcome has no time',
      ifLate: 'the outcome is later than now',
    }),
    optional('known_at', 'event', '2026-02-01T00:00:00Z', { ifLate: 'the outcome is later than now' }),
  ],
  prices: [
    required('question_id', 'id', QUESTION, { known: true, ifMissing: 'it names no question' }),
    required('priced_at', 'event', '2026-01-15T12:00:00Z', {
      ifMissing: 'the price has no time',
      ifLate: 'the price is later than now',
    }),
    required('probability', 'probability', '0.73'),
    required('source', 'key', 'a market', {
      longest: SOURCE_CHARACTERS,
      ifMissing: 'the price has no source',
    }),
  ],
  forecasters: [
    required('user_id', 'id', FORECASTER, { unique: true, ifMissing: 'the forecaster has no id' }),
    optional('display_name', 'name', 'Ada', { longest: NAME_CHARACTERS }),
  ],
  forecasts: [
    required('entity_type', 'entityType', 'forecaster'),
    required('entity_id', 'id', FORECASTER, { ifMissing: 'the forecast names no forecaster' }),
    required('question_id', 'id', QUESTION, { known: true, ifMissing: 'it names no question' }),
    required('probability', 'probability', '0.73', { ifMissing: 'the forecast has no probability' }),
    optional('withdrawn', 'withdrawal', 'false'),
    required('forecast_at', 'event', '2026-01-15T12:00:00Z', {
      ifMissing: 'the forecast has no time',
      ifLate: 'the forecast is later than now',
    }),
  ],
}

/** Returns the template of a kind as CSV: the header, and one row as an example. */
export function templateOf(kind: ImportKind): string {
  const columns = IMPORT_COLUMNS[kind]
  return `${columns.map(({ name }) => name).join(',')}\n${columns.map(({ example }) => example).join(',')}\n`
}
