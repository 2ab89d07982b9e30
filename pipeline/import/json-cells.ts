// The SQL of values inside JSON.
import { literal } from '../duckdb.ts'
import type { Cell } from './cells.ts'

/** The JSON Pointer (RFC 6901) of a member, or of one inside members. */
export const pointerTo = (...names: readonly string[]) =>
  literal(names.map((name) => `/${escaped(name)}`).join(''))
/** The JSON Pointer of a path such as `event.ticker` or `tags.0`. */
export const pointerIn = (path: string) => pointerTo(...path.split('.'))

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** The cell at a JSON Pointer in `json`, or else in `around`, the members that all rows share. */
export function jsonCell(pointer: string, json: string, around?: string): Cell {
  const has = `json_exists(${json}, ${pointer})`
  const text = `(${json} ->> ${pointer})`
  const type = `json_type(${json}, ${pointer})`
  if (around === undefined) {
    return { text, isThere: has, isBare: `${type} = 'DOUBLE'`, isNested: `${type} IN (${PARTS})` }
  }
  const typeOfBoth = `coalesce(nullif(${type}, 'NULL'), json_type(${around}, ${pointer}))`
  return {
    text: `coalesce(${text}, ${around} ->> ${pointer})`,
    isThere: `(${has} OR json_exists(${around}, ${pointer}))`,
    isBare: `${type} = 'DOUBLE'`,
    isNested: `${typeOfBoth} IN (${PARTS})`,
  }
}

const PARTS = `'OBJECT', 'ARRAY'`
