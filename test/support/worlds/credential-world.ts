// A world with certificates: a seeded sandbox in which two people are certified, with a public log, under a
// key and an address of its own.
import type { Components } from '../../../jobs/components/components.ts'
import { seedSandbox } from '../../../jobs/sandbox/seed.ts'
import { takeStep } from '../../../jobs/sandbox/step.ts'
import { issueCredentials } from '../../../pipeline/credentials/issue.ts'
import { credentialKeyText, parseCredentialKey } from '../../../pipeline/credentials/keys.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { type Clock, release, testComponents } from '../http/service.ts'
import { importCertified } from './certified-world.ts'
import { OPTIONS, START, after } from './sandbox.ts'
import { LOG_KEY, writeLog } from './written-log.ts'

export const CREDENTIAL_KEY = parseCredentialKey(credentialKeyText(new Uint8Array(32).fill(3)))
/** The address that is in every credential; tests reach the service under another one. */
export const CREDENTIAL_URL = 'https://forecasts.example.org/sandbox'

/** Seeds a sandbox at `START` and releases it an hour later, with certificates and a log. */
export async function credentialWorld(store: Store, folder: string, clock: Clock): Promise<Components> {
  clock.set(START)
  // All checks of a test come from one address.
  const settings = { SANDBOX_ANONYMOUS_PER_MINUTE: '1000000', SANDBOX_ANONYMOUS_PER_MONTH: '1000000' }
  const made = await testComponents({ store, folder, clock, settings, environment: 'sandbox' })
  const credentialIssuer = { url: CREDENTIAL_URL, keys: [CREDENTIAL_KEY] }
  const components = { ...made, credentialIssuer, signers: [LOG_KEY] }
  await seedSandbox(components, OPTIONS)
  await importCertified(components)
  await releaseAt(components, clock, after(60))
  return components
}

/** Makes a release, and then its credentials and its entry in the log, as the service does. */
export async function releaseAt(components: Components, clock: Clock, at: string): Promise<void> {
  clock.set(at)
  await takeStep(components)
  const { release: number } = await release(components)
  await writeLog(components.store, number)
  await issueCredentials(components, number)
}
