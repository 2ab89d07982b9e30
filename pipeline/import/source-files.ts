// The files of a platform: each is recognised by its columns, and read into a table of texts.
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ServiceError } from '../../schemas/errors.ts'
import type { PipelineComponents } from '../components.ts'
import { identifier, literal } from '../duckdb.ts'
import type { FileTable } from './file-table.ts'
import { type Input, assertFile, decoded, openInput } from './input.ts'
import type { HeaderOptions } from './options.ts'
import { type IncomingRows, openTable, readTable } from './read-file.ts'
import { type ImportSource, type SourceForm, formTable } from './source.ts'
import { countOf } from './take-in.ts'
import { isZip, unzip } from './unzip.ts'

export interface SourceFile {
  /** The name without a folder, for messages. */
  name: string
  /** Undefined: a member of an archive that has no columns of a form, and is not read. */
  form: string | undefined
  rows: number
  placesOf: IncomingRows['placesOf']
}

/** Members of an archive that may be files of a platform. */
const READ_MEMBERS = ['.csv', '.json', '.jsonl', '.ndjson']

type ReadContext = Pick<PipelineComponents, 'database' | 'directory'>

/**
 * Reads the files into one table a form, with the columns `file` (an index of the returned list), `file_name`
 * and `record` (from 0). Grain: one row per row of a file. A form that no file has is an empty table.
 *
 * @throws ServiceError `invalid` for a file that cannot be read, that has a row that cannot be read, or that
 *   has the columns of no form.
 */
export async function readSourceFiles(
  { database, directory }: ReadContext,
  source: ImportSource,
  paths: readonly string[],
): Promise<SourceFile[]> {
  for (const [name, form] of Object.entries(source.forms)) {
    const texts = identifiersOf(form).map((column) => `${identifier(column)} VARCHAR`)
    await database.run(
      `CREATE OR REPLACE TEMP TABLE ${formTable(name)} (file INTEGER, file_name VARCHAR, record BIGINT, ${texts.join(', ')})`,
    )
  }
  const files: SourceFile[] = []
  const folderOf = async (name: string) => {
    const folder = join(directory, name)
    await mkdir(folder, { recursive: true })
    return folder
  }
  const read = async (path: string, name: string) => {
    const context = { database, directory: await folderOf(`file-${files.length}`) }
    files.push(await readSourceFile(context, source, path, name, files.length))
  }
  for (const [index, path] of paths.entries()) {
    await assertFile(path)
    const name = basename(path)
    if (!(await isZip(path))) {
      await read(path, name)
      if (files.at(-1)!.form === undefined) throw unrecognised(source, name)
      continue
    }
    const before = files.length
    const members = await unzip(path, await folderOf(`archive-${index}`), READ_MEMBERS)
    for (const member of members) await read(member.path, `${name}/${member.name}`)
    if (files.slice(before).every(({ form }) => form === undefined)) throw unrecognised(source, name)
  }
  return files
}

async function readSourceFile(
  { database, directory }: ReadContext,
  source: ImportSource,
  path: string,
  name: string,
  index: number,
): Promise<SourceFile> {
  const input = { ...(await openInput(path, directory)), name }
  const columns = { required: Object.values(source.forms).flatMap(namesOf), optional: [] }
  const open = (from: Input) => openTable(database, from, columns, PLAIN)
  let table = await open(input)
  const found = formOf(source, table)
  if (found === undefined) return { name, form: undefined, rows: 0, placesOf: () => Promise.resolve([]) }
  const { required, optional = {}, nested = [], encoding } = source.forms[found]!
  if (encoding !== undefined) table = await open(await decoded(input, directory, encoding))
  const has = namesIn(table)
  const map = new Map(
    Object.entries({ ...required, ...optional }).filter(([, column]) => has.includes(column)),
  )
  const present = Object.keys(optional).filter((column) => map.has(column))
  const { rejected, placesOf } = await readTable(
    database,
    table,
    { required: Object.keys(required), optional: present, nested },
    { ...PLAIN, map },
  )
  if (rejected.count > 0) {
    throw new ServiceError(
      'invalid',
      `${name}: ${rejected.count} ${rejected.count === 1 ? 'row' : 'rows'} cannot be read; nothing was imported`,
      { faults: rejected.faults },
    )
  }
  const given = [...Object.keys(required), ...present].map(identifier).join(', ')
  await database.run(
    `INSERT INTO ${formTable(found)} BY NAME SELECT ${index} AS file, ${literal(name)} AS file_name, record, ${given} FROM incoming`,
  )
  await database.run('DROP VIEW incoming')
  await database.run('DROP TABLE texts')
  const rows = await countOf({ database }, `${formTable(found)} WHERE file = ${index}`)
  return { name, form: found, rows, placesOf }
}

/** Files of platforms have columns that no form names. */
const PLAIN: HeaderOptions = { delimiter: undefined, map: new Map(), ignoreUnknown: true }

const namesIn = ({ names, around = [] }: FileTable) => [...names, ...around]
const namesOf = ({ required, optional = {} }: SourceForm) => [
  ...Object.values(required),
  ...Object.values(optional),
]
const identifiersOf = ({ required, optional = {} }: SourceForm) => [
  ...Object.keys(required),
  ...Object.keys(optional),
]

/** Returns the form of a file; undefined if it has none. */
function formOf({ forms }: ImportSource, table: FileTable): string | undefined {
  const names = namesIn(table)
  const fitting = Object.entries(forms).filter(([, { required }]) =>
    Object.values(required).every((column) => names.includes(column)),
  )
  const size = ([, { required }]: [string, SourceForm]) => Object.keys(required).length
  return fitting.toSorted((one, other) => size(other) - size(one))[0]?.[0]
}

function unrecognised({ name, forms }: ImportSource, file: string): ServiceError {
  const wanted = Object.entries(forms).map(
    ([form, { required }]) => `${form} have ${Object.values(required).join(', ')}`,
  )
  return new ServiceError(
    'invalid',
    `${file} has not the columns of any file of ${name}: ${wanted.join('; ')}`,
  )
}
