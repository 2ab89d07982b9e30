// What each API key has used: counted in memory, made durable through the inbox, and read back by the month.
import { stat } from 'node:fs/promises'
import pMap from 'p-map'
import { ServiceError } from '../../schemas/errors.ts'
import type { UsageRow } from '../../schemas/tables.ts'
import { type Database, literal, parquet, withDatabase } from '../duckdb.ts'
import { inboxPath, inboxPrefix, isInboxPath } from '../store/paths.ts'
import type { LocalFiles } from '../store/local-files.ts'
import type { Store } from '../store/store.ts'
import { encodeRows } from '../tables/inbox.ts'
import { TableLog, localPaths } from '../tables/delta-log.ts'

/** By what calls are added up. */
export interface UsageEntry {
  keyId: string
  accountId: string
  tier: UsageRow['tier']
  /** The UTC day of the call, as YYYY-MM-DD. */
  day: string
}

export interface UsageLogComponents {
  store: Store
  /** A new version 7 UUID. */
  newId: () => string
  now: () => Date
}

/** What one object of the inbox holds, or is to hold: a try after a failed one writes the same again. */
interface Batch {
  key: string
  bytes: Uint8Array
  calls: number
}

/**
 * Counts calls and writes them down from time to time. What is counted and not flushed goes with the process.
 * A write that failed is repeated with the same ids, so a reader who counts each `usage_id` once counts each call
 * once, whether or not the failed write took effect.
 */
export class UsageLog {
  readonly #components: UsageLogComponents
  #tally = new Map<string, { entry: UsageEntry; calls: number }>()
  /** What a flush has begun to write and no store has confirmed. */
  #batch: Batch | undefined
  #pending = 0
  #running: Promise<void> = Promise.resolve()
  #waiting: Promise<void> | undefined

  constructor(components: UsageLogComponents) {
    this.#components = components
  }

  /** Calls that are not durable yet. */
  get pending(): number {
    return this.#pending
  }

  /** Adds one call. */
  count({ keyId, accountId, tier, day }: UsageEntry): void {
    const name = JSON.stringify([keyId, accountId, tier, day])
    const counted = this.#tally.get(name)
    if (counted) counted.calls += 1
    else this.#tally.set(name, { entry: { keyId, accountId, tier, day }, calls: 1 })
    this.#pending += 1
  }

  /**
   * Resolves once every call counted before is durable in the inbox. Flushes run one after another; those that are
   * asked for while one runs share the next.
   *
   * @throws ServiceError `unavailable` where the store does not answer: nothing is lost, and the next flush tries
   *   again.
   */
  flush(): Promise<void> {
    this.#waiting ??= this.#running.then(() => {
      this.#waiting = undefined
      const writing = this.#writeAll()
      // Its failure is told to those who asked for it.
      this.#running = writing.catch(() => undefined)
      return writing
    })
    return this.#waiting
  }

  async #writeAll(): Promise<void> {
    if (this.#batch) await this.#write(this.#batch)
    if (this.#tally.size > 0) await this.#write(this.#takeBatch())
  }

  async #write(batch: Batch): Promise<void> {
    this.#batch = batch
    // A key that nobody else uses: where it is taken, an earlier try came through.
    await this.#components.store.putIfAbsent(batch.key, batch.bytes)
    this.#batch = undefined
    this.#pending -= batch.calls
  }

  #takeBatch(): Batch {
    const { newId, now } = this.#components
    const recorded_at = now()
    const rows = [...this.#tally.values()].map(({ entry, calls }) => {
      const { keyId: key_id, accountId: account_id, tier, day } = entry
      return { usage_id: newId(), key_id, account_id, tier, day, calls, recorded_at } satisfies UsageRow
    })
    const bytes = encodeRows('usage', rows)
    this.#tally = new Map()
    const calls = rows.reduce((sum, row) => sum + row.calls, 0)
    return { key: inboxPath('usage', newId()), bytes, calls }
  }
}

export interface UsageContext {
  store: Store
  local: LocalFiles
  openDatabase: () => Promise<Database>
}

const READS_AT_ONCE = 16

/**
 * The calls of each account on the days of a month (YYYY-MM): all that were durable when this was asked for, taken
 * in or not, each once, also while compactions run.
 */
export async function readMonthlyUsage(context: UsageContext, month: string): Promise<Map<string, number>> {
  const { store, local, openDatabase } = context
  for (;;) {
    // The inbox before the table: what leaves it in between is in the table by then.
    const waiting = await waitingPaths(context)
    const table = await new TableLog(store, 'usage').readTo(Number.MAX_SAFE_INTEGER)
    const files = table.files.filter(({ minValues, maxValues }) => {
      const monthOf = (day: string | number = month) => String(day).slice(0, 7)
      return monthOf(minValues['day']) <= month && month <= monthOf(maxValues['day'])
    })
    const taken = await localPaths(local, { ...table, files })
    if (waiting.length + taken.length === 0) return new Map()
    try {
      return await withDatabase(openDatabase, (database) => sumUsage(database, [...waiting, ...taken], month))
    } catch (error) {
      // A compaction has committed a waiting object and removed it before it could be read.
      if (!(await anyGone(waiting))) throw error
    }
  }
}

/** The objects of the inbox as local files, but for those that went while they were being listed. */
async function waitingPaths({ store, local }: UsageContext): Promise<string[]> {
  const keys = (await Array.fromAsync(store.list(inboxPrefix('usage')))).map(({ path }) => path)
  const pathOf = (key: string) =>
    local.path(key).catch((error: unknown) => {
      if (error instanceof ServiceError && error.kind === 'notFound') return undefined
      throw error
    })
  const paths = await pMap(
    keys.filter((key) => isInboxPath('usage', key)),
    pathOf,
    { concurrency: READS_AT_ONCE },
  )
  return paths.filter((path) => path !== undefined)
}

async function anyGone(paths: readonly string[]): Promise<boolean> {
  const there = await pMap(
    paths,
    (path) =>
      stat(path).then(
        () => true,
        () => false,
      ),
    { concurrency: READS_AT_ONCE },
  )
  return there.includes(false)
}

async function sumUsage(database: Database, paths: string[], month: string): Promise<Map<string, number>> {
  const first = `${literal(`${month}-01`)}::DATE`
  // Grain: one row per account.
  const rows = await database.rows<{ account_id: string; calls: bigint }>(
    `SELECT account_id, sum(calls) AS calls
     FROM (SELECT DISTINCT usage_id, account_id, calls FROM ${parquet(paths)}
           WHERE day BETWEEN ${first} AND last_day(${first}))
     GROUP BY account_id`,
  )
  return new Map(rows.map(({ account_id, calls }) => [account_id, Number(calls)]))
}
