// The columns of all Parquet files that the store has for readers, for the page of the data.
import { ENTITIES_COMMENTS, RELEASE_COMMENTS, SCORES_COMMENTS } from './column-comments.ts'
import type { Measure } from './metric.ts'
import {
  ENTITY_COLUMNS,
  ENTITY_METRICS,
  GAIN_COLUMNS,
  PAIR_METRICS,
  PUBLISHED_PAIR_METRICS,
} from './metrics.ts'
import { CUT_BY, PUBLIC_TABLES, type PublicTable } from './public-tables.ts'
import { REFERENCES_COMMENTS, REFERENCE_FILE_COLUMNS } from './references.ts'
import { type Column, type ColumnType, TABLE_NAMES, type TableName, tableSpec } from './tables.ts'

export interface FileColumn {
  name: string
  type: string
  isNullable?: boolean
  unit?: string
  /** As in `0..1`; an end without a limit is left out. */
  range?: string
  better?: 'higher' | 'lower'
  about: string
}

export interface ColumnFile {
  /** The anchor of its section. */
  id: string
  /** Its path in the store. */
  path: string
  /** Its rows, in a sentence. */
  about: string
  columns: readonly FileColumn[]
}

const TYPE_WORDS: Record<ColumnType, string> = {
  uuid: 'UUID text',
  text: 'text',
  prose: 'text',
  probability: 'double',
  count: 'integer',
  day: 'date',
  time: 'time',
}

const PARQUET_TYPES = {
  INSTANT: 'time',
  BOOLEAN: 'boolean',
  INT32: 'integer',
  DOUBLE: 'double',
  STRING: 'text',
}

const tableColumns = (columns: readonly Column[]): FileColumn[] =>
  columns.map(({ name, type, nullable, about }) => ({
    name,
    type: TYPE_WORDS[type],
    isNullable: nullable,
    about,
    ...(type === 'probability' && { range: '0..1' }),
    ...(type === 'count' && { range: '0..' }),
  }))

function metricColumn(
  name: string,
  type: string,
  { unit, range: [least, greatest], better, about }: Measure & { about: string },
): FileColumn {
  return {
    name,
    type,
    unit,
    about,
    ...((least !== null || greatest !== null) && { range: `${least ?? ''}..${greatest ?? ''}` }),
    ...(better !== 'neither' && { better }),
  }
}

const RELEASE: FileColumn = {
  name: 'release',
  type: 'integer',
  range: '1..',
  about: RELEASE_COMMENTS['release']!,
}
const AS_OF: FileColumn = { name: 'as_of', type: 'time', about: RELEASE_COMMENTS['as_of']! }

function scoresColumns(): FileColumn[] {
  const column = (name: string, type: string) => ({ name, type, about: SCORES_COMMENTS[name]! })
  return [
    RELEASE,
    AS_OF,
    column('entity_type', 'text'),
    column('entity_id', 'UUID text'),
    column('question_id', 'UUID text'),
    column('outcome', 'text'),
    column('resolved_at', 'time'),
    column('settled', 'boolean'),
    column('settled_at', 'time'),
    column('unit', 'text'),
    column('cluster', 'text'),
    column('week', 'text'),
    column('divisor', 'integer'),
    column('joint', 'text'),
    column('unit_questions', 'integer'),
    ...PUBLISHED_PAIR_METRICS.map((name) => {
      const metric = PAIR_METRICS[name]
      return metricColumn(name, metric.per === 1 ? 'integer' : 'double', metric)
    }),
    column('witnessed', 'boolean'),
    column('contested', 'boolean'),
    column('priced', 'boolean'),
    ...GAIN_COLUMNS.map((name) => ({
      ...column(name, 'integer'),
      unit: 'squared error in 1e-9',
      ...(name.endsWith('spread') && { range: '0..' }),
    })),
  ]
}

function entitiesColumns(): FileColumn[] {
  const column = (name: string, type: string) => ({ name, type, about: ENTITIES_COMMENTS[name]! })
  return [
    RELEASE,
    AS_OF,
    column('entity_type', 'text'),
    column('entity_id', 'UUID text'),
    column('award', 'text'),
    column('name', 'text'),
    ...ENTITY_COLUMNS.map((each) => metricColumn(each.name, PARQUET_TYPES[each.type], each)),
  ]
}

/** The columns that `names` picks from those of the entities. */
const asInEntities = (...names: string[]) => {
  const all = entitiesColumns()
  return names.map((name) => all.find((column) => column.name === name)!)
}

