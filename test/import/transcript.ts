// The commands of a case: `fvs`; queries of the tables; COPY, for a file of Parquet; `read`, for the rows of a
// file before any check; and else those of bash, for a file that an editor would spoil.
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { expect } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { runImportFrom } from '../../jobs/import/import-from.ts'
import { runImport, runTrial } from '../../jobs/import/import.ts'
import { runUndo } from '../../jobs/import/imports.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { type GivenOptions, parseOptions } from '../../pipeline/import/options.ts'
import { defineKnownNames } from '../../pipeline/import/people-names.ts'
import { readRows } from '../../pipeline/import/read-file.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { importIdOf } from '../../pipeline/tables/import-id.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { RunningCommand } from '../support/command.ts'
import { contentOf } from '../support/store-content.ts'
import { sourceOf } from '../support/worlds/source-cases.ts'

/** The options of `fvs`, whose fields have another spelling. */
const TEXTS = 'delimiter ids timezone outcomes rows epoch events correct reason report'
const LISTS = 'map namespace set where'
const FLAGS = 'ignore-unknown percent first-of-repeats days normalize-text dry-run check with-freeze'

/** Runs a command in the folder of the components, and returns the lines that it says. */
export async function linesOf(components: Components, command: string): Promise<string[]> {
  switch (command.split(' ', 1)[0]) {
    case 'fvs':
      return command.includes('.*') ? inEveryForm(components, command) : reported(components, command)
    case 'SELECT':
    case 'COPY':
      return queried(components, command)
    case 'read':
      return refusalOr(components, () => rowsIn(components, command.slice('read '.length)))
    default: {
      const bash = new RunningCommand('bash', ['-euc', command], { cwd: components.directory })
      const { code, stdout, stderr } = await bash.ended
      expect(code, stderr).toBe(0)
      return stdout.split('\n').slice(0, -1)
    }
  }
}

/** The lines of `work`, or the message and the faults of a refusal, which writes nothing. */
async function refusalOr({ store, directory }: Components, work: () => Promise<string[]>): Promise<string[]> {
  const before = await contentOf(store)
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    expect(await contentOf(store)).toEqual(before)
    const message = error.message.replaceAll(`${directory}/`, '')
    const faults = error.faults.map(({ pointer, detail }) => `${pointer}: ${detail}`)
    return [error.kind === 'invalid' ? message : `${error.kind}: ${message}`, ...faults]
  }
}

function reported(components: Components, command: string): Promise<string[]> {
  return refusalOr(components, async () => {
    const before = await contentOf(components.store)
    const { ok, text } = await run(components, command)
    if (command.includes(' --dry-run')) expect(await contentOf(components.store)).toEqual(before)
    // Leave out the numbers of imports, and notes: on the clock, which stands still here, and on platforms.
    const lines = text.split('\n').filter((line) => !/^(imports? |note: |terms: )/.test(line))
    return ok ? lines : [...lines, 'exits with 1']
  })
}

const optionsOf = (names: string, option: { type: 'string' | 'boolean'; multiple?: boolean }) =>
  Object.fromEntries(names.split(' ').map((name) => [name, option]))

async function run(components: Components, command: string) {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
  const { values, positionals } = parseArgs({
    args: words.slice(1),
    allowPositionals: true,
    options: {
      ...optionsOf(TEXTS, { type: 'string' }),
      ...optionsOf(LISTS, { type: 'string', multiple: true }),
      ...optionsOf(FLAGS, { type: 'boolean' }),
    },
  })
  const inCode = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  const { report, reason, ...options } = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [inCode(name), value]),
  ) as GivenOptions & { dryRun?: boolean; report?: string; reason?: string }
  const at = (file: string) => join(components.directory, file)
  const [family, what, ...files] = positionals as [string, string, ...string[]]
  switch (family) {
    case 'imports':
      return runUndo(components, importIdOf(files[0]!), reason!)
    case 'import-from': {
      const toFile = report === undefined ? {} : { report: at(report) }
      return runImportFrom(components, sourceOf(what), files.map(at), { ...options, ...toFile })
    }
    default: {
      const kind = what as ImportKind
      const { dryRun, ...given } = options
      const source = files[0] === '-' ? createReadStream(at(files[2]!)) : at(files[0]!)
      return (dryRun ? runTrial : runImport)(components, kind, source, parseOptions(kind, given))
    }
  }
}

