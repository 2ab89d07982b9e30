// Reads the keys that sign credentials from the settings and checks that they fit together. No message shows
// a key.
import { MOUNTS } from '../../api/mounts.ts'
import type { CredentialIssuer } from '../../pipeline/credentials/issue.ts'
import { type CredentialKey, parseCredentialKey } from '../../pipeline/credentials/keys.ts'
import { type Settings, settingName, settingsOf } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'

type KeySetting = 'CREDENTIAL_SIGNING_KEY' | 'CREDENTIAL_SIGNING_KEY_PREVIOUS'

/**
 * Returns the issuer of credentials of each environment; undefined without a key.
 *
 * @throws ServiceError `invalid` that names the setting: for a wrong key, for keys that contradict each
 *   other, and for a key without `PUBLIC_URL`, which is in every credential.
 */
export function credentialIssuersOf(settings: Settings): Record<Environment, CredentialIssuer | undefined> {
  const production = issuerOf(settings, 'production')
  const sandbox = issuerOf(settings, 'sandbox')
  const known = new Set(production?.keys.map(({ multikey }) => multikey))
  if (sandbox?.keys.some(({ multikey }) => known.has(multikey))) {
    throw new ServiceError(
      'invalid',
      'the sandbox and production have the same key of credentials, so anyone who holds that of the sandbox could sign real ones; ' +
        'give SANDBOX_CREDENTIAL_SIGNING_KEY a key of its own',
    )
  }
  return { production, sandbox }
}

function issuerOf(settings: Settings, environment: Environment): CredentialIssuer | undefined {
  const setting = settingName('CREDENTIAL_SIGNING_KEY', environment)
  const current = credentialKey(settings, 'CREDENTIAL_SIGNING_KEY', environment)
  const previous = credentialKey(settings, 'CREDENTIAL_SIGNING_KEY_PREVIOUS', environment)
  if (current === undefined) {
    if (previous === undefined) return undefined
    throw new ServiceError(
      'invalid',
      `${setting}_PREVIOUS is set without ${setting}: there would be no credentials`,
    )
  }
  if (current.multikey === previous?.multikey) {
    throw new ServiceError(
      'invalid',
      `${setting} and ${setting}_PREVIOUS are the same key, so no key would be replaced; give ${setting} a new one, or leave ${setting}_PREVIOUS out`,
    )
  }
  if (settings.PUBLIC_URL === undefined) {
    throw new ServiceError(
      'invalid',
      `${setting} is set without PUBLIC_URL, by which credentials name their issuer`,
    )
  }
  const url = settings.PUBLIC_URL + MOUNTS[environment]
  return { url, keys: previous === undefined ? [current] : [current, previous] }
}

function credentialKey(
  settings: Settings,
  own: KeySetting,
  environment: Environment,
): CredentialKey | undefined {
  const text = settingsOf(settings, environment)[own]
  try {
    return text === undefined ? undefined : parseCredentialKey(text)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError('invalid', `${settingName(own, environment)}: ${error.message}`)
  }
}
