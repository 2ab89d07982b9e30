// The names of a file's columns, read before the file itself.
import type { Database } from '../duckdb.ts'
import { readHeader } from './header.ts'
import type { Input } from './input.ts'
import { firstMembers, onlyFile } from './json-file.ts'

/** The table expression of a Parquet file. */
export function parquetRows({ path }: Pick<Input, 'path'>): string {
  return `read_parquet(${onlyFile(path)}, hive_partitioning = false)`
}

export function parquetColumns(
  database: Database,
  input: Input,
): Promise<{ column_name: string; column_type: string }[]> {
  return database.rows(`DESCRIBE SELECT * FROM ${parquetRows(input)}`)
}

/**
 * Returns the names of a file's columns, or of the members of its first row. Among CSV delimiters the one
 * wins that finds most of the names in `known`.
 *
 * @throws ServiceError `invalid` for a CSV file whose first line is no header.
 */
export async function columnNames(
  database: Database,
  input: Input,
  known: readonly string[],
): Promise<readonly string[]> {
  const { path, name, format } = input
  switch (format) {
    case 'csv': {
      const options = { delimiter: undefined, map: new Map<string, string>(), ignoreUnknown: true }
      return (await readHeader(path, name, { required: known, optional: [] }, options)).names
    }
    case 'parquet':
      return (await parquetColumns(database, input)).map(({ column_name }) => column_name)
    case 'json':
    case 'ndjson':
      return firstMembers(database, input)
  }
}
