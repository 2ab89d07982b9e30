// Delivers events to webhooks: to each in order, at least once, signed by the Standard Webhooks scheme.
import { createHmac } from 'node:crypto'
import type { FeedEvent, FeedPage } from '../../schemas/feed.ts'
import { canonical } from '../proof/canonical.ts'
import { type SendSettings, send } from './send.ts'
import type { Store } from '../store/store.ts'
import {
  type Webhook,
  type WebhookState,
  hasWebhook,
  readWebhooks,
  setWebhookState,
  webhookState,
} from './webhooks.ts'

/** The pauses before the second try, the third and so on. The last pause is repeated. */
const PAUSES_S = [5, 30, 120, 900, 3_600, 14_400, 28_800]
/** The time from the first failed try of an event until it is given up. */
export const GIVE_UP_MS = 3 * 86_400_000
const EVENTS_AT_ONCE = 100
const GONE = 410
const REASON_CHARACTERS = 200

export interface DelivererComponents extends SendSettings {
  store: Store
  feed: { after: (cursor: string | undefined, limit: number) => Promise<FeedPage> }
  now: () => Date
  log: (event: string, fields: object) => void
}

export class Deliverer {
  readonly #components: DelivererComponents
  readonly #stopping = new AbortController()
  /** The deliveries under way, by webhook. A slow webhook delays no other. */
  readonly #running = new Map<string, Promise<void>>()

  constructor(components: DelivererComponents) {
    this.#components = components
  }

  /** Begins to deliver new events to every webhook without a delivery under way. */
  async begin(): Promise<void> {
    for (const webhook of await readWebhooks(this.#components.store)) {
      if (this.#running.has(webhook.id) || this.#stopping.signal.aborted) continue
      const running = this.#deliver(webhook)
        .catch((error: unknown) => {
          this.#components.log('could not deliver to a webhook; it is tried again', {
            err: error,
            webhook: webhook.id,
          })
        })
        .finally(() => this.#running.delete(webhook.id))
      this.#running.set(webhook.id, running)
    }
  }

  /** Resolves once no delivery is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  /** Ends the calls under way. Their events may be delivered again. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.settled()
  }

  async #deliver(webhook: Webhook): Promise<void> {
    const { store, feed, now } = this.#components
    let state = await webhookState(store, webhook)
    for (;;) {
      if (state.disabled_at !== null) return
      if (state.failing && now().toISOString() < state.failing.next_try_at) return
      const page = await feed.after(state.after, EVENTS_AT_ONCE)
      for (const event of page.events) {
        if (webhook.events !== null && !webhook.events.includes(event.type)) continue
        const next = await this.#tried(webhook, event, state)
        // The webhook may have been removed meanwhile.
        if (this.#stopping.signal.aborted || !(await hasWebhook(store, webhook.id))) return
        await setWebhookState(store, webhook.id, next)
        state = next
        if (state.failing || state.disabled_at !== null) return
      }
      if (page.next === state.after) return
      state = { ...state, after: page.next }
      await setWebhookState(store, webhook.id, state)
      if (page.events.length < EVENTS_AT_ONCE) return
    }
  }

  /** Sends an event, and returns the state after it. */
  async #tried(webhook: Webhook, event: FeedEvent, state: WebhookState): Promise<WebhookState> {
    const { now } = this.#components
    const reason = await this.#failureOf(webhook, event)
    const at = now()
    const done = { ...state, after: cursorAfter(event), failing: null }
    if (reason === undefined) return done
    if (reason === GONE) return { ...state, disabled_at: at.toISOString() }
    const { since, tries } = state.failing ?? { since: at.toISOString(), tries: 0 }
    if (at.getTime() - Date.parse(since) >= GIVE_UP_MS) {
      return { ...done, given_up: { events: state.given_up.events + 1, last_event_id: event.id } }
    }
    const pauseS = PAUSES_S[Math.min(tries, PAUSES_S.length - 1)]!
    const next_try_at = new Date(at.getTime() + pauseS * 1000).toISOString()
    return {
      ...state,
      after: cursorAt(event),
      failing: { event_id: event.id, since, tries: tries + 1, next_try_at, reason },
    }
  }

  /**
   * Sends an event. Returns undefined if the receiver took it, `GONE` if the receiver is gone for good, and
   * otherwise the reason of the failure.
   */
  async #failureOf(webhook: Webhook, event: FeedEvent): Promise<string | typeof GONE | undefined> {
    const body = canonical(event)
    const timestamp = String(Math.floor(this.#components.now().getTime() / 1000))
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'forecast-verification-service',
      'webhook-id': event.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatureOf(webhook.secret, event.id, timestamp, body),
    }
    try {
      const status = await send(webhook.url, { headers, body }, this.#components, this.#stopping.signal)
      if (status === GONE) return GONE
      return status >= 200 && status < 300 ? undefined : `it answered ${status}`
    } catch (error) {
      return (error instanceof Error ? error.message : String(error)).slice(0, REASON_CHARACTERS)
    }
  }
}

/** The header `webhook-signature` (Standard Webhooks, symmetric). */
function signatureOf(secret: string, id: string, timestamp: string, body: Uint8Array): string {
  const key = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}

/** The id of an event is the cursor of its place. */
const cursorAt = ({ id }: FeedEvent) => id

function cursorAfter({ id }: FeedEvent): string {
  const [segment, index] = id.split('_')
  return `${segment}_${Number(index) + 1}`
}
