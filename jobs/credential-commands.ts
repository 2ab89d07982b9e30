// Declares `fvs credential key`, which makes a key that signs credentials.
import { randomBytes } from 'node:crypto'
import { type GlobalOptions, JSON_OPTION, finish, program } from './command-line/program.ts'

/** The size of an Ed25519 seed. */
const SEED_BYTES = 32

/** Adds `fvs credential` to the program. */
export function addCredentialCommands(): void {
  const credential = program
    .command('credential')
    .description('Make the keys of certificates that the software of others accepts.')

  credential
    .command('key')
    .description('Make a key that signs credentials and print it, once.')
    .option(...JSON_OPTION)
    .action(async (options: Pick<GlobalOptions, 'json'>) => {
      const { makeCredentialKey } = await import('./keys/credential-key.ts')
      finish(makeCredentialKey(randomBytes(SEED_BYTES)), options)
    })
}
