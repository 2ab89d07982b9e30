// The calls of each API key: counted in memory, made durable through the inbox, and read back by month.
import type { PipelineComponents } from '../components.ts'
import pMap, { pMapSkip } from 'p-map'
import { ServiceError } from '../../schemas/errors.ts'
import type { UsageRow } from '../../schemas/tables.ts'
import type { Tier } from '../../schemas/tiers.ts'
import { type Database, literal, parquet, withDatabase } from '../duckdb.ts'
import { inboxPath, inboxPrefix, isInboxPath } from '../store/paths.ts'
import { exists } from '../store/local-files.ts'
import { encodeRows } from '../tables/inbox.ts'
import { statisticsOf } from '../tables/delta.ts'
import { TableLog, localPaths } from '../tables/delta-log.ts'
import { localInbox } from '../tables/inbox.ts'
import { READS_AT_ONCE } from '../store/store.ts'

/** The fields by which calls are counted together. */
export interface UsageEntry {
  keyId: string
  accountId: string
  tier: Tier
  /** The UTC day of the call, as YYYY-MM-DD. */
  day: string
}

export type UsageLogComponents = Pick<PipelineComponents, 'store' | 'newId' | 'now'>

/** One inbox object. After a failure the same batch is written again. */
interface Batch {
  path: string
  bytes: Uint8Array
  calls: number
}

/**
 * Counts calls and writes them to the inbox from time to time. Calls that are not flushed are lost with the
 * process. A failed write is repeated with the same ids. So a reader that counts each `usage_id` once counts
 * each call once, whether or not the failed write took effect.
 */
export class UsageLog {
  readonly #components: UsageLogComponents
  #tally = new Map<string, Omit<UsageRow, 'usage_id' | 'recorded_at'>>()
  /** The batch being written, until the store confirms it. */
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

  count({ keyId, accountId, tier, day }: UsageEntry): void {
    // Only the account id, which comes last, may hold a space.
    const name = `${keyId} ${tier} ${day} ${accountId}`
    const counted = this.#tally.get(name)
    if (counted) counted.calls += 1
    else this.#tally.set(name, { key_id: keyId, account_id: accountId, tier, day, calls: 1 })
    this.#pending += 1
  }

  /**
   * Resolves once every call counted so far is durable in the inbox. Flushes run one after another; those
   * requested while one runs share the next.
   *
   * @throws ServiceError `unavailable` if the store does not answer: nothing is lost, and the next flush
   *   tries again.
   */
  flush(): Promise<void> {
    this.#waiting ??= this.#running.then(() => {
      this.#waiting = undefined
      const writing = this.#writeAll()
      // Callers of this flush get its failure; the next flush must not.
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
    // No other object has this path: if it is taken, an earlier attempt succeeded.
    await this.#components.store.putIfAbsent(batch.path, batch.bytes)
    this.#batch = undefined
    this.#pending -= batch.calls
  }

  #takeBatch(): Batch {
    const { newId, now } = this.#components
    const recorded_at = now()
    const rows = [...this.#tally.values()].map(
      (counted) => ({ usage_id: newId(), ...counted, recorded_at }) satisfies UsageRow,
    )
    const bytes = encodeRows('usage', rows)
    this.#tally = new Map()
    const calls = rows.reduce((sum, row) => sum + row.calls, 0)
    return { path: inboxPath('usage', newId(), bytes), bytes, calls }
  }
}

export type UsageContext = Pick<PipelineComponents, 'store' | 'local' | 'openDatabase'>

/**
 * Returns the calls of each account in a month (YYYY-MM). Every call that was durable at the start, in the
 * inbox or in the table, counts once, even while compactions run.
 */
export async function readMonthlyUsage(context: UsageContext, month: string): Promise<Map<string, number>> {
  const { store, local, openDatabase } = context
  for (;;) {
    // Read the inbox before the table: an object that leaves the inbox in between is in the table by then.
    const waiting = await waitingPaths(context)
    const table = await new TableLog(store, 'usage').readTo()
    const monthOf = (day: string | number = month) => String(day).slice(0, 7)
    const files = table.files.filter((file) => {
      const { minValues, maxValues } = statisticsOf(file)
      return monthOf(minValues['day']) <= month && month <= monthOf(maxValues['day'])
    })
    const taken = await localPaths(local, { ...table, files })
    if (waiting.length + taken.length === 0) return new Map()
    try {
      return await local.reading(() =>
        withDatabase(openDatabase, (database) => sumUsage(database, [...waiting, ...taken], month)),
      )
    } catch (error) {
      // Start again if a compaction has taken in a waiting object and removed it before it was read.
      const there = await pMap(waiting, exists, { concurrency: READS_AT_ONCE })
      if (there.every(Boolean)) throw error
    }
  }
}

/** Returns the inbox objects as local files, without objects that were removed while they were listed. */
async function waitingPaths({ store, local }: UsageContext): Promise<string[]> {
  const listed = await Array.fromAsync(store.list(inboxPrefix('usage')), ({ path }) => path)
  const localPathOf = (path: string): Promise<string | typeof pMapSkip> =>
    localInbox(local, path).catch((error: unknown) => {
      if (error instanceof ServiceError && error.kind === 'notFound') return pMapSkip
      throw error
    })
  return pMap(
    listed.filter((path) => isInboxPath('usage', path)),
    localPathOf,
    { concurrency: READS_AT_ONCE },
  )
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
