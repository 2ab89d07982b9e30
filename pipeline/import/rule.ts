// The form of a rule about imported rows, and the queries by which rows are held to rules.
import { literal } from '../duckdb.ts'

/** A rule about one row of `parsed`. */
export interface Rule {
  /** An SQL condition that is true for a bad row. */
  fails: string
  /** The words that refuse a row; undefined for a rule that only leaves rows out. */
  refusal?: Refusal
  /** The reason to leave a row of a platform's files out; undefined for a rule that refuses it too. */
  leftOut?: string
}

interface Refusal {
  /** The fault, without the value. Rows are counted by it. */
  summary: string
  /** The SQL of the fault, with the value and a hint. */
  reason: string
}

export type RefusingRule = Rule & { refusal: Refusal }
export type LeavingRule = Rule & { leftOut: string }
export const refuses = (one: Rule): one is RefusingRule => one.refusal !== undefined
export const leaves = (one: Rule): one is LeavingRule => one.leftOut !== undefined

interface Words {
  /** The SQL of what follows the text. */
  ending?: string
  /** The summary, if it is not the text up to its first semicolon, without values. */
  summary?: string
  leftOut?: string | undefined
}

/** A rule that refuses rows with a text, in which `{column}` is the value of a column. */
export function rule(fails: string, text: string, { ending, summary, leftOut }: Words = {}): Rule {
  const parts = text.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? literal(part) : shown(part)))
  return {
    fails,
    refusal: {
      summary: summary ?? text.replace(/ \{\w+\},?/g, '').split(';', 1)[0]!,
      reason: [...parts, ...(ending === undefined ? [] : [ending])].join(' || '),
    },
    ...(leftOut !== undefined && { leftOut }),
  }
}

const SHOWN_CHARACTERS = 80
export const shown = (column: string) =>
  `'"' || CASE WHEN length(${column}) > ${SHOWN_CHARACTERS} THEN left(${column}, ${SHOWN_CHARACTERS}) || '…' ELSE ${column} END || '"'`

export type Hint = readonly [pattern: string, text: string]

/** The SQL of what the author may have meant, by the first pattern that the value matches. */
export function hint(column: string, hints: readonly Hint[]): string {
  const cases = hints.map(
    ([pattern, text]) =>
      `WHEN regexp_full_match(${column}, ${literal(pattern)}) THEN ${literal(`; ${text}`)}`,
  )
  return `CASE ${cases.join(' ')} ELSE '' END`
}

/**
 * Grain: one row per bad row, with its record number (from 0) and the index of the first rule that fails. The
 * index is computed for bad rows only, because that takes longer than finding out whether a row is bad.
 */
export function faultsQuery(rules: readonly Rule[]): string {
  const any = rules.map(({ fails }) => `(${fails})`).join('\n OR ')
  const cases = rules.map(({ fails }, index) => `WHEN ${fails} THEN ${index}`).join('\n')
  return `SELECT record, CASE ${cases} END AS failed FROM (SELECT * FROM parsed WHERE ${any}) parsed`
}

/**
 * The reasons of the first bad rows of the table `fault`, in which these rules failed: DuckDB reads the words
 * of all rules in 20 ms. Grain: one row per bad row.
 */
export function reasonsQuery(
  rules: readonly RefusingRule[],
  failed: readonly number[],
  most: number,
): string {
  const cases = failed.map((index) => `WHEN ${index} THEN ${rules[index]!.refusal.reason}`).join('\n')
  return `SELECT record, CASE failed ${cases} END AS reason
    FROM (FROM fault ORDER BY record LIMIT ${most}) JOIN parsed USING (record) ORDER BY record`
}
