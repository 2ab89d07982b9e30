// The calls of the operator: rows that are checked and taken in as those of a file are, and statements about
// agents. Each call is in the operator's log.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import pLimit from 'p-limit'
import type { ForecastIds } from '../../pipeline/access/forecast-ids.ts'
import { endClaims } from '../../pipeline/access/owner-claims.ts'
import { type OperatorCall, logCall } from '../../pipeline/access/operator-log.ts'
import { type Database, withDatabase } from '../../pipeline/duckdb.ts'
import {
  type RetirementNotes,
  type StatedCounts,
  assignOwner,
  retireNow,
  unretireNow,
} from '../../pipeline/import/agents.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import type { ImportPart } from '../../pipeline/import/compare.ts'
import { effectJson } from '../../pipeline/import/effect-json.ts'
import { filePart, importParts } from '../../pipeline/import/import.ts'
import { type GivenOptions, type ImportOptions, parseOptions } from '../../pipeline/import/options.ts'
import { type SentForecast, type TakenForecast, takeForecasts } from '../../pipeline/import/people.ts'
import { previewParts } from '../../pipeline/import/preview.ts'
import type { ImportContext } from '../../pipeline/import/take-in.ts'
import type { Receipts } from '../../pipeline/tables/receipts.ts'
import { textOfImport } from '../../pipeline/tables/import-id.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { ForecastRow } from '../../schemas/tables.ts'
import type { KeyOf } from '../limits/callers.ts'
import { faultsOfCall } from './call-faults.ts'
import { type EventOutcome, eventResolutions } from './event-outcome.ts'

/** The most calls that wait for their turn, in which they read the tables. A turn may take a second. */
const MOST_WAITING = 20

/** The rows of a call, and why they change how a scored question is scored. */
export interface SentRows {
  kind: ImportKind
  rows: readonly object[]
  reason?: string | undefined
}

/** A statement about an agent. A field that is left out changes nothing. */
export interface AgentStatement {
  owner_id?: string | null | undefined
  retired?: boolean | undefined
}

/** A call: by whose key, and its method and path for the log. */
export interface By {
  caller: KeyOf<'operator'>
  call: string
}

type WorkContext = Omit<ImportContext, 'database' | 'released'>

export interface OperatorComponents extends WorkContext {
  openDatabase: () => Promise<Database>
  /** The versions that the last release was made from, or that one which has been begun will be made from. */
  releasedVersions: () => Promise<Record<string, number>>
  registry: RetirementNotes & { retiredAt: (agentId: string) => Promise<string | null> }
  forecastIds: ForecastIds
  /** Resolves once all rows are durable, with their receipts. */
  submit: (...rows: ForecastRow[]) => Promise<readonly string[]>
  receipts: Pick<Receipts, 'ofRepeated'>
  /** A forecast is witnessed if it comes at most this many minutes after it was made. */
  witnessMinutes: number
}

export class OperatorCalls {
  readonly #components: OperatorComponents
  readonly #turns = pLimit(1)
  /** The failures that are in the log. */
  readonly #logged = new WeakSet<Error>()

  constructor(components: OperatorComponents) {
    this.#components = components
  }

