// A client of the forecast verification service: finds questions, submits forecasts, and reads records.
import type * as Api from './api.ts'
import type * as Verifier from './verify.js'
import { type Answer, type Call, Caller, type CallerOptions, printable } from './caller.ts'
import { type Evidence, NotVerified, refusalOf } from './errors.ts'

export { NoAnswer } from './caller.ts'
export { NotVerified, Refusal } from './errors.ts'
export type { Evidence } from './errors.ts'
export { normalise } from './normalise.ts'
export type * from './api.ts'
export type { CallerOptions }

export interface ClientOptions extends CallerOptions {
  /** The agent that takes part; `register` sets it. */
  agentId?: string
  /**
   * Public keys of the service's log and of witnesses, with commas or white space between. With at least one
   * key of the log, the client verifies every record and receipt. Without keys it verifies nothing.
   */
  vkeys?: string | readonly string[] | undefined
}

interface Records {
  verification: Api.AgentVerification
  metrics: Api.AgentMetrics
  rankings: Api.AgentRankings
  'advanced-metrics': Api.AgentAdvancedMetrics
}

/** The most forecasts that one call takes. */
const MOST_FORECASTS = 100
/** Matches an accepted forecast in an answer: its text up to the receipt, and the receipt. */
const RECEIPTS = /(\{"agent_id":[^{}]*),"receipt":"([^"]+)"/g

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const encode = (text: string) => new TextEncoder().encode(text)
/** Keys of a log and of a witness: their 33 bytes in Base64 begin with the type, 1 or 4. */
const LOG_VKEY = /^[^+]+\+[0-9a-f]{8}\+A[Q-Za-f][A-Za-z0-9+/]{42}$/
const WITNESS_VKEY = /^[^+]+\+[0-9a-f]{8}\+B[A-P][A-Za-z0-9+/]{42}$/
/** Whether the name of a log, or the address of a service, is of the sandbox. */
const isSandbox = (name: string) => name.endsWith('/sandbox')
type Query = Readonly<Record<string, string | number>>

export class Client {
  readonly #caller: Caller
  readonly #vkeys: readonly string[]
  #keysStand: Promise<unknown> | undefined
  #agentId: string | undefined

  /**
   * @throws TypeError if a text in `vkeys` is no key or a key of the other environment, and for keys of
   *   witnesses alone.
   */
  constructor({ agentId, vkeys = [], ...options }: ClientOptions) {
    this.#caller = new Caller(options)
    this.#vkeys = keysIn(vkeys, this.#caller.url)
    this.#agentId = agentId
  }

  /** Whether the client has a key of the log, and so verifies every record and receipt. */
  get verifies(): boolean {
    return this.#vkeys.length > 0
  }

