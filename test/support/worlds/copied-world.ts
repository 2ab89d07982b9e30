// A store at work for tests of its copies: a release with its log and its feed, an agent, and forecasts that
// wait; and what is wrong with a copy of it.
import { runRelease } from '../../../jobs/release/release.ts'
import { auditLog } from '../../../pipeline/audit/log.ts'
import { auditRelease } from '../../../pipeline/audit/release.ts'
import { withDatabase } from '../../../pipeline/duckdb.ts'
import { currentRelease, readManifest } from '../../../pipeline/release/read.ts'
import { LocalFiles } from '../../../pipeline/store/local-files.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { apiForecast } from '../http/api-forecasts.ts'
import {
  Clock,
  SECRET,
  importRows,
  registerAgent,
  startTestService,
  testComponents,
} from '../http/service.ts'
import { contentOf } from '../store-content.ts'
import { send } from '../tables.ts'
import { uuidOf } from './world.ts'
import { LOG_KEY, LOG_SECRET } from './written-log.ts'

const FIRST = '2026-02-28T12:00:00.000Z'
const SECOND = '2026-03-01T12:00:00.000Z'
const THIRD = '2026-03-02T12:00:00.000Z'
/** Forecasts that the service acknowledged before any copy begins. */
const WAITING = 3
const OF_PEOPLE = 2

export class CopiedWorld {
  readonly store = new MemoryStore()
  readonly folder: string
  #agentId = ''
  /** Copies without a fault, by their content. */
  readonly #sound = new Set<string>()

  constructor(folder: string) {
    this.folder = folder
  }

  async begin(): Promise<void> {
    const components = await this.#components(this.store, FIRST)
    const open = '2026-01-01T00:00:00Z,2026-12-01T00:00:00Z'
    const questions = [1, 2].map((number) => `${uuidOf(1, number)},q${number},${open}`)
    await importRows(
      components,
      'questions',
      ['question_id,title,opened_at,closes_at', ...questions].join('\n'),
    )
    const outcome = `question_id,outcome,resolved_at\n${uuidOf(1, 1)},yes,2026-02-01T00:00:00Z`
    await importRows(components, 'resolutions', outcome)
    const people = [1, 2].map(
      (n) => `forecaster,${uuidOf(2, n)},${uuidOf(1, 1)},0.${n},2026-01-0${n}T00:00:00Z`,
    )
    const columns = 'entity_type,entity_id,question_id,probability,forecast_at'
    await importRows(components, 'forecasts', [columns, ...people].join('\n'))
    const service = await startTestService(components)
    this.#agentId = (await registerAgent(service.client)).agentId
    await service.stop()
    await runRelease(components, {})
    for (let number = 0; number < WAITING; number++) await this.#forecast(this.store, number, FIRST)
  }

  /** A forecast comes, and a release takes in whatever waits. */
  async work(store: Store): Promise<void> {
    await this.#forecast(store, WAITING, SECOND)
    await runRelease(await this.#components(store, SECOND), {})
  }

  /**
   * Makes a release from a copy, and returns what is wrong with it: the faults that the audits of that release
   * and of the log find, and forecasts that were acknowledged and do not count.
   */
  async faultsOf(store: Store): Promise<string[]> {
    const content = JSON.stringify(await contentOf(store))
    if (this.#sound.has(content)) return []
    const components = await this.#components(store, THIRD)
    await runRelease(components, {})
    const last = await currentRelease(store)
    using auditing = await components.openDatabase()
    const audit = await auditRelease({ ...components, database: auditing, secrets: [SECRET] }, last)
    const { directory, openDatabase } = components
    const local = new LocalFiles(store, `${directory}/audited`)
    const keys = { keys: [LOG_KEY.verifier], witnesses: [] }
    const log = await withDatabase(openDatabase, (database) =>
      auditLog({ ...keys, store, database, local, directory, progress: () => undefined }),
    )
    const { counts } = (await readManifest(store, last))!
    const lost = OF_PEOPLE + WAITING - counts.forecasts
    const faults = [...audit.faults, ...log.faults, ...(lost > 0 ? [`${lost} forecasts are lost`] : [])]
    if (faults.length === 0) this.#sound.add(content)
    return faults
  }

  /** A forecast of the agent, as the API writes it. */
  async #forecast(store: Store, number: number, at: string): Promise<void> {
    const { row } = apiForecast(this.#agentId, number, at, 0.5)
    await send(store, 'forecasts', `w${number}`, [{ ...row, question_id: uuidOf(1, 2) }])
  }

  #components(store: Store, at: string) {
    const settings = { LOG_SIGNING_KEY: LOG_SECRET }
    return testComponents({ store, folder: this.folder, clock: new Clock(at), settings })
  }
}
