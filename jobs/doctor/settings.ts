// Checks settings, secrets and the files of this machine. No finding shows a secret.
import { stat, statfs } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { countInRedis } from '../../api/limits/redis-counters.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { secretsInForce, settingName } from '../../schemas/config.ts'
import type { Components } from '../components/components.ts'
import { type Finding, fault, note, ok } from './finding.ts'

/** Random text of 32 bytes has more different characters, in Base64 and in hex. */
const LEAST_CHARACTERS = 10
const GIB = 1024 ** 3
/** A job without space would stop in the middle. */
const LEAST_FREE_BYTES = 1 * GIB
const FEW_BYTES = 5 * GIB

type Own = Pick<Components, 'settings' | 'own' | 'environment'>

export function checkSecrets({ settings, own, environment }: Own): Finding[] {
  const name = (setting: Parameters<typeof settingName>[0]) => settingName(setting, environment)
  const secrets = secretsInForce(own)
  const findings: Finding[] = []
  // Check the secrets that sign payloads.
  if (secrets.length === 0) {
    const make = `set it: openssl rand -base64 32`
    findings.push(
      note('secret', `${name('VERIFICATION_SIGNING_SECRET')} is not set: nothing is signed`, make),
    )
  } else if (secrets.some((secret) => new Set(secret).size < LEAST_CHARACTERS)) {
    const detail = `${name('VERIFICATION_SIGNING_SECRET')} has few different characters, so that it can be guessed`
    findings.push(fault('secret', detail, 'replace it: openssl rand -base64 32'))
  } else
    findings.push(
      ok(
        'secret',
        `${secrets.length === 1 ? 'one signs' : 'two sign'}, long enough and different from others`,
      ),
    )
  // Check the key of the log, and keys from unfinished rotations.
  findings.push(
    own.LOG_SIGNING_KEY === undefined
      ? note(
          'log key',
          `${name('LOG_SIGNING_KEY')} is not set: there is no public log`,
          'make one: fvs log key ORIGIN',
        )
      : ok('log key', 'set, and not that of another environment'),
  )
  const previous = ['VERIFICATION_SIGNING_SECRET_PREVIOUS', 'LOG_SIGNING_KEY_PREVIOUS'] as const
  for (const setting of previous) {
    if (own[setting] === undefined) continue
    findings.push(note('secret', `${name(setting)} is set`, 'leave it out once verifiers have the new one'))
  }
  // Check the address that pages name.
  if (settings.PUBLIC_URL === undefined) {
    findings.push(
      note(
        'address',
        'PUBLIC_URL is not set: pages and cards name only paths',
        'set it to the public address',
      ),
    )
  }
  return findings
}

/** Checks who may read the file of settings and a store in a folder. Windows has other rights. */
export async function checkFiles(
  { store }: Pick<Components, 'store'>,
  settingsFile: string | undefined,
): Promise<Finding[]> {
  if (process.platform === 'win32') return []
  const findings: Finding[] = []
  if (settingsFile !== undefined) {
    const isOpen = ((await stat(settingsFile)).mode & 0o007) !== 0
    findings.push(
      isOpen
        ? fault(
            'files',
            `everyone on this machine can read ${settingsFile}, which has secrets`,
            `chmod o= ${settingsFile}`,
          )
        : ok('files', `${settingsFile} is closed to others`),
    )
  }
  const root = folderOf(store)
  if (root === undefined) return findings
  const isOpen = ((await stat(root)).mode & 0o005) !== 0
  findings.push(
    isOpen
      ? note(
          'files',
          `everyone on this machine can read ${root}: forecasts on open questions, secrets of webhooks`,
          `chmod o= ${root}`,
        )
      : ok('files', `${root} is closed to others`),
  )
  return findings
}

/** Retention needs some space: it writes a record of each release before it deletes its files. */
const THIN = 'fvs retention --keep N thins old releases; on a full disk free some megabytes for it first'

/** Checks the space for the store, if it is a folder, for copies of it, and for temporary files. */
export async function checkSpace({
  settings,
  store,
}: Pick<Components, 'settings' | 'store'>): Promise<Finding[]> {
  const folders = [
    {
      what: 'temporary files',
      folder: tmpdir(),
      advice: 'make space, or set TMPDIR to a folder on another disk',
    },
    {
      what: 'copies of the store (CACHE_DIR)',
      folder: settings.CACHE_DIR ?? join(homedir(), '.cache'),
      advice: 'make space, or set CACHE_DIR to a folder on another disk',
    },
  ]
  const root = folderOf(store)
  if (root !== undefined) folders.unshift({ what: 'the store', folder: root, advice: THIN })
  const findings: Finding[] = []
  for (const { what, folder, advice } of folders) {
    const system = await statfs(folder).catch(() => undefined)
    if (!system) continue
    const bytes = system.bavail * system.bsize
    const detail = `${(bytes / GIB).toFixed(1)} GiB are free for ${what} in ${folder}`
    if (bytes < LEAST_FREE_BYTES) findings.push(fault('space', detail, advice))
    else findings.push(bytes < FEW_BYTES ? note('space', detail, advice) : ok('space', detail))
  }
  return findings
}

/** Connects once, as each node does at its start. */
export async function checkRedis(
  components: Pick<Components, 'settings' | 'logger' | 'monotonicMs'>,
): Promise<Finding[]> {
  const { REDIS_URL } = components.settings
  if (REDIS_URL === undefined) return []
  try {
    const counters = await countInRedis(REDIS_URL, components)
    await counters.close()
    return [ok('redis', 'it answers')]
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return [fault('redis', `${error.message}: no node starts`, 'start it, or correct REDIS_URL')]
  }
}

/** Returns the folder of a store in a directory. */
function folderOf(store: Components['store']): string | undefined {
  const file = store.localPath('x')
  return file === undefined ? undefined : dirname(file)
}
