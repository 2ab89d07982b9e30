// The columns of the tables: their names, types and contents, and the order of the rows. Parquet, the Delta
// log, DuckDB and the page `/docs/data` all follow from this file.

/**
 * `uuid` is a lower-case string in storage. `prose` is text of up to 20,000 characters, possibly with many
 * lines. `time` is a UTC instant with milliseconds. `count` is a whole number, at least 0 and exact up to
 * 2^53 - 1. `day` is a calendar day, as YYYY-MM-DD in a `Row`.
 */
export type ColumnType = 'uuid' | 'text' | 'prose' | 'probability' | 'count' | 'day' | 'time'

export interface Column {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /** The content of the column, in the words of the page `/docs/data`. */
  readonly about: string
}

export interface TableSpec {
  readonly name: TableName
  readonly columns: readonly Column[]
  /**
   * The most rows in a row group of a data file, a multiple of 2,048. Keep it small if readers look for one
   * row with much text, because they must decompress the whole group.
   */
  readonly rowsPerGroup: number
  /** Columns that order the rows inside a data file, so that readers can skip row groups. */
  readonly sortedBy: readonly string[]
}

/** The tables that decide scores. A release pins a version of each and reads no others. */
export const SCORED_TABLES = [
  'questions',
  'events',
  'resolutions',
  'prices',
  'agents',
  'forecasters',
  'forecasts',
] as const
export type ScoredTable = (typeof SCORED_TABLES)[number]

export const TABLE_NAMES = [...SCORED_TABLES, 'rationales', 'usage'] as const
export type TableName = (typeof TABLE_NAMES)[number]

function required<const N extends string, const T extends ColumnType>(name: N, type: T, about: string) {
  return { name, type, nullable: false, about } as const
}
function optional<const N extends string, const T extends ColumnType>(name: N, type: T, about: string) {
  return { name, type, nullable: true, about } as const
}
const reason = optional('reason', 'text', 'why the row corrects an earlier one, as the operator says')
const recordedAt = required('recorded_at', 'time', 'when the service recorded the row')

const tables = {
  questions: {
    columns: [
      required('question_id', 'uuid', 'the question'),
      required('title', 'text', 'what is asked'),
      optional('resolution_criteria', 'prose', 'how the outcome is decided'),
      optional('background', 'prose', 'what is known about it'),
      optional('category', 'text', 'free grouping'),
      optional('url', 'text', 'where it was asked'),
      optional('event_id', 'text', 'questions that share one are about the same event or series'),
      optional('position', 'count', 'its place among the questions of its event'),
      optional('option', 'text', 'what it is called within its event, such as `above 3 %`'),
      optional('source', 'text', 'who asked it first, such as another platform'),
      optional(
        'source_id',
        'text',
        'its id there; of the current rows no two have the same `source` and `source_id`',
      ),
      required('opened_at', 'time', 'forecasts count from here on'),
      required('closes_at', 'time', 'the scheduled close'),
      reason,
      recordedAt,
    ],
    rowsPerGroup: 2_048,
    sortedBy: ['question_id', 'recorded_at'],
  },
  events: {
    columns: [
      required('event_id', 'text', 'the `event_id` of its questions'),
      required('title', 'text', 'what it is about'),
      required(
        'kind',
        'text',
        '`exclusive`: exactly one of its questions ends yes; `at_most_one`: none or one; `ordered`: nested thresholds, of which a yes implies a yes at every lower position; `independent`: nothing is implied, as of an event without a row',
      ),
      optional('source', 'text', 'who asked it first, such as another platform'),
      optional('source_id', 'text', 'its id there'),
      optional('url', 'text', 'where it was asked'),
      reason,
      recordedAt,
    ],
    sortedBy: ['event_id', 'recorded_at'],
  },
  prices: {
    columns: [
      required('question_id', 'uuid', 'the question'),
      required('priced_at', 'time', 'from when on the market said so'),
      optional(
        'probability',
        'probability',
        'of yes, 0 to 1, held to six decimals; null where no market stood from then on',
      ),
      required('source', 'text', 'the market, the same one for all prices of a question'),
      recordedAt,
    ],
    sortedBy: ['question_id', 'priced_at', 'recorded_at'],
  },
  resolutions: {
    columns: [
      required('question_id', 'uuid', 'the question'),
      required('outcome', 'text', '`yes`, `no` or `annulled`; `open` withdraws the earlier resolution'),
      required('resolved_at', 'time', 'when the outcome became known, or the earlier one was withdrawn'),
      optional(
        'known_at',
        'time',
        'the earliest time at which the outcome was public, if the operator says so',
      ),
      reason,
      recordedAt,
    ],
    sortedBy: ['question_id', 'recorded_at'],
  },
  agents: {
    columns: [
      required('agent_id', 'uuid', 'the agent, a version 7 UUID'),
      required(
        'name',
        'text',
        'chosen at registration, or given by the operator; empty for an agent that is hidden',
      ),
      required('model_type', 'text', 'chosen at registration; empty for an agent that is hidden'),
      optional('organization_name', 'text', 'chosen at registration'),
      optional(
        'owner_id',
        'text',
        'who answers for it, as the operator has recorded it; `domain:` and a name where that domain proves it',
      ),
      required('registered_at', 'time', 'when it registered, the same in every row of the agent'),
      optional('retired_at', 'time', 'when it was retired'),
      recordedAt,
    ],
    sortedBy: ['agent_id', 'recorded_at'],
  },
  forecasters: {
    columns: [required('user_id', 'uuid', 'the forecaster'), recordedAt],
    sortedBy: ['user_id', 'recorded_at'],
  },
  forecasts: {
    columns: [
      required(
        'forecast_id',
        'uuid',
        'version 7 of an agent’s, version 8 of a person’s from the operator’s calls; from an import version 5 of its content, so that importing twice is once',
      ),
      required('entity_type', 'text', '`agent` or `forecaster`'),
      required('entity_id', 'uuid', 'whose it is: an `agent_id` or a `user_id`'),
      required('question_id', 'uuid', 'the question that it is about'),
      optional(
        'probability',
        'probability',
        'of yes, 0 to 1, held to six decimals; null withdraws what stood',
      ),
      required('forecast_at', 'time', 'when it was made'),
      recordedAt,
      required('source', 'text', '`api` or `import`'),
    ],
    sortedBy: ['question_id', 'forecast_at', 'forecast_id'],
  },
  rationales: {
    columns: [
      required(
        'forecast_id',
        'uuid',
        'the forecast; count each id once, since a row may have been written twice',
      ),
      required('agent_id', 'uuid', 'whose it is'),
      required('question_id', 'uuid', 'the question that it is about'),
      optional('probability', 'probability', 'of the forecast; null for a withdrawal'),
      required('forecast_at', 'time', 'when the forecast was made'),
      required('rationale', 'prose', 'why, in the words of the agent'),
      recordedAt,
    ],
    rowsPerGroup: 2_048,
    sortedBy: ['question_id', 'forecast_at', 'forecast_id'],
  },
  usage: {
    columns: [
      required('usage_id', 'uuid', 'version 7; count each id once, since a row may have been written twice'),
      required('key_id', 'text', 'the key that made the calls, by the id in its middle'),
      required(
        'account_id',
        'text',
        'the `key_id` of the first key in a chain of rotations; quotas are counted by it',
      ),
      required('tier', 'text', '`free`, `pro` or `enterprise`'),
      required('day', 'day', 'the UTC day of the calls'),
      required('calls', 'count', 'verification calls since the row before'),
      recordedAt,
    ],
    sortedBy: ['key_id', 'day', 'usage_id'],
  },
} satisfies Record<TableName, Omit<TableSpec, 'name' | 'rowsPerGroup'> & Partial<TableSpec>>

