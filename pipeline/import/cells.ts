// The SQL of one cell of a file: its text, and whether the file says anything there.
import { literal } from '../duckdb.ts'
import type { Row, Saying } from './row.ts'

/** Words that programs write for a missing value, as the whole of a cell. */
const MISSING = ['NaN', 'nan', 'Infinity', '-Infinity', 'inf', '-inf', 'NA', 'N/A', 'null', 'NULL']

/** The SQL of a cell as a format has it. */
export interface Cell {
  text: string
  /** Whether the row has the column; a line of JSON may lack it. */
  isThere: string
  /** Whether the text may be a word for a missing value, and not a text that somebody wrote. */
  isBare: string
  /** Whether the value has parts, so that its text is JSON; undefined for a form without such values. */
  isNested?: string
}

/** A cell of a column that the file does not have. */
export const NO_CELL: Cell = { text: 'NULL::VARCHAR', isThere: 'false', isBare: 'false' }

export interface Constant {
  name: string
  isOptional: boolean
  text: string
}

/** Whether a row is one that `--where` chooses. */
export const IS_CHOSEN = 'is_chosen'

/** The fault of a row that cannot be read; NULL for the others. */
export const ROW_FAULT = 'row_fault'

/** The columns of a file, by what their cells hold. */
export interface ExpectedColumns {
  required: readonly string[]
  optional: readonly string[]
  /** Columns of text, in which a word such as `NaN` stands for a missing value. */
  texts?: readonly string[]
  /** Columns by which rows belong together: their texts are brought into one form. */
  keys?: readonly string[]
  /** Required columns in which nothing says something, so that every row must have them. */
  emptied?: readonly string[]
  /** Columns whose values may have parts; their text is then JSON. */
  nested?: readonly string[]
  /** Columns whose text is the same in every row, instead of one of the file. */
  constants?: readonly Constant[]
  /** Column → the SQL of the text that is read for its text. */
  rewrites?: ReadonlyMap<string, (text: string) => string>
  /** Further columns, which are computed from these when they are read. */
  computed?: Row
}

/** The SQL of `normalKey` in schemas/names.ts. */
export const normal = (text: string) =>
  `trim(regexp_replace(nfc_normalize(${text}), '[\\t-\\r\\x{85}\\p{Z}]+', ' ', 'g'))`

/** Returns the SQL of what a row of a file says: every column as text, or NULL if the row lacks it. */
export function sayingsOf(
  { required, optional, texts = [], keys = [], constants = [], rewrites }: ExpectedColumns,
  cellOf: (column: string) => Cell,
): Record<string, Saying> {
  const set = new Map(constants.map((constant) => [constant.name, constant]))
  const sayings: Record<string, Saying> = {}
  for (const name of [...required, ...optional, ...set.keys()]) {
    const constant = set.get(name)
    const { text, isThere, isBare } = constant === undefined ? cellOf(name) : constantCell(constant)
    const isOptional = constant?.isOptional ?? optional.includes(name)
    const isText = texts.includes(name)
    const mayBeVoid = isText && isBare !== 'false'
    const word = `coalesce(${isBare} AND ${text} IN (${MISSING.map(literal).join(', ')}), false)`
    const rewritten = rewrites?.get(name)?.(text)
    const cellText = rewritten ?? text
    const whole = `nullif(${keys.includes(name) ? normal(cellText) : cellText}, '')`
    sayings[name] = {
      // A required column keeps the word, for the message.
      text: mayBeVoid && isOptional ? `if(${word}, NULL, ${whole})` : whole,
      ...(isOptional && { isSaid: isThere }),
      ...(isText && { isVoid: mayBeVoid ? word : 'false' }),
      ...(rewritten !== undefined && { isAltered: `coalesce(${rewritten} <> ${text}, false)` }),
    }
  }
  return sayings
}

const constantCell = ({ text }: Constant): Cell => ({ text: literal(text), isThere: 'true', isBare: 'false' })