/** What is said of a.*: the same of the rows of a.ndjson in each form, but for the places of rows. */
async function inEveryForm(components: Components, command: string): Promise<string[]> {
  const [file = '', stem = ''] = /(\S+)\.\*/.exec(command)!
  const sayings: string[][] = []
  for (const form of await writeForms(components, stem)) {
    const options = form === 'document.json' ? ' --rows data.rows' : ''
    const lines = await reported(components, command.replace(file, `${stem}.${form}`) + options)
    sayings.push(lines.map((line) => ofAnyForm(line.replaceAll(`${stem}.${form}`, file))))
  }
  for (const other of sayings) expect(other).toEqual(sayings[0])
  return sayings[0]!
}

const ofAnyForm = (line: string) =>
  line.replace(/; the header that was found.*/, '').replace(/^( *)(?:line|row|item) \d+: /, '$1')

/** Writes the rows of a file of NDJSON in every other form that can hold them. Returns the forms. */
async function writeForms({ directory, openDatabase }: Components, stem: string): Promise<string[]> {
  const path = (form: string) => join(directory, `${stem}.${form}`)
  const lines = (await readFile(path('ndjson'), 'utf8')).trimEnd().split('\n')
  const rows = lines.map((line) => JSON.parse(line) as object)
  await writeFile(path('json'), JSON.stringify(rows))
  await writeFile(path('document.json'), JSON.stringify({ next: null, data: { others: [], rows } }))
  using database = await openDatabase()
  await database.run(
    `CREATE TEMP TABLE form AS FROM read_json('${path('ndjson')}', convert_strings_to_integers = false,
       dateformat = 'none', timestampformat = 'none')`,
  )
  for (const form of ['csv', 'parquet']) await database.run(`COPY form TO '${path(form)}'`)
  const hasParts = rows.some((row) => Object.values(row).some((value) => value instanceof Object))
  return ['ndjson', 'json', 'document.json', 'parquet', ...(hasParts ? [] : ['csv'])]
}

async function queried(
  { openDatabase, local, store, directory }: Components,
  sql: string,
): Promise<string[]> {
  using database = await openDatabase()
  await attachAll(database, local, await currentVersions(store))
  await defineKnownNames({ store, database })
  const rows = await database.rows(sql.replaceAll(`'./`, `'${directory}/`))
  return sql.startsWith('COPY') ? [] : rows.map((row) => JSON.stringify(row))
}

/** The rows with an id, a title and perhaps a url, each after its place, and the lines that are none. */
async function rowsIn({ openDatabase, directory }: Components, file: string): Promise<string[]> {
  using database = await openDatabase()
  const columns = { required: ['id', 'title'], optional: ['url'] }
  const options = { delimiter: undefined, map: new Map<string, string>(), ignoreUnknown: false }
  const path = join(directory, file)
  const { rejected, placesOf } = await readRows({ database, directory }, path, columns, options)
  const rows = await database.rows('SELECT record, id, title, url FROM incoming ORDER BY record')
  const places = await placesOf(rows.map(({ record }) => Number(record)))
  return [
    ...rows.map(({ id, title, url }, index) => `${places[index]}: ${JSON.stringify({ id, title, url })}`),
    ...rejected.faults.map(({ pointer, detail }) => `${pointer}: ${detail}`),
    ...(rejected.count > 0 ? [`${rejected.count} bad`] : []),
  ]
}
