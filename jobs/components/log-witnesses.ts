// Reads the witnesses of the public log from the settings.
import { parseVerifierKey } from '../../pipeline/proof/note-keys.ts'
import { quoted } from '../../pipeline/proof/quoted.ts'
import type { Witness } from '../../pipeline/transparency/witnesses.ts'
import { type Settings, settingName, settingsOf } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'

/**
 * @throws ServiceError `invalid` that names the setting and shows the key: for a wrong key, and for two with
 *   the same id.
 */
export function witnessesOf(settings: Settings): Record<Environment, readonly Witness[]> {
  return {
    production: ownWitnesses(settings, 'production'),
    sandbox: ownWitnesses(settings, 'sandbox'),
  }
}

function ownWitnesses(settings: Settings, environment: Environment): Witness[] {
  const { LOG_WITNESSES: given, LOG_SIGNING_KEY: signingKey } = settingsOf(settings, environment)
  const setting = settingName('LOG_WITNESSES', environment)
  if (given.length > 0 && signingKey === undefined) {
    const missing = settingName('LOG_SIGNING_KEY', environment)
    throw new ServiceError(
      'invalid',
      `${setting} is set without ${missing}: there would be nothing to cosign`,
    )
  }
  const witnesses = given.map(({ vkey, url }) => ({ key: witnessKey(vkey, setting), url }))
  for (const [i, { key }] of witnesses.entries()) {
    // The store keeps cosignatures under the ids of their keys.
    if (witnesses.findIndex((other) => other.key.keyId === key.keyId) === i) continue
    throw new ServiceError('invalid', `${setting} has two keys of one id, ${quoted(given[i]!.vkey)} again`)
  }
  return witnesses
}

function witnessKey(vkey: string, setting: string): Witness['key'] {
  try {
    const key = parseVerifierKey(vkey)
    if (key.use === 'witness') return key
    throw new ServiceError('invalid', `this is the key of a ${key.use}, not of a witness: ${quoted(vkey)}`)
  } catch (error) {
    if (error instanceof ServiceError) throw new ServiceError('invalid', `${setting}: ${error.message}`)
    throw error
  }
}
