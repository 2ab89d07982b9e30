// Reads the signing keys of the public log from the settings and checks that they fit together. No message
// shows a key.
import { type SigningKey, parseSigningKey } from '../../pipeline/proof/note-keys.ts'
import { quoted } from '../../pipeline/proof/quoted.ts'
import { type Settings, settingName, settingsOf } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'

type KeySetting = 'LOG_SIGNING_KEY' | 'LOG_SIGNING_KEY_PREVIOUS'

/**
 * Returns the keys of each environment, the first to sign at the front; none without a log.
 *
 * @throws ServiceError `invalid` that names the setting: for a wrong key, and for keys that contradict each
 *   other.
 */
export function signersOf(settings: Settings): Record<Environment, readonly SigningKey[]> {
  const production = ownSigners(settings, 'production')
  const sandbox = ownSigners(settings, 'sandbox')
  if (sandbox.some((key) => production.some((other) => haveOneSeed(key, other)))) {
    throw new ServiceError(
      'invalid',
      'the sandbox and production have the same signing key, so anyone who holds that of the sandbox could sign the real log; ' +
        'give SANDBOX_LOG_SIGNING_KEY a key of its own',
    )
  }
  return { production, sandbox }
}

/**
 * Returns the environment of a log with this name. The name of the sandbox's log marks it in every
 * checkpoint.
 */
export function environmentOfLog(name: string): Environment {
  return name.endsWith('/sandbox') ? 'sandbox' : 'production'
}

function ownSigners(settings: Settings, environment: Environment): SigningKey[] {
  const current = signerOf(settings, 'LOG_SIGNING_KEY', environment)
  const previous = signerOf(settings, 'LOG_SIGNING_KEY_PREVIOUS', environment)
  if (previous === undefined) return current === undefined ? [] : [current]
  const setting = settingName('LOG_SIGNING_KEY', environment)
  if (current === undefined) {
    throw new ServiceError('invalid', `${setting}_PREVIOUS is set without ${setting}: there would be no log`)
  }
  assertReplaces(current, previous, setting)
  return [current, previous]
}

function assertReplaces(current: SigningKey, previous: SigningKey, setting: string): void {
  if (current.verifier.name !== previous.verifier.name) {
    const [name, old] = [current, previous].map(({ verifier }) => quoted(verifier.name))
    throw new ServiceError(
      'invalid',
      `${setting} has the name ${name} and ${setting}_PREVIOUS ${old}; they must have one name, that of the log`,
    )
  }
  if (haveOneSeed(current, previous)) {
    throw new ServiceError(
      'invalid',
      `${setting} and ${setting}_PREVIOUS are the same key, so no key would be replaced; ` +
        `give ${setting} a new one, or leave ${setting}_PREVIOUS out`,
    )
  }
}

function signerOf(settings: Settings, own: KeySetting, environment: Environment): SigningKey | undefined {
  const text = settingsOf(settings, environment)[own]
  if (text === undefined) return undefined
  const setting = settingName(own, environment)
  const key = parsed(text, setting)
  const { name, use } = key.verifier
  if (use !== 'log') throw new ServiceError('invalid', `${setting} is the key of a ${use}, not of a log`)
  if (environmentOfLog(name) !== environment) {
    const must = environment === 'sandbox' ? 'must end' : 'must not end'
    throw new ServiceError(
      'invalid',
      `${setting} has the name ${quoted(name)}, which ${must} in /sandbox: that marks the log of the sandbox`,
    )
  }
  return key
}

function parsed(text: string, setting: string): SigningKey {
  try {
    return parseSigningKey(text)
  } catch (error) {
    if (error instanceof ServiceError) throw new ServiceError('invalid', `${setting}: ${error.message}`)
    throw error
  }
}

/** Compares the public keys, because they follow from the seeds alone. */
function haveOneSeed({ verifier: a }: SigningKey, { verifier: b }: SigningKey): boolean {
  return Buffer.compare(a.publicBytes, b.publicBytes) === 0
}
