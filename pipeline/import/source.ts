// The form of an importer: the files of a platform, and the rows of ours that each of their rows gives.
import { identifier } from '../duckdb.ts'
import type { ImportKind } from './columns.ts'

/**
 * The table of the rows of a form, for a definition that joins another form than its own. No name of a form
 * is that of a table of the store.
 */
export const formTable = (form: string) => identifier(`rows of ${form}`)

/** A kind of file. A file is of the form whose required columns it all has, and of the one with most. */
export interface SourceForm {
  /** A name in SQL → the name of a column in a CSV file, or of a member in JSON. */
  readonly required: Readonly<Record<string, string>>
  readonly optional?: Readonly<Record<string, string>>
  /** Names in SQL of columns whose values may have parts; their text is JSON. */
  readonly nested?: readonly string[]
  /** The encoding of files that are not UTF-8, as `TextDecoder` names it. */
  readonly encoding?: string
}

/** Rows of one of our kinds, from files of one form. */
export interface SourceRows {
  readonly kind: ImportKind
  readonly form: string
  /** The meaning of these rows in reports, if it is not that of the kind. */
  readonly label?: string
  /**
   * SQL after `FROM formTable(form) r`, such as a join with another form. It may give several rows for one of
   * the file, and `WHERE` may choose rows that alone count as read.
   */
  readonly rest?: string
  /**
   * One of our columns → its SQL: ids are text, times TIMESTAMPTZ, and everything else is text. A time that
   * cannot be read is NULL. Columns of a file are `r.<name in SQL>`, and `r.file_name` is the file's name
   * without a folder.
   */
  readonly columns: Readonly<Record<string, string>>
  /** Reasons to leave a row out, with the SQL that is true then; the first one counts. */
  readonly leftOut?: readonly (readonly [reason: string, fails: string])[]
}

/** Scores that a platform publishes for its own pairs of forecaster and question. */
export interface PublishedScores {
  readonly form: string
  /** `entity_id`, `question_id`, `score` (`peer_score`, `baseline_score` or NULL) and `value`, in SQL. */
  readonly columns: Readonly<Record<'entity_id' | 'question_id' | 'score' | 'value', string>>
}

export interface ImportSource {
  readonly name: string
  /** The namespace of the version 5 UUIDs of the platform's ids. It never changes. */
  readonly namespace: string
  /** The terms of the platform that whoever uses its data must know. */
  readonly terms?: string
  /** Losses and meanings that every report must name. */
  readonly notes?: readonly string[]
  readonly forms: Readonly<Record<string, SourceForm>>
  /** Of two rows with one key, such as the id of a question, the first in this order is taken. */
  readonly rows: readonly SourceRows[]
  /** Further rows, which are read with `--with-freeze`: what a market said when the questions were frozen. */
  readonly freezeRows?: readonly SourceRows[]
  readonly scores?: readonly PublishedScores[]
}

/** The SQL of an instant from a text; NULL for a text that is none, or that has no offset. */
export const instant = (text: string) =>
  `if(regexp_matches(${text}, '(Z|[+-]\\d{2}(:?\\d{2})?)$'), try_cast(${text} AS TIMESTAMPTZ), NULL)`

/** The SQL of an instant from milliseconds since 1970. */
export const epochMs = (text: string) =>
  `make_timestamptz(try_cast(try_cast(${text} AS DOUBLE) AS BIGINT) * 1000)`

/** The SQL of the first instant of a day, in UTC. */
export const dayBegins = (day: string) =>
  `if(regexp_full_match(${day}, '\\d{4}-\\d{2}-\\d{2}'), try_cast(${day} || ' 00:00:00+00' AS TIMESTAMPTZ), NULL)`

/** The SQL of the last millisecond of a day, in UTC. */
export const dayEnds = (day: string) => `${dayBegins(day)} + INTERVAL 86399999 MILLISECOND`
