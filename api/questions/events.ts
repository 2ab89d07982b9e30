// The events of several questions, in memory: what a node tells of an event, read from its table.
import type { UndoneImport } from '../../schemas/manifests.ts'
import type { EventKind } from '../../schemas/tables.ts'
import { type Database, withDatabase } from '../../pipeline/duckdb.ts'
import type { LocalFiles } from '../../pipeline/store/local-files.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { TableLog } from '../../pipeline/tables/delta-log.ts'
import { without } from '../../pipeline/tables/left-out.ts'
import { attachCurrent } from '../../pipeline/tables/views.ts'

/** An event with a row. */
export interface KnownEvent {
  event_id: string
  title: string
  kind: EventKind
  source: string | null
  source_id: string | null
  url: string | null
}

const CURRENT = 'SELECT event_id, title, kind, source, source_id, url FROM current_events'

interface EventSource {
  store: Store
  local: LocalFiles
  openDatabase: () => Promise<Database>
}

export class Events {
  readonly #source: EventSource
  readonly #log: TableLog
  #byId = new Map<string, KnownEvent>()
  /** How many data files are in memory, and how many imports were undone then. */
  #read = 0
  #undone = 0

  constructor(source: EventSource) {
    this.#source = source
    this.#log = new TableLog(source.store, 'events')
  }

  /** Reads new data files, or all of them again if an import was undone. */
  async follow(undone: readonly UndoneImport[]): Promise<void> {
    await this.#log.refresh()
    const { files, ...version } = this.#log.current
    const isAnew = undone.length > this.#undone
    const fresh = isAnew ? files : files.slice(this.#read)
    if (fresh.length > 0) {
      const rows = await this.#rowsOf(
        without({ ...version, table: 'events' as const, files: fresh }, { undone_imports: undone }),
      )
      if (isAnew) this.#byId = new Map()
      for (const row of rows) this.#byId.set(row.event_id, row)
    }
    this.#read = files.length
    this.#undone = undone.length
  }

  #rowsOf(version: Parameters<typeof attachCurrent>[2]): Promise<KnownEvent[]> {
    const { local, openDatabase } = this.#source
    return local.reading(() =>
      withDatabase(openDatabase, async (database) => {
        await attachCurrent(database, local, version)
        return database.rows<KnownEvent>(CURRENT)
      }),
    )
  }

  /** Returns undefined for an event without a row. */
  find(eventId: string): KnownEvent | undefined {
    return this.#byId.get(eventId)
  }
}
