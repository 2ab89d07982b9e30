// The public tables of a release: the part of its tables that anyone may know at its instant (docs/data.md,
// Public tables).
import { type Column, type ScoredTable, tableSpec } from './tables.ts'

export interface PublicTableSpec {
  readonly columns: readonly Column[]
  readonly sortedBy: readonly string[]
  readonly rowsPerGroup: number
}

/** Returns a table without some of its columns, and with others replaced by columns of the same name. */
function partOfTable(
  table: ScoredTable,
  sortedBy: readonly string[],
  without: readonly string[],
  others: readonly Column[] = [],
): PublicTableSpec {
  const { columns, rowsPerGroup } = tableSpec(table)
  const kept = columns
    .filter(({ name }) => !without.includes(name))
    .map((column) => others.find(({ name }) => name === column.name) ?? column)
  const added = others.filter(({ name }) => columns.every((column) => column.name !== name))
  return { columns: [...kept, ...added], sortedBy, rowsPerGroup }
}

const shownColumn = (name: string): Column => ({
  name,
  type: 'text',
  nullable: true,
  about: 'chosen at registration, or given by the operator; null for an agent that is hidden',
})

/** The public tables by name, in the order of their files. */
export const PUBLIC_TABLES = {
  agents: partOfTable(
    'agents',
    ['agent_id'],
    ['recorded_at'],
    [
      shownColumn('name'),
      shownColumn('model_type'),
      {
        name: 'first_of_owner',
        type: 'uuid',
        nullable: true,
        about: 'the agent of its recorded owner that registered first, if it is one of the release',
      },
    ],
  ),
  events: partOfTable('events', ['event_id'], ['reason']),
  forecasters: partOfTable('forecasters', ['user_id'], ['display_name', 'recorded_at']),
  forecasts: partOfTable('forecasts', ['question_id', 'forecast_at', 'forecast_id'], []),
  prices: partOfTable('prices', ['question_id', 'priced_at', 'recorded_at'], []),
  questions: partOfTable('questions', ['question_id'], ['reason']),
  resolutions: partOfTable(
    'resolutions',
    ['question_id'],
    ['reason', 'recorded_at'],
    [
      {
        name: 'outcome',
        type: 'text',
        nullable: false,
        about: '`yes`, `no` or `annulled`, as known at `as_of`',
      },
      { name: 'resolved_at', type: 'time', nullable: false, about: 'when the outcome became known' },
    ],
  ),
} as const satisfies Record<string, PublicTableSpec>
export type PublicTable = keyof typeof PUBLIC_TABLES

/** The public tables with one file per period, and the instant that decides the period of a row. */
export const CUT_BY = {
  forecasts: 'when the question was settled',
  prices: 'when the question was settled',
  questions: '`opened_at`',
  resolutions: '`resolved_at`',
} as const satisfies Partial<Record<PublicTable, string>>
export type CutTable = keyof typeof CUT_BY
