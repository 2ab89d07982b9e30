// `fvs log key` and `fvs credential key`: make the keys that sign the public log, for a witness of one, and
// for credentials.
import { randomBytes } from 'node:crypto'
import { isKeyName } from '../../pipeline/proof/note.ts'
import { signingKeyOf, signingKeyText, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { quoted } from '../../pipeline/proof/quoted.ts'
import { settingName } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { name } from '../../schemas/names.ts'
import { environmentOfLog } from '../components/log-signers.ts'
import type { Report } from '../command-line/output.ts'
import { type GlobalOptions, JSON_OPTION, calledRightly, finish, program } from '../command-line/program.ts'
import { credentialKeyText, parseCredentialKey } from '../../pipeline/credentials/keys.ts'

/** The size of an Ed25519 seed. */
const SEED_BYTES = 32

export function addCredential(): void {
  const credential = program
    .command('credential')
    .description('Make the keys of certificates that the software of others accepts.')

  credential
    .command('key')
    .description('Make a key that signs credentials and print it, once.')
    .option(...JSON_OPTION)
    .action(async (options: Pick<GlobalOptions, 'json'>) => {
      finish(makeCredentialKey(randomBytes(SEED_BYTES)), options)
    })
}

export function makeCredentialKey(seed: Uint8Array): Report {
  const signingKey = credentialKeyText(seed)
  const { multikey } = parseCredentialKey(signingKey)
  return {
    ok: true,
    json: { setting: 'CREDENTIAL_SIGNING_KEY', signing_key: signingKey, multikey },
    text: signingKey,
    aside: `The signing key on standard output is a secret and is not shown again. Give it to all jobs that make releases:
CREDENTIAL_SIGNING_KEY=z3u2…
For the sandbox, make another one and name it SANDBOX_CREDENTIAL_SIGNING_KEY.
After the next release /.well-known/did.json names its public half:
${multikey}`,
  }
}

export function addLog(): void {
  const log = program.command('log').description('Make the keys of the public log.')

  log
    .command('key')
    .description('Make a signing key of the log and print it, once.')
    .argument(
      '<origin>',
      'the name of the log, such as fvs.example/forecasts; in the sandbox it ends in /sandbox',
    )
    .option('--witness', 'make the key of a witness of that name, which cosigns what a log signs')
    .option(...JSON_OPTION)
    .action(async (origin: string, options: Pick<GlobalOptions, 'json'> & { witness?: boolean }) => {
      const make = options.witness === true ? makeWitnessKey : makeLogKey
      finish(
        calledRightly(() => make(origin, randomBytes(SEED_BYTES))),
        options,
      )
    })
}

/** @throws ServiceError `invalid` for an origin that cannot be the name of a key. */
export function makeLogKey(origin: string, seed: Uint8Array): Report {
  assertOrigin(origin)
  const environment = environmentOfLog(origin)
  const setting = settingName('LOG_SIGNING_KEY', environment)
  const signingKey = signingKeyText(origin, 'log', seed)
  const vkey = verifierKeyText(signingKeyOf(origin, 'log', seed).verifier)
  return {
    ok: true,
    json: { origin, environment, setting, signing_key: signingKey, vkey },
    text: signingKey,
    aside: `The signing key on standard output is a secret and is not shown again. Give it to all nodes and jobs:
${setting}=PRIVATE+KEY+…
The vkey checks what the key signs. Publish it where people need not trust the service for it:
${vkey}`,
  }
}

/**
 * Makes the key of a witness. It is in no setting here: the log that it cosigns lists its vkey.
 *
 * @throws ServiceError as `makeLogKey` does.
 */
export function makeWitnessKey(keyName: string, seed: Uint8Array): Report {
  assertOrigin(keyName)
  const signingKey = signingKeyText(keyName, 'witness', seed)
  const vkey = verifierKeyText(signingKeyOf(keyName, 'witness', seed).verifier)
  return {
    ok: true,
    json: { name: keyName, signing_key: signingKey, vkey },
    text: signingKey,
    aside: `The signing key on standard output is a secret and is not shown again. Keep it in a file that nobody else may read:
fvs witness URL --vkey V --state FILE --key-file THAT_FILE
The vkey checks what the key signs. Give it to those who shall trust this witness:
${vkey}`,
  }
}

/** Checks a name more strictly than notes do, so that it looks the same wherever it is published. */
function assertOrigin(origin: string): void {
  const fault =
    name.safeParse(origin).error?.issues[0]?.message ??
    (isKeyName(origin) ? undefined : 'must have neither white space nor a plus sign')
  if (fault !== undefined) throw new ServiceError('invalid', `ORIGIN is ${quoted(origin)}; it ${fault}`)
}
