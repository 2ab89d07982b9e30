// `fvs log key`: makes a signing key of the public log, or of a witness of one.
import { isKeyName } from '../../pipeline/proof/note.ts'
import { signingKeyOf, signingKeyText, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { quoted } from '../../pipeline/proof/quoted.ts'
import { settingName } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { name } from '../../schemas/names.ts'
import { environmentOfLog } from '../components/log-signers.ts'
import type { Report } from '../command-line/output.ts'

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
 * Makes the key of a witness, which is in no setting: a log that it cosigns has its vkey.
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

/**
 * Checks a name more strictly than notes do, so that everyone sees the same name wherever it is published.
 */
function assertOrigin(origin: string): void {
  const fault =
    name.safeParse(origin).error?.issues[0]?.message ??
    (isKeyName(origin) ? undefined : 'must have neither white space nor a plus sign')
  if (fault !== undefined) throw new ServiceError('invalid', `ORIGIN is ${quoted(origin)}; it ${fault}`)
}
