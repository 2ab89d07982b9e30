// JSON as a table: lines of objects, a list of objects, or a list inside a document.
import { ServiceError } from '../../schemas/errors.ts'
import { type Database, literal } from '../duckdb.ts'
import type { ExpectedColumns } from './cells.ts'
import { BLANK, type FileTable, onlyFile } from './file-table.ts'
import { MOST_COLUMNS, wantedNames } from './header.ts'
import { type Input, beginning } from './input.ts'
import { jsonCell, pointerIn, pointerTo } from './json-cells.ts'
import { linesAt, linesBetween } from './line-numbers.ts'
import { UNREADABLE_LINES, linesNamed, readLines, unreadStarts } from './lines-file.ts'
import type { HeaderOptions } from './options.ts'
import { NONE_REJECTED, type Rejected } from './rejected.ts'

/** The delimiter is a character that JSON does not allow. */
const LINES = {
  format: `header = false, columns = {'line': 'VARCHAR'}, delim = '\x1f', quote = '', escape = '', max_line_size = 1048576`,
  unreadable: { ...UNREADABLE_LINES, 'TOO MANY COLUMNS': ['a control character'] as const },
}

export async function openNdjson(database: Database, input: Input): Promise<FileTable> {
  const unread = await readLines(
    database,
    input,
    'lines',
    (source) => checkedLines(`SELECT line, NULL::VARCHAR AS head FROM ${source}`),
    LINES,
  )
  return tableOfLines(database, input, unread, undefined, async (records) => {
    const skipped = unread.count === 0 ? [] : await linesAt(input.path, await unreadStarts(database))
    return linesNamed(linesBetween(records, skipped))
  })
}

/**
 * Opens a list of objects, or a document that has a list of them: the one that `rows` names, or else its only
 * one. The other members of a document are those of each of its rows. With `rows`, each element of a list is
 * a document. The elements of a list are read in turn, a document is read as a whole.
 *
 * @throws ServiceError `invalid` for a document without such a list.
 */
export async function openJson(
  database: Database,
  input: Input,
  columns: Pick<ExpectedColumns, 'required' | 'optional'>,
  options: HeaderOptions,
): Promise<FileTable> {
  const { rows } = options
  const isList = await isJsonList(input.path)
  const list = `read_json_objects(${onlyFile(input.path)}, format = 'array')`
  let around: readonly string[] | undefined
  if (isList && rows === undefined)
    await makeLines(
      database,
      `SELECT coalesce(json::VARCHAR, 'null') AS line, NULL::VARCHAR AS head FROM ${list}`,
    )
  else {
    const documents = isList
      ? `SELECT json AS document FROM ${list}`
      : `SELECT content::JSON AS document FROM read_text(${onlyFile(input.path)})`
    await database.run(`CREATE OR REPLACE TEMP TABLE documents AS ${documents}`)
    const place = rows?.split('.') ?? [await onlyListOf(database, input)]
    around = await makeLinesOfDocuments(database, input, place, wantedNames(columns, options))
    await database.run('DROP TABLE documents')
  }
  return tableOfLines(database, input, NONE_REJECTED, around, (records) =>
    Promise.resolve(records.map((record) => `item ${record + 1}`)),
  )
}

