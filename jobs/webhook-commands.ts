// Declares `fvs webhooks`.
import { eventTypes } from './command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from './command-line/program.ts'
import type { EventType } from '../schemas/feed.ts'

export function addWebhookCommands(): void {
  const webhooks = program.command('webhooks').description('Tell programs elsewhere what happens.')
  storeCommand('add', 'Add a webhook and print its secret, once.', webhooks)
    .argument('<url>', 'the address to which events are sent')
    .option(
      '--events <types>',
      'only these, by commas, such as question.opened,release.published',
      eventTypes,
    )
    .action((url: string, options: StoreOptions & { events?: readonly EventType[] }) =>
      onStore(options, 'writes', async (components) => {
        const { addWebhook } = await import('./operator/webhooks.ts')
        return addWebhook(components, url, options.events)
      }),
    )
  storeCommand('list', 'List the webhooks and how far each is, never their secrets.', webhooks).action(
    (options: StoreOptions) =>
      onStore(options, 'reads', async (components) => {
        const { listWebhooks } = await import('./operator/webhooks.ts')
        return listWebhooks(components)
      }),
  )
  storeCommand('remove', 'Remove a webhook.', webhooks)
    .argument('<id>', 'its id, as the list has it')
    .action((id: string, options: StoreOptions) =>
      onStore(options, 'writes', async (components) => {
        const { removeWebhook } = await import('./operator/webhooks.ts')
        return removeWebhook(components, id)
      }),
    )
}