  /**
   * Takes in questions, events, outcomes, prices or forecasters, all or nothing.
   *
   * @throws ServiceError `invalid` with the bad rows.
   */
  put(sent: SentRows, by: By) {
    return this.#inLog(by, { rows: sent.rows.length }, sent.reason, async (context) => {
      const [imported] = await this.#told(sent, async () =>
        importParts(context, [await importPart(context, sent, by.call)]),
      )
      return { ...effectJson(imported!), import_id: importIdIn(sent.kind, imported!.version) }
    })
  }

  /**
   * Says how all questions of an event ended, all or nothing.
   *
   * @throws ServiceError `notFound` for an event without a question, `invalid` for an outcome that the event
   *   cannot have.
   */
  eventOutcome(eventId: string, { reason, ...said }: EventOutcome & { reason?: string | undefined }, by: By) {
    return this.#inLog(by, { event_id: eventId, ...said }, reason, async (context) => {
      const rows = await eventResolutions(context, eventId, said)
      const sent: SentRows = { kind: 'resolutions', rows, reason }
      const [imported] = await importParts(context, [await importPart(context, sent, by.call)]).catch(
        (error: unknown) => {
          if (!(error instanceof ServiceError) || error.faults.length === 0) throw error
          const details = [...new Set(error.faults.map(({ detail }) => detail))]
          throw new ServiceError('invalid', error.message, {
            faults: details.map((detail) => ({ pointer: said.yes ? '/yes' : '/highest', detail })),
            cause: error,
          })
        },
      )
      return { ...effectJson(imported!), import_id: importIdIn('resolutions', imported!.version) }
    })
  }

  /**
   * Takes in forecasts of people, all or nothing. A forecast that comes in time gets a receipt; another is as
   * one of a file.
   *
   * @throws ServiceError `invalid` with the bad rows.
   */
  forecasts(rows: readonly object[], by: By) {
    const sent: SentRows = { kind: 'forecasts', rows }
    return this.#inLog(by, { rows: rows.length }, undefined, async (context) => {
      const { witnessMinutes } = this.#components
      const part = await importPart(context, sent, by.call)
      const receipts = new Map<string, string>()
      const { effect, taken, forecastersCreated, version } = await this.#told(sent, () =>
        takeForecasts(context, part, witnessMinutes, (fresh) => this.#record(fresh, context.now(), receipts)),
      )
      this.#receiptAgain(taken, receipts)
      return {
        ...effectJson(effect),
        forecasters_created: forecastersCreated,
        import_id: importIdIn('forecasts', version),
        results: taken.map(({ entity_id, forecast_at, isWitnessed, ...one }) => ({
          ...one,
          user_id: entity_id,
          forecast_at: forecast_at.toISOString(),
          witnessed: isWitnessed,
          receipt: receipts.get(one.forecast_id) ?? null,
        })),
      }
    })
  }

  /** Makes forecasts durable, each once, adds their receipts by id, and returns their ids. */
  async #record(sent: readonly SentForecast[], at: Date, receipts: Map<string, string>): Promise<string[]> {
    const ids = await this.#components.forecastIds.idsOf(sent)
    const rows = new Map(
      ids.map((id, index) => [id, importedForecast({ ...sent[index]!, forecast_id: id }, at)]),
    )
    const own = await this.#components.submit(...rows.values())
    for (const [index, id] of [...rows.keys()].entries()) if (own[index]) receipts.set(id, own[index])
    return ids
  }

  /** Adds new receipts for the witnessed forecasts that were known before. */
  #receiptAgain(taken: readonly TakenForecast[], receipts: Map<string, string>): void {
    const known = taken.filter(({ isWitnessed, forecast_id: id }) => isWitnessed && !receipts.has(id))
    const again = this.#components.receipts.ofRepeated(
      known.map((one) => importedForecast(one, one.forecast_at)),
    )
    for (const [index, receipt] of again.entries()) receipts.set(known[index]!.forecast_id, receipt)
  }

  /**
   * Says who owns an agent, and whether it is retired.
   *
   * @throws ServiceError `notFound` for an agent that is not registered.
   */
  agent(agent_id: string, { owner_id, retired }: AgentStatement, by: By) {
    const { registry, store } = this.#components
    return this.#inLog(by, { agent_id, owner_id, retired }, undefined, async (context) => {
      const counts: StatedCounts[] = []
      if (owner_id !== undefined) {
        const note = () => endClaims(store, [agent_id], context.now())
        counts.push(await assignOwner(context, [agent_id], owner_id, note))
      }
      if (retired === true) counts.push(await retireNow(context, registry, [agent_id]))
      if (retired === false) counts.push(await unretireNow(context, registry, [agent_id]))
      return {
        agent_id,
        changed: counts.some(({ changed }) => changed > 0),
        retired_at: await registry.retiredAt(agent_id),
      }
    })
  }

  /**
   * Finds what questions and outcomes would do, and what the next release would change by them, without
   * writing anything. Bad rows are in the answer.
   */
  preview(sent: readonly SentRows[], call: string) {
    return this.#inTurn(async (context) => {
      // The rows of one part are read when those before it have been compared.
      const parts = sent.map((one): ImportPart => ({
        kind: one.kind,
        name: call,
        options: optionsOf(one),
        read: async () => (await importPart(context, one, call)).read(),
      }))
      const { trials, corrected, needsReason } = await previewParts(context, parts)
      return {
        at: context.now().toISOString(),
        needs_reason: needsReason,
        corrects: corrected,
        parts: trials.map(({ bad, ...effect }) => ({
          ...effectJson(effect),
          bad: bad.count,
          errors: faultsOfCall(effect.kind, bad.faults),
        })),
      }
    })
  }

  /** Writes in the log that a call was refused, unless it got so far that the log has it. */
  async refused(by: By, error: Error): Promise<void> {
    if (this.#logged.has(error)) return
    const begun = this.#begun(by, {}, undefined)
    const refused = { ...begun, state: 'refused', result: { detail: detailOf(error) } } as const
    await logCall(this.#components.store, refused).catch(() => undefined)
  }

  #begun(
    { caller, call }: By,
    parameters: Record<string, unknown>,
    reason: string | undefined,
  ): OperatorCall {
    const { newId, now } = this.#components
    const { key_id, owner } = caller
    return {
      call_id: newId(),
      at: now().toISOString(),
      key_id,
      owner,
      call,
      asked: JSON.parse(JSON.stringify(parameters)) as Record<string, unknown>,
      reason: reason ?? null,
      state: 'begun',
      result: null,
    }
  }

  /** Does a call in its turn, and writes what it does in the log before and after. */
  async #inLog<T extends object>(
    by: By,
    parameters: Record<string, unknown>,
    reason: string | undefined,
    work: (context: ImportContext) => Promise<T>,
  ): Promise<T> {
    const { store } = this.#components
    const begun = this.#begun(by, parameters, reason)
    return this.#inTurn(async (context) => {
      await logCall(store, begun)
      try {
        const result = await work(context)
        const { results: _, ...counts } = result as T & { results?: unknown }
        await logCall(store, { ...begun, state: 'done', result: counts })
        return result
      } catch (error) {
        const isRefused = error instanceof ServiceError && error.kind !== 'unavailable'
        const detail = detailOf(error)
        const state = isRefused ? 'refused' : 'failed'
        await logCall(store, { ...begun, state, result: { detail } }).catch(() => undefined)
        this.#logged.add(error as Error)
        throw error
      }
    })
  }

  /** @throws ServiceError `unavailable` if too many calls wait. */
  #inTurn<T>(work: (context: ImportContext) => Promise<T>): Promise<T> {
    if (this.#turns.pendingCount >= MOST_WAITING) {
      throw new ServiceError(
        'unavailable',
        "too many of the operator's calls are waiting; nothing was changed",
        {
          expose: true,
          retryAfterS: 5,
        },
      )
    }
    const { openDatabase, releasedVersions } = this.#components
    // A release in this process has files of its own in the folder.
    const directory = join(this.#components.directory, 'operator')
    return this.#turns(async () => {
      await mkdir(directory, { recursive: true })
      const at = this.#components.now()
      const released = await releasedVersions()
      return withDatabase(openDatabase, (database) =>
        work({ ...this.#components, directory, database, released, now: () => at }),
      )
    })
  }

  /** Names bad rows as a caller knows them. */
  async #told<T>({ kind }: SentRows, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'invalid' || error.faults.length === 0)
        throw error
      throw new ServiceError('invalid', error.message, {
        faults: faultsOfCall(kind, error.faults),
        cause: error,
      })
    }
  }
}

