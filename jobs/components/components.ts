// Builds the components from the settings, with the real clock, ids and randomness.
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { availableParallelism, homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { v7 as uuidv7 } from 'uuid'
import type { PipelineComponents } from '../../pipeline/components.ts'
import { Database } from '../../pipeline/duckdb.ts'
import { Registry } from '../../pipeline/access/registry.ts'
import type { SigningSecrets } from '../../pipeline/proof/hmac.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { CredentialIssuer } from '../../pipeline/credentials/issue.ts'
import type { Witness } from '../../pipeline/transparency/witnesses.ts'
import { type OwnSettings, type Settings, settingsOf } from '../../schemas/config.ts'
import type { Environment } from '../../schemas/values.ts'
import { credentialIssuersOf } from './credential-issuer.ts'
import { signersOf } from './log-signers.ts'
import { witnessesOf } from './log-witnesses.ts'
import { loggerOf } from './logger.ts'
import { type Access, openOwnStore } from './own-store.ts'
import { RandomPool } from './random-pool.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'
import packageJson from '../../package.json' with { type: 'json' }

/** How many random bytes a version 7 UUID needs. */
const ID_RANDOM_BYTES = 16

export const SERVICE_VERSION = packageJson.version

/** `directory` is a folder of this process alone. Disposing of the components deletes it. */
export interface Components extends Omit<PipelineComponents, 'database'>, AsyncDisposable {
  settings: Settings
  /** The settings of this environment, under their names without a prefix. */
  own: OwnSettings
  /** Whether an empty store in memory stands in for a missing one. */
  isStoreMissing: boolean
  registry: Registry
  /** The witnesses that should cosign the public log. */
  witnesses: readonly Witness[]
  /** Undefined if no credentials are made. */
  credentialIssuer: CredentialIssuer | undefined
  logger: Logger
  /** An id in no order: nothing is sorted by it. */
  newRequestId: () => string
}

/** Works with components, and disposes of them even if the work fails. */
export async function withComponents<T>(
  settings: Settings,
  environment: Environment,
  access: Access,
  work: (components: Components) => Promise<T>,
): Promise<T> {
  const components = await buildComponents(settings, environment, access)
  try {
    return await work(components)
  } finally {
    await components[Symbol.asyncDispose]()
  }
}

/** Works with the components of every environment at once, as a serving process does. */
export async function withEveryEnvironment<T>(
  settings: Settings,
  work: (components: Record<Environment, Components>) => Promise<T>,
): Promise<T> {
  const inSandbox = (production: Components) =>
    withComponents(settings, 'sandbox', 'begins', (sandbox) => work({ production, sandbox }))
  return withComponents(settings, 'production', 'begins', inSandbox)
}

/**
 * @throws ServiceError `invalid` for wrong signing keys and witnesses of the log, before the store is opened,
 *   and as `openOwnStore` does.
 */
async function buildComponents(
  settings: Settings,
  environment: Environment,
  access: Access,
): Promise<Components> {
  // Parse the settings first, because they may be wrong.
  const logger = loggerOf(settings)
  const own = settingsOf(settings, environment)
  const random = new RandomPool()
  const signers = signersOf(settings)[environment]
  const witnesses = witnessesOf(settings)[environment]
  const credentialIssuer = credentialIssuersOf(settings)[environment]
  // Open the store, and make a folder for work on this machine.
  const { store, clockAheadMs } = await openOwnStore(settings, environment, access, logger)
  const storeName = sha256Hex(`${settings.S3_ENDPOINT ?? ''} ${store.url}`).slice(0, 16)
  const cache = settings.CACHE_DIR ?? join(homedir(), '.cache', 'fvs')
  const directory = await makeTemporaryFolder('work')
  await mkdir(join(directory, 'spill'))
  return {
    settings,
    methodology: METHODOLOGY,
    environment,
    own,
    store,
    isStoreMissing: store instanceof MemoryStore,
    local: new LocalFiles(store, join(cache, storeName)),
    registry: new Registry({ store, environment, randomBytes }),
    secrets: secretsOf(own),
    signers,
    witnesses,
    credentialIssuer,
    logger,
    log: (event, fields) => {
      logger.info({ environment, ...fields }, event)
    },
    service: SERVICE_VERSION,
    directory,
    openDatabase: () => databaseIn(settings, join(directory, 'spill')),
    clockAheadMs,
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    wait: async (ms) => {
      await setTimeout(ms)
    },
    // Give each id random bits of its own: the hash of a forecast is public, and only the id in it keeps
    // anyone from guessing the forecast. Without these bytes, ids of one millisecond would count upward.
    newId: () => uuidv7({ random: random.take(ID_RANDOM_BYTES) }),
    newRequestId: () => randomUUID(),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Opens a fresh database that spills into a folder. */
export function databaseIn(settings: Settings, directory: string): Promise<Database> {
  return Database.open({
    threads: settings.DUCKDB_THREADS === 0 ? availableParallelism() : settings.DUCKDB_THREADS,
    memoryLimit: settings.DUCKDB_MEMORY_LIMIT,
    directory,
  })
}

/** Returns undefined if signing is off. */
export function secretsOf(own: OwnSettings): SigningSecrets | undefined {
  const { VERIFICATION_SIGNING_SECRET: current, VERIFICATION_SIGNING_SECRET_PREVIOUS: previous } = own
  return current === undefined ? undefined : { current, previous }
}
