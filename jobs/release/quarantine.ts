// `fvs quarantine`.
import { withDatabase } from '../../pipeline/duckdb.ts'
import { quarantine } from '../../pipeline/release/quarantine.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import { quarantinePath } from '../../pipeline/store/paths.ts'
import type { Components } from '../components/components.ts'
import type { Report } from '../command-line/output.ts'

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
