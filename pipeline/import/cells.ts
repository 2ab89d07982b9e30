// The SQL of one cell of a file: its text, and whether the file says anything there.
import { identifier, literal } from '../duckdb.ts'

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

/** Whether the rows of a file say something for an optional column. Otherwise the known value stays. */
export const isSaid = (column: string) => `has_${column}`

/** Whether a cell of text has a word for a missing value. */
export const isVoid = (column: string) => `void_${column}`

export interface Constant {
  name: string
  isOptional: boolean
  text: string
}

/** Whether a cell's text was rewritten. */
export const isAltered = (column: string) => `altered_${column}`

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
  /** The SQL of further columns, which are computed from these when they are read. */
  computed?: readonly string[]
}

/** The SQL of `normalKey` in schemas/names.ts. */
export const normal = (text: string) =>
  `trim(regexp_replace(nfc_normalize(${text}), '[\\t-\\r\\x{85}\\p{Z}]+', ' ', 'g'))`

/**
 * Returns the query of a source's rows: every column as text, or NULL if the row lacks it, the marks of
 * optional columns, of texts and of rewritten ones, the fault of the row, and the computed values. `chosen`
 * is the SQL that is true for the rows that are wanted.
 */
export function rowsOf(
  { required, optional, texts = [], keys = [], constants = [], rewrites, computed = [] }: ExpectedColumns,
  cellOf: (column: string) => Cell,
  source: string,
  { chosen, fault }: { chosen: readonly string[]; fault: string },
): string {
  const set = new Map(constants.map((constant) => [constant.name, constant]))
  const columns = [...required, ...optional, ...set.keys()].flatMap((name) => {
    const constant = set.get(name)
    const { text, isThere, isBare } = constant === undefined ? cellOf(name) : constantCell(constant)
    const isOptional = constant?.isOptional ?? optional.includes(name)
    const isText = texts.includes(name)
    const word = `coalesce(${isBare} AND ${text} IN (${MISSING.map(literal).join(', ')}), false)`
    const rewritten = rewrites?.get(name)?.(text)
    const said = rewritten ?? text
    const whole = `nullif(${keys.includes(name) ? normal(said) : said}, '')`
    return [
      // A required column keeps the word, for the message.
      `${isText && isOptional && isBare !== 'false' ? `if(${word}, NULL, ${whole})` : whole} AS ${identifier(name)}`,
      ...(isOptional ? [`${isThere} AS ${identifier(isSaid(name))}`] : []),
      ...(isText ? [`${isBare === 'false' ? 'false' : word} AS ${isVoid(name)}`] : []),
      ...(rewritten === undefined ? [] : [`coalesce(${rewritten} <> ${text}, false) AS ${isAltered(name)}`]),
    ]
  })
  columns.push(`${fault} AS ${ROW_FAULT}`)
  if (chosen.length > 0) columns.push(`(${chosen.join(' AND ')}) AS ${IS_CHOSEN}`)
  return `SELECT ${['*', ...computed].join(', ')} FROM (SELECT ${columns.join(', ')} FROM ${source})`
}

const constantCell = ({ text }: Constant): Cell => ({ text: literal(text), isThere: 'true', isBare: 'false' })