  /** Registers an agent, and acts for it from then on. Keep the key: it is shown once. */
  async register(registration: Api.Registration, idempotencyKey?: string): Promise<Api.Registered> {
    const { value } = await this.#json<Api.Registered>({
      path: '/agents/register',
      body: registration,
      idempotencyKey,
    })
    this.#agentId = value.agent_id
    this.#caller.apiKey = value.api_key
    return value
  }

  /** Yields questions with their criteria, in the order in which they close; by default open ones. */
  questions(query: Query = { status: 'open' }): AsyncGenerator<Api.ListedQuestion> {
    const asked = { path: '/questions', query: { include: 'texts', ...query } }
    return this.#all<Api.QuestionPage, Api.ListedQuestion>(asked, ({ questions }) => questions)
  }

  /**
   * Submits forecasts, a hundred in a call, and returns a result for each, in their order. A probability of
   * null withdraws. A repeated call takes effect once.
   *
   * @param idempotencyKey the same forecasts with the same key take effect once, even after a crash.
   * @throws Refusal if no forecast was taken, NotVerified for a receipt that does not hold.
   */
  async submit(
    forecasts: readonly Api.ForecastOrWithdrawal[],
    idempotencyKey?: string,
  ): Promise<Api.ForecastResults['results']> {
    const results: Api.ForecastResults['results'] = []
    for (let from = 0; from < forecasts.length; from += MOST_FORECASTS) {
      const body = { forecasts: forecasts.slice(from, from + MOST_FORECASTS) }
      const key = idempotencyKey === undefined || from === 0 ? idempotencyKey : `${idempotencyKey}-${from}`
      const call = { path: `${this.#own}/forecasts`, body, isOwn: true, idempotencyKey: key }
      const { value, text } = await this.#json<Api.ForecastResults>(call)
      await this.#verifyReceipts(call.path, value, text)
      results.push(...value.results)
    }
    return results
  }

  /**
   * Submits a probability for each open question of an event, all or none. `coherence` in the answer tells
   * where they cannot all be right; `strict` refuses such.
   *
   * @throws Refusal if they were not taken, NotVerified for a receipt that does not hold.
   */
  async submitEvent(
    eventId: string,
    probabilities: Readonly<Record<string, number>>,
    { strict = false, idempotencyKey }: { strict?: boolean; idempotencyKey?: string } = {},
  ): Promise<Api.EventForecast> {
    const path = `${this.#own}/events/${encodeURIComponent(eventId)}/forecast`
    const query = strict ? { strict: 'true' } : undefined
    const { value, text } = await this.#json<Api.EventForecast>({
      path,
      query,
      body: { probabilities },
      isOwn: true,
      idempotencyKey,
    })
    await this.#verifyReceipts(path, value, text)
    return value
  }

  /** Withdraws the current forecast on an open question. */
  async withdraw(questionId: string, idempotencyKey?: string): Promise<Api.AcknowledgedWithdrawal> {
    const path = `${this.#own}/forecasts/${encodeURIComponent(questionId)}`
    const call = { path, method: 'DELETE', isOwn: true, idempotencyKey }
    const { value, bytes, headers } = await this.#json<Api.AcknowledgedWithdrawal>(call)
    if (this.verifies) await this.#verifyReceipt(path, bytes, headers.get('x-service-receipt'))
    return value
  }

  /** Yields the current forecasts on open questions, or with `{ history: 'true' }` all forecasts. */
  forecasts(query: Query = {}): AsyncGenerator<Api.CurrentForecast> {
    const asked = { path: `${this.#own}/forecasts`, query, isOwn: true }
    return this.#all<Api.CurrentForecasts, Api.CurrentForecast>(asked, ({ forecasts }) => forecasts)
  }

  /** Yields the scores of the agent, or of another one, on each question, the last settled first. */
  scores(agentId = this.#agent, query: Query = {}): AsyncGenerator<Api.QuestionScore> {
    const asked = { path: `/agents/${encodeURIComponent(agentId)}/scores`, query }
    return this.#all<Api.AgentScores, Api.QuestionScore>(asked, ({ scores }) => scores)
  }

  /**
   * Returns a record of the agent, or of another one, verified if there are keys.
   *
   * @throws Refusal before the first release with the agent, NotVerified if the record does not stand.
   */
  async record<Kind extends keyof Records>(kind: Kind, agentId = this.#agent): Promise<Records[Kind]> {
    const path = `/agents/${encodeURIComponent(agentId)}/${kind}`
    const { value, bytes } = await this.#json<Records[Kind]>({ path })
    if (!this.verifies) return value
    const query = { release: value.release }
    const proof = await this.#caller.send({ path: `${path}/proof`, query })
    if (proof.status !== 200) throw refusalOf(proof.status, decode(proof.bytes))
    const evidence = { path, release: value.release, body: decode(bytes), proof: decode(proof.bytes) }
    await this.#verify(evidence, async ({ verifyWith, assertRecord }) => {
      await verifyWith(bytes, evidence.proof, this.#vkeys)
      assertRecord(this.#caller.url + path, bytes)
    })
    return value
  }

  /**
   * Yields pages of events, from `after` on, without an end. `end` begins with events from now on. Keep
   * `next` of each page to continue there after a restart.
   */
  async *feed(after = 'end', everyMs = 5_000): AsyncGenerator<Api.FeedPage> {
    for (let next = after; ;) {
      const { value } = await this.#json<Api.FeedPage>({ path: '/feed', query: { after: next } })
      if (value.events.length > 0 || next === 'end') yield value
      else await this.#caller.pause(everyMs)
      next = value.next
    }
  }

  get #agent(): string {
    if (this.#agentId === undefined) throw new Error('no agent takes part: give agentId, or register')
    return this.#agentId
  }

  get #own(): string {
    return `/agents/${encodeURIComponent(this.#agent)}`
  }

  async *#all<Page extends { next_cursor: string | null }, Item>(
    call: Call,
    itemsOf: (page: Page) => readonly Item[],
  ): AsyncGenerator<Item> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { value }: { value: Page } = await this.#json<Page>({ ...call, query: { ...call.query, cursor } })
      yield* itemsOf(value)
      cursor = value.next_cursor
    }
  }

  async #json<T>(call: Call): Promise<Answer & { value: T; text: string }> {
    await this.#assertKeys()
    const answer = await this.#caller.send(call)
    const text = decode(answer.bytes)
    if (answer.status < 200 || answer.status > 299) throw refusalOf(answer.status, text)
    return { ...answer, value: JSON.parse(text) as T, text }
  }

  /**
   * Compares the id of each key with the key before anything is sent. It waits, because browsers hash
   * asynchronously.
   *
   * @throws TypeError for a mistyped key, which is no fault of the service.
   */
  async #assertKeys(): Promise<void> {
    if (!this.verifies) return
    this.#keysStand ??= import('./verify.js').then(({ readKeys }) => readKeys(this.#vkeys))
    await this.#keysStand.catch((cause: Error) => {
      throw new TypeError(`vkeys: ${printable(cause.message)}`, { cause })
    })
  }

  async #verifyReceipts(
    path: string,
    { results }: Api.ForecastResults | Api.EventForecast,
    text: string,
  ): Promise<void> {
    if (!this.verifies) return
    const receipts = [...text.matchAll(RECEIPTS)]
    const taken = results.filter(({ status }) => status === 'ok').length
    if (receipts.length !== taken)
      throw new NotVerified(`${taken} forecasts have ${receipts.length} receipts`, { path, body: text })
    for (const [, body, receipt] of receipts) await this.#verifyReceipt(path, encode(`${body}}`), receipt)
  }

  async #verifyReceipt(path: string, body: Uint8Array, receipt: string | null | undefined): Promise<void> {
    const evidence = { path, body: decode(body), proof: receipt ?? undefined }
    await this.#verify(evidence, async ({ verifyWith }) => {
      const text = Uint8Array.from(atob(receipt ?? ''), (character) => character.charCodeAt(0))
      await verifyWith(body, decode(text), this.#vkeys)
    })
  }

  async #verify(evidence: Evidence, check: (verifier: typeof Verifier) => Promise<void>): Promise<void> {
    await check(await import('./verify.js')).catch((cause: Error) => {
      throw new NotVerified(cause.message, evidence, { cause })
    })
  }
}

/**
 * @throws TypeError for a text without the form of a key, for a key of the other environment, and for keys of
 *   witnesses alone.
 */
function keysIn(vkeys: string | readonly string[], url: string): string[] {
  const keys = [vkeys].flat().flatMap((text) => text.split(/[\s,]+/).filter(Boolean))
  const wrong = keys.find((key) => !LOG_VKEY.test(key) && !WITNESS_VKEY.test(key))
  if (wrong !== undefined) throw new TypeError(`vkeys: ${printable(wrong)} is no key`)
  if (keys.length > 0 && !keys.some((key) => LOG_VKEY.test(key)))
    throw new TypeError('vkeys: a key of the log is needed beside those of witnesses')
  const foreign = keys.find((key) => LOG_VKEY.test(key) && isSandbox(key.split('+')[0]!) !== isSandbox(url))
  if (foreign !== undefined)
    throw new TypeError(
      `vkeys: ${printable(foreign)} is not of the environment of ${printable(url)}: in the sandbox, and only there, both names end in /sandbox`,
    )
  return keys
}
