// The cases of platforms' own files in test/import/sources, a folder for each source.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Components } from '../../../jobs/components/components.ts'
import { IMPORTS } from '../../../pipeline/import/columns.ts'
import { SOURCES } from '../../../pipeline/import/sources.ts'
import { currentVersions } from '../../../pipeline/tables/delta-log.ts'
import { attachAll } from '../../../pipeline/tables/views.ts'
import { namesOf } from '../people.ts'

export const CASES = fileURLToPath(new URL('../../import/sources/', import.meta.url))
export const sourceOf = (name: string) => SOURCES.find((source) => source.name === name)!

export async function filesOf(name: string): Promise<string[]> {
  const names = await readdir(join(CASES, name))
  return names
    .filter((file) => !['README.md', 'report.txt', 'rows.txt'].includes(file))
    .toSorted()
    .map((file) => join(CASES, name, file))
}

/** All rows of the tables, without the times at which they were written, and the names of people. */
export async function rowsOf(components: Components): Promise<string> {
  using database = await components.openDatabase()
  await attachAll(database, components.local, await currentVersions(components.store))
  const lines: string[] = []
  for (const table of IMPORTS) {
    const rows = await database.rows(`SELECT * EXCLUDE (recorded_at) FROM ${table} ORDER BY ALL`)
    lines.push(table, ...rows.map((row) => `  ${JSON.stringify(row)}`))
  }
  const people = await database.rows<{ user_id: string }>(
    'SELECT DISTINCT user_id FROM forecasters ORDER BY ALL',
  )
  const ids = people.map(({ user_id }) => user_id)
  const names = await namesOf(components.store, ids)
  lines.push('names', ...ids.map((id, index) => `  ${id} ${JSON.stringify(names[index])}`))
  return `${lines.join('\n')}\n`
}
