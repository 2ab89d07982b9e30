// Imports as transcripts. A folder of `cases/` has files and `said.txt`: each command and each query of the
// tables stands after `$`, and below it all that it says. `npx vitest run FILE -u` writes that
// anew.
import { readdirSync } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { runImport, runTrial } from '../../jobs/import/import.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { type GivenOptions, parseOptions } from '../../pipeline/import/options.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { attachAll } from '../../pipeline/tables/views.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, importRows, testComponents } from '../support/http/service.ts'
import { sample } from '../support/runs.ts'
import { contentOf, copyOf } from '../support/store-content.ts'
import { NOW } from '../support/worlds/world.ts'

const CASES = fileURLToPath(new URL('cases/', import.meta.url))
const SAID = 'said.txt'
/** The options of `fvs import`, which are the fields of `GivenOptions` in another spelling. */
const TEXTS = ['delimiter', 'ids', 'timezone', 'outcomes', 'rows', 'epoch', 'events', 'correct']
const LISTS = ['map', 'namespace', 'set', 'where']
const FLAGS = ['ignore-unknown', 'percent', 'first-of-repeats', 'days', 'normalize-text', 'dry-run']

const folder = await suiteFolder()
let prepared: MemoryStore

/** A store with two questions, the second as one whose id was the text q1. */
beforeAll(async () => {
  prepared = new MemoryStore()
  const components = await testComponents({ store: prepared, clock: new Clock(NOW), folder })
  await importRows(components, 'questions', await readFile(join(CASES, 'questions.csv'), 'utf8'))
})

const cases = readdirSync(CASES, { withFileTypes: true }).filter((entry) => entry.isDirectory())
test.for(sample(cases.map(({ name }) => name)))('%s', async (name) => {
  const components = await testComponents({ store: copyOf(prepared), clock: new Clock(NOW), folder })
  await cp(join(CASES, name), components.directory, { recursive: true })
  const transcript = await readFile(join(CASES, name, SAID), 'utf8')
  const commands = transcript.split('\n').filter((line) => line.startsWith('$ '))
  expect(commands).not.toEqual([])
  const lines: string[] = []
  for (const command of commands) {
    const text = command.slice(2)
    lines.push(
      command,
      ...(text.startsWith('fvs ') ? await said(components, text) : await rows(components, text)),
    )
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(CASES, name, SAID))
})

/** The lines of an import: its report, or the message and the faults of a refusal, which writes nothing. */
async function said(components: Components, command: string): Promise<string[]> {
  const { kind, path, options, isTrial } = parsed(components, command)
  const before = await contentOf(components.store)
  const run = isTrial ? runTrial : runImport
  try {
    const { ok, text } = await run(components, kind, path, parseOptions(kind, options))
    if (isTrial) expect(await contentOf(components.store)).toEqual(before)
    // The clock of these tests stands still, and the number of the import is of no interest.
    const lines = text.split('\n').filter((line) => !/^(note: the clock|import )/.test(line))
    return ok ? lines : [...lines, 'exits with 1']
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    expect(error.kind).toBe('invalid')
    expect(await contentOf(components.store)).toEqual(before)
    const faults = error.faults.map(({ pointer, detail }) => `${pointer}: ${detail}`)
    return [error.message.replaceAll(`${components.directory}/`, ''), ...faults]
  }
}

function parsed({ directory }: Components, command: string) {
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
  const { values, positionals } = parseArgs({
    args: words.slice(2),
    allowPositionals: true,
    options: {
      ...Object.fromEntries(TEXTS.map((name) => [name, { type: 'string' as const }])),
      ...Object.fromEntries(LISTS.map((name) => [name, { type: 'string' as const, multiple: true }])),
      ...Object.fromEntries(FLAGS.map((name) => [name, { type: 'boolean' as const }])),
    },
  })
  const { 'dry-run': isTrial = false, ...given } = values as Record<string, unknown>
  const spelt = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
  const options = Object.fromEntries(Object.entries(given).map(([name, value]) => [spelt(name), value]))
  const [kind, file] = positionals as [ImportKind, string]
  return { kind, path: join(directory, file), options: options as GivenOptions, isTrial }
}

/** The rows of a query of the tables, as JSON. */
async function rows({ openDatabase, local, store }: Components, sql: string): Promise<string[]> {
  using database = await openDatabase()
  await attachAll(database, local, await currentVersions(store))
  return (await database.rows(sql)).map((row) => JSON.stringify(row))
}
