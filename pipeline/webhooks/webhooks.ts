// The webhooks of an operator and the progress of each, as records in the store, so that no delivery is lost
// with a process.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { EVENT_TYPES } from '../../schemas/feed.ts'
import { instant } from '../../schemas/values.ts'
import { type RandomBytes, randomText } from '../access/api-key.ts'
import { WEBHOOKS_PREFIX, webhookPath, webhookStatePath } from '../store/paths.ts'
import { records } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const ID_LENGTH = 8
const SECRET_BYTES = 32
/** The prefix of secrets in Standard Webhooks. */
const SECRET_PREFIX = 'whsec_'

const webhookRecord = z.strictObject({
  id: z.string(),
  url: z.string(),
  secret: z.string(),
  /** The types of events to deliver; null for all. */
  events: z.array(z.enum(EVENT_TYPES)).nullable(),
  created_at: instant,
  /** The cursor at which the delivery begins. */
  from: z.string(),
})
export type Webhook = z.infer<typeof webhookRecord>

const stateRecord = z.strictObject({
  /** The cursor after the last event that was delivered or given up. */
  after: z.string(),
  failing: z
    .strictObject({
      event_id: z.string(),
      since: instant,
      tries: z.number().int(),
      next_try_at: instant,
      reason: z.string(),
    })
    .nullable(),
  given_up: z.strictObject({ events: z.number().int(), last_event_id: z.string().nullable() }),
  /** When the receiver answered that it is gone for good. */
  disabled_at: instant.nullable(),
})
export type WebhookState = z.infer<typeof stateRecord>

const webhooksIn = (store: Store) => records(store, webhookPath, webhookRecord)
const statesIn = (store: Store) => records(store, webhookStatePath, stateRecord)

/** Adds a webhook for events after a cursor. The secret is shown to nobody else. */
export async function createWebhook(
  store: Store,
  { url, events, from }: Pick<Webhook, 'url' | 'events' | 'from'>,
  { randomBytes, now }: { randomBytes: RandomBytes; now: Date },
): Promise<Webhook> {
  const webhook: Webhook = {
    id: randomText(ID_LENGTH, randomBytes),
    url,
    secret: SECRET_PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString('base64'),
    events,
    created_at: now.toISOString(),
    from,
  }
  if (await webhooksIn(store).create(webhook.id, webhook)) return webhook
  throw new ServiceError('unavailable', 'the random id of the new webhook is taken; try again')
}

/** Returns all webhooks in the order in which they were added. */
export async function readWebhooks(store: Store): Promise<Webhook[]> {
  const order = ({ created_at, id }: Webhook) => `${created_at} ${id}`
  return (await webhooksIn(store).list(WEBHOOKS_PREFIX)).toSorted((one, other) =>
    order(one) < order(other) ? -1 : 1,
  )
}

export async function hasWebhook(store: Store, id: string): Promise<boolean> {
  return (await store.range(webhookPath(id), 0, 1)) !== undefined
}

/** @throws ServiceError `notFound`. */
export async function deleteWebhook(store: Store, id: string): Promise<void> {
  const isId = /^[0-9A-Za-z]{1,64}$/.test(id)
  if (!isId || !(await hasWebhook(store, id))) {
    throw new ServiceError(
      'notFound',
      `there is no webhook ${JSON.stringify(id.slice(0, 100))}; \`fvs webhooks list\` lists them`,
    )
  }
  await webhooksIn(store).delete(id)
  await statesIn(store).delete(id)
}

/** Returns the progress of a webhook. Before its first delivery it is at its beginning. */
export async function webhookState(
  store: Store,
  { id, from }: Pick<Webhook, 'id' | 'from'>,
): Promise<WebhookState> {
  const known = await statesIn(store).get(id)
  return (
    known ?? { after: from, failing: null, given_up: { events: 0, last_event_id: null }, disabled_at: null }
  )
}

export function setWebhookState(store: Store, id: string, state: WebhookState): Promise<void> {
  return statesIn(store).replace(id, state)
}
