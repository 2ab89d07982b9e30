// `fvs quarantine`.
import { withDatabase } from '../../pipeline/duckdb.ts'
import { quarantine } from '../../pipeline/release/quarantine.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import { quarantinePath } from '../../pipeline/store/paths.ts'
import type { Components } from '../components/components.ts'
import type { Report } from '../command-line/output.ts'
import { parseReason } from '../command-line/arguments.ts'
import { type StoreOptions, onStore, storeCommand } from '../command-line/program.ts'

export function addQuarantine(): void {
  storeCommand('quarantine', 'Move aside an object that cannot be read, so that the next release goes on.')
    .argument('<key>', 'its path in the store: an inbox object, an intake or the manifest of a snapshot')
    .requiredOption('--reason <text>', 'why, for everyone to read in the next releases', parseReason)
    .action((key: string, options: StoreOptions & { reason: string }) =>
      onStore(options, 'writes', (components) => runQuarantine(components, key, options.reason)),
    )
}

export async function runQuarantine(components: Components, key: string, reason: string): Promise<Report> {
  await assertEnvironment(components)
  const { object, was_recorded, data_files } = await withDatabase(components.openDatabase, (database) =>
    quarantine({ ...components, database }, key, reason),
  )
  const what = object.sha256 === null ? 'is gone, which is recorded' : `lies in ${quarantinePath(key)}`
  const rows =
    object.rows === null ? '' : `; its footer names ${object.rows} ${object.rows === 1 ? 'row' : 'rows'}`
  const files = data_files.map((path) => `\n${path}, made with it, was moved aside too`)
  return {
    ok: true,
    json: { ...object, was_recorded, data_files },
    text: `${key} ${what} since ${object.at}${rows}. The next release goes on and lists it: ${object.reason}${files.join('')}`,
  }
}
