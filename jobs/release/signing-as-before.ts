// Refuses a run without the signing secret and the log key of the last release. A shell or a unit without
// these settings would otherwise end both silently.
import { currentRelease } from '../../pipeline/release/read.ts'
import { isSignedBy } from '../../pipeline/release/signed-by.ts'
import { assertEnvironment } from '../../pipeline/release/state.ts'
import { lastCheckpoint } from '../../pipeline/transparency/log-files.ts'
import { secretsInForce, settingName } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'
import type { Components } from '../components/components.ts'

type Signing = Pick<Components, 'store' | 'own' | 'environment' | 'signers'>

const UNSIGNED = 'or say --unsigned to go on without it'

/**
 * Call it before a run writes anything.
 *
 * @throws ServiceError `conflict` that names the setting, if the secret or the log key of the last release is
 *   not set; and as `assertEnvironment` does.
 */
export async function assertSigningAsBefore(components: Signing): Promise<void> {
  refuse(await missingKeys(components, UNSIGNED))
}

/**
 * @param wanted the release; by default the last one.
 * @throws ServiceError `conflict` that names the setting, if none of the set secrets signed the release.
 */
export async function assertSecretOf(components: Signing, wanted: number | undefined): Promise<void> {
  const release = wanted ?? (await currentRelease(components.store))
  if (release > 0) refuse(await missingSecret(components, release, UNSIGNED))
}

/**
 * Checks a node at its start. A node that makes releases needs the signing settings, because all its runs
 * would be refused without them. A node that only serves may do without, and logs so.
 *
 * @throws ServiceError as `assertSigningAsBefore` does, for a node that makes releases.
 */
export async function checkSigningOfNode(
  components: Signing & Pick<Components, 'logger'>,
  makesReleases: boolean,
): Promise<void> {
  const { environment, logger } = components
  const fault = await missingKeys(components, waysOfNode(environment))
  if (makesReleases) refuse(fault)
  else if (fault !== undefined) logger.warn({ environment }, `this node only serves, and ${fault}`)
}

function waysOfNode(environment: Environment): string {
  const there = environment === 'production' ? '' : ` --environment ${environment}`
  return `or run fvs release --unsigned${there} once to go on without it; --no-scheduler serves and makes no releases`
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new ServiceError('conflict', fault)
}

async function missingKeys(components: Signing, ways: string): Promise<string | undefined> {
  const { number: release } = await assertEnvironment(components)
  if (release === 0) return undefined
  return (await missingSecret(components, release, ways)) ?? missingLogKey(components, release, ways)
}

async function missingSecret(
  { store, own, environment }: Signing,
  release: number,
  ways: string,
): Promise<string | undefined> {
  const secrets = secretsInForce(own)
  if (await isSignedBy(store, release, secrets)) return undefined
  const setting = settingName('VERIFICATION_SIGNING_SECRET', environment)
  return secrets.length === 0
    ? `release ${release} is signed, and ${setting} is not set; set it, ${ways}`
    : `release ${release} is signed with another secret than ${setting}; set that one as ${setting}_PREVIOUS, ${ways}`
}

/**
 * Returns the fault of a missing log key. A log without an entry for the last release does not need one: it
 * was given up, or the next run catches up.
 */
async function missingLogKey(
  { store, signers, environment }: Signing,
  release: number,
  ways: string,
): Promise<string | undefined> {
  if (signers.length > 0 || (await lastCheckpoint(store)) < release) return undefined
  const setting = settingName('LOG_SIGNING_KEY', environment)
  return `release ${release} is in the public log, and ${setting} is not set; set it, ${ways}`
}
