// A Parquet file as a table.
import { type Database, identifier } from '../duckdb.ts'
import type { Cell } from './cells.ts'
import { type FileTable, onlyFile } from './file-table.ts'
import type { Input } from './input.ts'
import { jsonCell, pointerIn } from './json-cells.ts'
import { NONE_REJECTED } from './rejected.ts'

export async function openParquet(database: Database, input: Input): Promise<FileTable> {
  const source = `read_parquet(${onlyFile(input.path)}, hive_partitioning = false)`
  const described = await database.rows<{ column_name: string; column_type: string }>(
    `DESCRIBE SELECT * FROM ${source}`,
  )
  const types = new Map(described.map(({ column_name, column_type }) => [column_name, column_type]))
  const names = [...types.keys()]
  /** The JSON of the column that a path enters, and the JSON Pointer of the rest of the path. */
  const entered = (path: string) => {
    const column = path.slice(0, path.indexOf('.'))
    const [json, pointer] = [asJson(column), pointerIn(path.slice(column.length + 1))]
    return isNested(types.get(column) ?? '') ? { json, pointer } : undefined
  }
  return {
    input,
    names,
    cellOf: (name) => {
      const type = types.get(name)
      if (type !== undefined) return cellOfType(name, type)
      const { json, pointer } = entered(name)!
      return jsonCell(pointer, json)
    },
    hasPath: async (path) => {
      const place = entered(path)
      if (place === undefined) return false
      const [found] = await database.rows<{ has: boolean | null }>(
        `SELECT bool_or(json_exists(${place.json}, ${place.pointer})) AS has FROM ${source}`,
      )
      return found!.has === true
    },
    load: async (select) => {
      await database.run(`CREATE OR REPLACE TEMP TABLE texts AS ${select(source)}`)
      return NONE_REJECTED
    },
    placesOf: (records) => Promise.resolve(records.map((record) => `row ${record + 1}`)),
  }
}

/** Whether the values of a type of DuckDB have parts. */
const isNested = (type: string) => /^(STRUCT|MAP|UNION)\(|\[\d*\]$/.test(type)

const asJson = (name: string) => `to_json(${identifier(name)})`

/** A cell of a column. A timestamp without a zone has none in its text either. */
function cellOfType(name: string, type: string): Cell {
  const column = identifier(name)
  if (isNested(type)) {
    return {
      text: `${asJson(name)}::VARCHAR`,
      isThere: 'true',
      isBare: 'false',
      isNested: `${column} IS NOT NULL`,
    }
  }
  return {
    text:
      type === 'TIMESTAMP WITH TIME ZONE'
        ? `(${column} AT TIME ZONE 'UTC')::VARCHAR || 'Z'`
        : `${column}::VARCHAR`,
    isThere: 'true',
    isBare: String(type === 'DOUBLE' || type === 'FLOAT'),
  }
}