function importedForecast(
  { forecast_id, entity_id, question_id, probability, forecast_at }: TakenForecast,
  recorded_at: Date,
): ForecastRow {
  return {
    forecast_id,
    entity_type: 'forecaster',
    entity_id,
    question_id,
    probability,
    forecast_at,
    recorded_at,
    source: 'api',
  }
}

/** Reads the rows of a call as lines of JSON, in the plain form of files. */
async function importPart(context: ImportContext, sent: SentRows, call: string): Promise<ImportPart> {
  const lines = sent.rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const source = (async function* () {
    yield await Promise.resolve(Buffer.from(lines))
  })()
  const part = await filePart(context, sent.kind, source, optionsOf(sent))
  return { ...part, name: call }
}

function optionsOf({ kind, reason }: SentRows): ImportOptions {
  const given: GivenOptions = { ...(reason !== undefined && { correct: reason }) }
  if (kind === 'forecasts') {
    Object.assign(given, { set: ['entity_type=forecaster'], map: ['entity_id=user_id'] })
  }
  return parseOptions(kind, given)
}

/** The reason why a call changed nothing, with the first of the bad rows. */
function detailOf(error: unknown): string {
  if (!(error instanceof ServiceError)) return 'the service failed'
  const [fault] = error.faults
  return fault === undefined ? error.message : `${error.message}; ${fault.pointer}: ${fault.detail}`
}

const importIdIn = (table: ImportKind, version: number | undefined) =>
  version === undefined ? null : textOfImport({ table, version })