export function tableSpec(name: TableName): TableSpec {
  return { name, rowsPerGroup: 122_880, ...tables[name] }
}

/** The tables whose rows an operator imports from files. */
export const IMPORTED_TABLES = [
  'questions',
  'events',
  'resolutions',
  'prices',
  'forecasters',
  'forecasts',
] as const satisfies readonly ScoredTable[]
export type ImportedTable = (typeof IMPORTED_TABLES)[number]

/** The columns of a question that decide its scores. */
export const SCORING_COLUMNS = ['opened_at', 'closes_at', 'event_id', 'position', 'category'] as const
/** The columns whose changes a release lists as corrections. `kind` is that of the question's event. */
export const CORRECTED_COLUMNS = [...SCORING_COLUMNS, 'kind', 'outcome', 'resolved_at', 'known_at'] as const
export type CorrectedColumn = (typeof CORRECTED_COLUMNS)[number]

export const ENTITY_TYPES = ['agent', 'forecaster'] as const
export type EntityType = (typeof ENTITY_TYPES)[number]

/** The kinds of events: each implies something else about the outcomes of its questions. */
export const EVENT_KINDS = ['exclusive', 'at_most_one', 'ordered', 'independent'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/**
 * The outcomes of a resolution. `open` withdraws the earlier one, so that the question is unresolved again.
 */
export const OUTCOMES = ['yes', 'no', 'annulled', 'open'] as const
export type Outcome = (typeof OUTCOMES)[number]

type Values = {
  uuid: string
  text: string
  prose: string
  probability: number
  count: number
  day: string
  time: Date
}
type RowOf<Name extends TableName> = {
  [C in (typeof tables)[Name]['columns'][number] as C['name']]:
    Values[C['type']] | (C['nullable'] extends true ? null : never)
}
export type ForecastRow = RowOf<'forecasts'>
export type AgentRow = RowOf<'agents'>
export type RationaleRow = RowOf<'rationales'>
export type UsageRow = RowOf<'usage'>

/** A row as it is written to the inbox: a value for each column of its table. */
export type Row = Readonly<Record<string, string | number | Date | null>>
