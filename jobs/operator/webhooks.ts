// `fvs webhooks`.
import { randomBytes } from 'node:crypto'
import { Feed } from '../../pipeline/feed/feed.ts'
import { assertWebhookUrl } from '../../pipeline/webhooks/send.ts'
import {
  type Webhook,
  type WebhookState,
  createWebhook,
  readWebhooks,
  deleteWebhook,
  webhookState,
} from '../../pipeline/webhooks/webhooks.ts'
import type { EventType } from '../../schemas/feed.ts'
import type { Components } from '../components/components.ts'
import { printable } from '../../pipeline/printable.ts'
import { KEEP_IT, type Report } from '../command-line/output.ts'
import { parseEventTypes } from '../command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from '../command-line/program.ts'

export function addWebhooks(): void {
  const webhooks = program.command('webhooks').description('Tell programs elsewhere what happens.')
  storeCommand('add', 'Add a webhook and print its secret, once.', webhooks)
    .argument('<url>', 'the address to which events are sent')
    .option(
      '--events <types>',
      'only these, by commas, such as question.opened,release.published',
      parseEventTypes,
    )
    .action((url: string, options: StoreOptions & { events?: readonly EventType[] }) =>
      onStore(options, 'writes', (components) => addWebhook(components, url, options.events)),
    )
  storeCommand('list', 'List the webhooks and how far each is, never their secrets.', webhooks).action(
    (options: StoreOptions) => onStore(options, 'reads', (components) => listWebhooks(components)),
  )
  storeCommand('remove', 'Remove a webhook.', webhooks)
    .argument('<id>', 'its id, as the list has it')
    .action((id: string, options: StoreOptions) =>
      onStore(options, 'writes', (components) => removeWebhook(components, id)),
    )
}

/** Adds a webhook for events from now on. */
export async function addWebhook(
  { store, settings, now }: Components,
  url: string,
  events: readonly EventType[] | undefined,
): Promise<Report> {
  assertWebhookUrl(url, settings.WEBHOOKS_PRIVATE)
  const { next: from } = await new Feed(store, now).after('end', 1)
  const wanted = { url, events: events === undefined ? null : [...events] }
  const { id, secret } = await createWebhook(store, { ...wanted, from }, { randomBytes, now: now() })
  return {
    ok: true,
    json: { webhook_id: id, secret, ...wanted },
    text: `${secret}\n${KEEP_IT} The webhook ${id} is told of what happens from now on, by the process that makes releases.`,
  }
}

export async function listWebhooks({ store }: Components): Promise<Report> {
  const listed: Listed[] = []
  for (const { secret: _, from, ...webhook } of await readWebhooks(store)) {
    listed.push({ ...webhook, ...(await webhookState(store, { id: webhook.id, from })) })
  }
  const lines = listed.map((webhook) => printable(webhookLine(webhook)))
  return {
    ok: true,
    json: { webhooks: listed.map(({ id, ...rest }) => ({ webhook_id: id, ...rest })) },
    text: lines.length === 0 ? 'no webhooks' : lines.join('\n'),
  }
}

type Listed = Omit<Webhook, 'secret' | 'from'> & WebhookState

function webhookLine({
  id,
  url,
  events,
  failing,
  given_up: givenUp,
  disabled_at: disabledAt,
}: Listed): string {
  const state =
    disabledAt !== null
      ? `ended ${disabledAt}: the receiver is gone`
      : failing
        ? `failing since ${failing.since} (${failing.tries} tries, the next at ${failing.next_try_at}): ${failing.reason}`
        : 'in order'
  const lost =
    givenUp.events === 0 ? '' : `; ${givenUp.events} events given up, last ${givenUp.last_event_id}`
  return `${id}  ${url}  ${events === null ? 'all events' : events.join(', ')}  ${state}${lost}`
}

export async function removeWebhook({ store }: Components, id: string): Promise<Report> {
  await deleteWebhook(store, id)
  return { ok: true, json: { webhook_id: id }, text: `the webhook ${id} is removed` }
}
