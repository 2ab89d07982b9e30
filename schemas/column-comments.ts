// The meaning of every column of the Parquet files that a release publishes: for the page `/docs/data`,
// and for the metadata of the files themselves.
import { ENTITY_COLUMNS, PAIR_ABOUT, PAIR_METRICS, PUBLISHED_PAIR_METRICS } from './metrics.ts'
import { PUBLIC_TABLES, type PublicTable } from './public-tables.ts'

/** The meaning of each column, by its name. */
export type ColumnComments = Readonly<Record<string, string>>

/** The key under which the metadata of a file has the comments, as a JSON object. */
export const COMMENTS_KEY = 'column_comments'

export const RELEASE_COMMENTS: ColumnComments = {
  release: 'the number of the release, the same in every row',
  as_of: 'the instant as of which the release was made, the same in every row',
}

const ENTITY = { entity_type: '`agent` or `forecaster`', entity_id: 'an `agent_id` or a `user_id`' }

export const SCORES_COMMENTS: ColumnComments = {
  ...RELEASE_COMMENTS,
  ...ENTITY,
  question_id: 'the question',
  ...PAIR_ABOUT,
  ...Object.fromEntries(PUBLISHED_PAIR_METRICS.map((name) => [name, PAIR_METRICS[name].about])),
}

export const ENTITIES_COMMENTS: ColumnComments = {
  ...RELEASE_COMMENTS,
  ...ENTITY,
  award: 'an agent’s certification, a forecaster’s badge',
  name: 'of an agent, as registered: a claim; null for a person, whose name no release has',
  ...Object.fromEntries(ENTITY_COLUMNS.map(({ name, about }) => [name, about])),
}

export function publicComments(table: PublicTable): ColumnComments {
  return Object.fromEntries(PUBLIC_TABLES[table].columns.map(({ name, about }) => [name, about]))
}
