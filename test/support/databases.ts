// Databases that the tests of a process use by turns, each empty when it is opened. To make one takes 13 ms of
// processor time, an import of a few rows 100.
import { join } from 'node:path'
import { inject } from 'vitest'
import { Database, type DatabaseSettings, identifier } from '../../pipeline/duckdb.ts'

const idle = new Map<string, Database[]>()

/** Opens an empty database. Closing it leaves it to the next who opens one with these settings. */
export async function openSharedDatabase(settings: Omit<DatabaseSettings, 'directory'>): Promise<Database> {
  const key = JSON.stringify(settings)
  const kept = idle.get(key) ?? []
  idle.set(key, kept)
  const database = (await emptied(kept.pop())) ?? (await Database.open({ ...settings, directory: spill() }))
  return lent(database, () => kept.push(database))
}

const spill = () => join(inject('runFolder'), `spill-${process.pid}`)

/** Returns undefined for a database that cannot be used again, such as one that a fatal error has closed. */
async function emptied(database: Database | undefined): Promise<Database | undefined> {
  if (database === undefined) return undefined
  try {
    const left = await database.rows<{ kind: string; place: string; name: string }>(LEFT)
    for (const { kind, place, name } of left) {
      if (kind === 'VARIABLE') await database.run(`RESET VARIABLE ${identifier(name)}`)
      else await database.run(`DROP ${kind} IF EXISTS ${identifier(place)}.${identifier(name)} CASCADE`)
    }
    await database.run('SET enable_progress_bar = false')
    return database
  } catch {
    database[Symbol.dispose]()
    return undefined
  }
}

/** Functions and macros stay: each command defines those that it uses anew. */
const LEFT = `
  SELECT 'VIEW' AS kind, database_name AS place, view_name AS name FROM duckdb_views() WHERE NOT internal
  UNION ALL SELECT 'TABLE', database_name, table_name FROM duckdb_tables() WHERE NOT internal
  UNION ALL SELECT 'TYPE', database_name, type_name FROM duckdb_types() WHERE NOT internal
  UNION ALL SELECT 'VARIABLE', '', name FROM duckdb_variables()`

/** A database that only this borrower reaches: it refuses all use once it is closed. */
function lent(database: Database, giveBack: () => void): Database {
  let isOpen = true
  const close = () => {
    if (isOpen) giveBack()
    isOpen = false
  }
  const own: Partial<Database> = { [Symbol.dispose]: close }
  return new Proxy(own as Database, {
    get: (_, key) => {
      if (Object.hasOwn(own, key)) return Reflect.get(own, key) as unknown
      if (!isOpen) throw new Error('the database is closed')
      const value: unknown = Reflect.get(database, key, database)
      return typeof value === 'function' ? (value.bind(database) as unknown) : value
    },
  })
}
