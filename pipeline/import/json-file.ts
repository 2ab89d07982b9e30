// Reads a JSON file into lines: a list of objects, or an object that has one such list.
import { ServiceError } from '../../schemas/errors.ts'
import { type Database, literal } from '../duckdb.ts'
import { type Input, beginning } from './input.ts'

/** The JSON Pointer (RFC 6901) of a field of an object. */
export const pointerTo = (name: string) => literal(`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)

/**
 * A file's path for DuckDB's readers, escaped because they would read some names as patterns for other files.
 */
export function onlyFile(path: string): string {
  return literal(path.replace(/[*?[]/g, '[$&]'))
}

/** Whether a JSON file is a list. */
async function isJsonList(path: string): Promise<boolean> {
  const start = await beginning(path)
  return /^(?:\xef\xbb\xbf)?\s*\[/.test(start.toString('latin1'))
}

/** Makes the table `lines` of a JSON file, with the members around its list as `head`. */
export async function makeJsonLines(database: Database, input: Input): Promise<void> {
  const { path, name } = input
  const made = (select: string) => database.run(`CREATE OR REPLACE TEMP TABLE lines AS ${select}`)
  if (await isJsonList(path)) {
    return made(
      `SELECT row_number() OVER () - 1 AS record, json::VARCHAR AS line, '{}' AS head
       FROM read_json_objects(${onlyFile(path)}, format = 'array')`,
    )
  }
  await database.run(
    `CREATE OR REPLACE TEMP TABLE document AS SELECT content::JSON AS document FROM read_text(${onlyFile(path)})`,
  )
  const members = await database.rows<{ key: string; type: string }>(
    `SELECT key, json_type(document, '/' || replace(replace(key, '~', '~0'), '/', '~1')) AS type
     FROM (SELECT document, unnest(json_keys(document)) AS key FROM document)`,
  )
  const lists = members.filter(({ type }) => type === 'ARRAY').map(({ key }) => key)
  if (lists.length !== 1) {
    throw new ServiceError(
      'invalid',
      `${name} is an object with ${lists.length === 0 ? 'no list' : `the lists ${lists.join(', ')}`}, and not one with one list of rows`,
    )
  }
  const list = pointerTo(lists[0]!)
  const without = literal(JSON.stringify({ [lists[0]!]: null }))
  await made(
    `SELECT unnest(range(len(list))) AS record, unnest(list)::VARCHAR AS line, head::VARCHAR AS head FROM (
       SELECT (document -> ${list})::JSON[] AS list, json_merge_patch(document, ${without}) AS head FROM document)`,
  )
  await database.run('DROP TABLE document')
}

/** A row may lack a member that the next one has. */
const ROWS_LOOKED_AT = 100

/** Returns the members of the first rows of a file of JSON, with those around its list. */
export async function firstMembers(database: Database, input: Input): Promise<string[]> {
  const { path, format } = input
  const isObject = format === 'json' && !(await isJsonList(path))
  if (isObject) await makeJsonLines(database, input)
  const layout = format === 'json' ? 'array' : 'newline_delimited'
  const first = isObject
    ? 'SELECT list_concat(json_keys(head), json_keys(line)) AS keys FROM lines'
    : `SELECT json_keys(json) AS keys FROM read_json_objects(${onlyFile(path)}, format = '${layout}')`
  const rows = await database.rows<{ key: string }>(
    `SELECT DISTINCT unnest(keys) AS key FROM (${first} LIMIT ${ROWS_LOOKED_AT})`,
  )
  return rows.map(({ key }) => key)
}