const boardColumns = (): FileColumn[] => [
  RELEASE,
  AS_OF,
  { name: 'category', type: 'text', about: 'the category whose questions the numbers are of' },
  ...asInEntities(
    'entity_type',
    'entity_id',
    'pool',
    'rank',
    'rank_lower',
    'rank_upper',
    'skill',
    'board_lower',
    'board_upper',
    'contested_questions',
    'resolved_questions',
    'brier',
    'expected_calibration_error',
  ),
]

const TABLE_ABOUT: Record<TableName, string> = {
  questions: 'Every question. The last row of a `question_id` counts.',
  events: 'Every event of several questions. The last row of an `event_id` counts.',
  prices:
    'What markets said of questions. Of two rows of a question at one time the one recorded last counts.',
  resolutions: 'Every outcome. The last row of a `question_id` counts.',
  agents:
    'Every agent. The last row of an `agent_id` counts; the first is its registration, which may stand twice.',
  forecasters: 'Every person, without a name. The last row of a `user_id` counts.',
  forecasts: 'Every forecast. Of rows with one `forecast_id` the one recorded first counts.',
  rationales: 'Why agents forecast as they did. A row may stand twice: count each `forecast_id` once.',
  usage: 'Counted calls of each API key. A row may stand twice: count each `usage_id` once.',
}

const PUBLIC_ABOUT: Record<PublicTable, string> = {
  agents: 'Every agent of the release.',
  forecasters: 'Every person of the release, without a name.',
  forecasts: `Each forecast on a settled question once, in files by ${CUT_BY.forecasts}.`,
  events: 'Every event.',
  prices: `Each price of a settled question, in files by ${CUT_BY.prices}.`,
  questions: `Every question, in files by ${CUT_BY.questions}.`,
  resolutions: `Every outcome known at \`as_of\`, in files by ${CUT_BY.resolutions}.`,
}

/** The Parquet files that a release publishes for analysts, without its public tables. */
const RELEASE_FILES: readonly ColumnFile[] = [
  {
    id: 'scores',
    path: 'releases/<8 digits>/scores/<nnn>.parquet',
    about:
      'One row for each agent or person and question with an outcome on which it took part. Scores are ' +
      'multiples of 1e-12, errors of titles, gains and spreads whole numbers of 1e-9.',
    columns: scoresColumns(),
  },
  {
    id: 'entities',
    path: 'releases/<8 digits>/entities/<nnn>.parquet',
    about: 'One row for each agent and person, with the numbers of its published records.',
    columns: entitiesColumns(),
  },
  {
    id: 'boards',
    path: 'releases/<8 digits>/categories/boards.parquet',
    about: 'One row for each entry of a leaderboard by category, over the questions of the category alone.',
    columns: boardColumns(),
  },
  {
    id: 'references',
    path: 'releases/<8 digits>/references/rows.parquet',
    about: 'One row for each simple forecast that a board is compared with, such as always 0.5.',
    columns: REFERENCE_FILE_COLUMNS.map(({ name, type }) => ({
      ...asInReferences(name),
      name,
      type: PARQUET_TYPES[type],
      about: REFERENCES_COMMENTS[name]!,
    })),
  },
]

/** The unit and the range of a number that references share with entities. */
function asInReferences(name: string): Pick<FileColumn, 'unit' | 'range' | 'better'> {
  if (name === 'release') return { range: '1..' }
  if (!(name in ENTITY_METRICS) && !name.startsWith('board_')) return {}
  const { unit, range, better } = asInEntities(name)[0] ?? {}
  return {
    ...(unit !== undefined && { unit }),
    ...(range !== undefined && { range }),
    ...(better && { better }),
  }
}

export const COLUMN_FILES: readonly ColumnFile[] = [
  ...RELEASE_FILES,
  ...Object.entries(PUBLIC_TABLES).map(([name, { columns }]) => ({
    id: `public-${name}`,
    path: `releases/<8 digits>/public/${name}${name in CUT_BY ? '/<period>' : ''}.parquet`,
    about: PUBLIC_ABOUT[name as PublicTable],
    columns: tableColumns(columns),
  })),
  ...TABLE_NAMES.map((name) => ({
    id: `table-${name}`,
    path: `tables/${name}/recorded_date=<day>/….parquet`,
    about: TABLE_ABOUT[name],
    columns: tableColumns(tableSpec(name).columns),
  })),
]
