// Declares the commands for API keys: their arguments, and the function that runs each.
import { Option } from 'commander'
import { KEY_KINDS, TIERS } from '../schemas/tiers.ts'
import { scopes, wholeNumber } from './command-line/arguments.ts'
import { type StoreOptions, onStore, program, storeCommand } from './command-line/program.ts'
import type { KeyOptions } from './keys/keys.ts'

/** Adds `fvs keys` to the program. */
export function addKeyCommands(): void {
  const keys = program
    .command('keys')
    .description('Create, list, rotate and revoke API keys, and set their tiers.')

  storeCommand('create', 'Create a key and print it, once.', keys)
    .requiredOption('--owner <name>', 'whom the key is for')
    .addOption(
      new Option('--kind <name>', "a client of the verification calls, or an operator's program")
        .choices(KEY_KINDS)
        .default('client'),
    )
    .option('--scopes <names>', "what an operator's key may write, by commas", scopes)
    .addOption(new Option('--tier <name>', 'how many calls the key has').choices(TIERS).default('free'))
    .option('--monthly-calls <number>', 'the quota of an enterprise key', wholeNumber)
    .action((options: StoreOptions & KeyOptions) =>
      onStore(options, 'begins', async (components) => {
        const { createKey } = await import('./keys/keys.ts')
        return createKey(components, options)
      }),
    )

  storeCommand('list', 'List the public ids of keys, never the keys themselves.', keys).action(
    (options: StoreOptions) =>
      onStore(options, 'reads', async (components) => {
        const { listKeys } = await import('./keys/keys.ts')
        return listKeys(components)
      }),
  )

  storeCommand('set-tier', 'Give a key another tier; every node counts by it within ten seconds.', keys)
    .argument('<key_id>', 'the public id, with or without fv_live_ or fv_test_')
    .addOption(new Option('--tier <name>', 'how many calls the key has').choices(TIERS).makeOptionMandatory())
    .option('--monthly-calls <number>', 'the quota of an enterprise key', wholeNumber)
    .action((keyId: string, options: StoreOptions & Pick<KeyOptions, 'tier' | 'monthlyCalls'>) =>
      onStore(options, 'writes', async (components) => {
        const { setTier } = await import('./keys/keys.ts')
        return setTier(components, keyId, options)
      }),
    )

  storeCommand('revoke', 'Revoke a key; every node refuses it within ten seconds.', keys)
    .argument('<key_id>', 'the public id, with or without fv_live_ or fv_test_')
    .action((keyId: string, options: StoreOptions) =>
      onStore(options, 'writes', async (components) => {
        const { revokeKey } = await import('./keys/keys.ts')
        return revokeKey(components, keyId)
      }),
    )

  storeCommand('rotate', 'Replace a key by a new one; the old one works for 24 hours more.', keys)
    .argument('<key_id>', 'the public id of the old key, with or without its prefix')
    .action((keyId: string, options: StoreOptions) =>
      onStore(options, 'writes', async (components) => {
        const { rotateKey } = await import('./keys/keys.ts')
        return rotateKey(components, keyId)
      }),
    )
}