/** Whether a JSON file is a list. */
async function isJsonList(path: string): Promise<boolean> {
  const start = await beginning(path)
  return /^(?:\xef\xbb\xbf)?\s*\[/.test(start.toString('latin1'))
}

/** Returns the name of the only list of a document. */
async function onlyListOf(database: Database, { name }: Input): Promise<string> {
  const members = await database.rows<{ key: string; type: string }>(
    `SELECT key, json_type(document, '/' || replace(replace(key, '~', '~0'), '/', '~1')) AS type
     FROM (SELECT document, unnest(json_keys(document)) AS key FROM documents)`,
  )
  const lists = members.filter(({ type }) => type === 'ARRAY').map(({ key }) => key)
  if (lists.length === 1) return lists[0]!
  throw new ServiceError(
    'invalid',
    `${name} is an object with ${lists.length === 0 ? 'no list' : `the lists ${lists.join(', ')}`}, and not one with one list of rows; see --rows`,
  )
}

/**
 * Makes the table `lines` of the list at `path` in each of the `documents`, and returns the names of the
 * members around it. Each row has the members that are wanted as its `head`: a large one beside them is not
 * repeated.
 */
async function makeLinesOfDocuments(
  database: Database,
  { name }: Input,
  path: readonly string[],
  wanted: ReadonlySet<string>,
): Promise<string[]> {
  const list = pointerTo(...path)
  const [{ lacking }] = (await database.rows<{ lacking: bigint }>(
    `SELECT count(*) AS lacking FROM documents WHERE json_type(document, ${list}) IS DISTINCT FROM 'ARRAY'`,
  )) as [{ lacking: bigint }]
  if (lacking > 0n) {
    throw new ServiceError(
      'invalid',
      `${name} has no list at ${JSON.stringify(path.join('.'))}, which --rows names`,
    )
  }
  const without = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), null)
  await database.run(
    `CREATE OR REPLACE TEMP TABLE heads AS SELECT document -> ${list} AS list,
       json_merge_patch(document, ${literal(JSON.stringify(without))}) AS head FROM documents`,
  )
  const entered = [...wanted].flatMap((text) => [text, text.split('.', 1)[0]!])
  await makeLines(
    database,
    `SELECT coalesce(unnest(list::JSON[])::VARCHAR, 'null') AS line,
       (SELECT json_group_object(key, value) FROM json_each(head) WHERE list_contains([${entered.map(literal).join(', ')}]::VARCHAR[], key))::VARCHAR AS head
     FROM heads`,
  )
  const around = await keysOf(database, 'head', 'heads')
  await database.run('DROP TABLE heads')
  return around
}

const makeLines = (database: Database, select: string) =>
  database.run(`CREATE OR REPLACE TEMP TABLE lines AS ${checkedLines(select)}`)

/** The query of lines with the fault of each that is no object; such a line is then NULL. */
const checkedLines = (select: string) =>
  `SELECT if(fault IS NULL, line, NULL) AS line, head, fault FROM (SELECT line, head, CASE
     WHEN coalesce(trim(line), '') = '' THEN '${BLANK}'
     WHEN NOT json_valid(line) THEN 'not JSON'
     WHEN json_type(line) <> 'OBJECT' THEN 'not a JSON object'
     WHEN len(json_keys(line)) <> len(list_distinct(json_keys(line))) THEN 'a field appears twice'
   END AS fault FROM (${select}))`

/** Returns the table of `lines`. `around` names the members of the documents around them, if any. */
async function tableOfLines(
  database: Database,
  input: Input,
  unread: Rejected,
  around: readonly string[] | undefined,
  placesOf: FileTable['placesOf'],
): Promise<FileTable> {
  const names = await keysOf(database, 'line', 'lines')
  const own = new Set([...names, ...(around ?? [])])
  const cellOf = (name: string) =>
    jsonCell(own.has(name) ? pointerTo(name) : pointerIn(name), 'line', around && 'head')
  return {
    input,
    names,
    ...(around && { around }),
    cellOf,
    hasPath: async (path) => {
      const [found] = await database.rows<{ has: boolean | null }>(
        `SELECT bool_or(${cellOf(path).isThere}) AS has FROM lines`,
      )
      return found!.has === true
    },
    fault: 'fault',
    load: async (select) => {
      await database.run(`CREATE OR REPLACE TEMP TABLE texts AS ${select('lines')}`)
      return unread
    },
    placesOf,
  }
}

/** Returns the names of the members of all rows, at most one more than a file may have. */
async function keysOf(
  database: Database,
  column: 'line' | 'head',
  table: 'lines' | 'heads',
): Promise<string[]> {
  const keys = await database.rows<{ key: string }>(
    `SELECT key FROM (SELECT rowid AS record, unnest(json_keys(${column})) AS key FROM ${table})
     GROUP BY key ORDER BY min(record), key LIMIT ${MOST_COLUMNS + 1}`,
  )
  return keys.map(({ key }) => key)
}
