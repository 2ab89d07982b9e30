// Settings, parsed once from environment variables. A value is a plain setting; components are built from them in jobs/.
import { z } from 'zod'
import { ServiceError } from './errors.ts'
import { ENVIRONMENTS, type Environment } from './values.ts'

function integer(fallback: number, min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d+$/, error)
    .transform(Number)
    .pipe(z.number(error).min(min, error).max(max, error))
    .default(fallback)
}

/** An HMAC-SHA256 is as strong as its key up to the length of its output (RFC 2104). */
const SECRET_BYTES = 32

const secret = z
  .string()
  .refine((text) => text === text.trim(), 'must not begin or end with white space')
  .refine(
    (text) => new TextEncoder().encode(text).length >= SECRET_BYTES,
    `must have at least ${SECRET_BYTES} bytes; \`openssl rand -base64 32\` makes a good one`,
  )

const list = z.string().transform((text) => text.split(',').map((part) => part.trim()))

const PRODUCTION_DEFAULTS = { schedule: '*/15 * * * *', freeMonthlyCalls: 100, proMonthlyCalls: 5_000 }
/** Whoever tries things out asks often, and wants to see soon what comes of it. */
const SANDBOX_DEFAULTS = { schedule: '* * * * *', freeMonthlyCalls: 1_000, proMonthlyCalls: 50_000 }

/** What each environment has of its own. The sandbox's names begin with SANDBOX_. */
const ownSettings = (defaults: typeof PRODUCTION_DEFAULTS) => ({
  VERIFICATION_SIGNING_SECRET: secret.optional(),
  VERIFICATION_SIGNING_SECRET_PREVIOUS: secret.optional(),
  RELEASE_SCHEDULE: z.string().min(1).default(defaults.schedule),
  ANONYMOUS_PER_MINUTE: integer(60, 1, 1_000_000),
  FORECASTS_PER_MINUTE: integer(120, 1, 1_000_000),
  FORECASTS_BURST: integer(240, 1, 1_000_000),
  REGISTRATIONS_PER_HOUR: integer(10, 1, 1_000_000),
  FREE_MONTHLY_CALLS: integer(defaults.freeMonthlyCalls, 0, 1_000_000_000),
  PRO_MONTHLY_CALLS: integer(defaults.proMonthlyCalls, 0, 1_000_000_000),
})

const SANDBOX_PREFIX = 'SANDBOX_'
type Shape = ReturnType<typeof ownSettings>

function sandboxed(shape: Shape): { [Name in keyof Shape as `SANDBOX_${Name}`]: Shape[Name] } {
  const renamed = Object.entries(shape).map(([name, schema]) => [`${SANDBOX_PREFIX}${name}`, schema])
  return Object.fromEntries(renamed) as ReturnType<typeof sandboxed>
}

/** The sandbox lies there in the store of production, which must not be pointed at it. */
const SANDBOX_FOLDER = /(?:^|[/\\])sandbox(?:[/\\]\.?)*$/i

const storeUrl = z
  .string()
  .min(1)
  .refine((url) => isBucket(url) || !SANDBOX_FOLDER.test(decoded(url)), {
    error:
      'must not end in /sandbox, where the sandbox of a store lies: name the store, and --environment sandbox',
  })

const allSettings = z.object({
  STORE_URL: storeUrl.default('./data'),
  S3_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be http[s]://host:port' }).optional(),
  STORE_TIMEOUT_MS: integer(20_000, 100, 600_000),
  CACHE_DIR: z.string().min(1).optional(),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be redis[s]://user:password@host:port/number' })
    .optional(),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: integer(3000, 0, 65_535),
  TRUSTED_PROXIES: list.default([]),
  ...ownSettings(PRODUCTION_DEFAULTS),
  ...sandboxed(ownSettings(SANDBOX_DEFAULTS)),
  DUCKDB_THREADS: integer(0, 0, 1024),
  DUCKDB_MEMORY_LIMIT: z
    .string()
    .regex(/^\d+(\.\d+)? ?[KMGT]i?B$/, 'must be a size such as 1GB')
    .default('1GB'),
  COMMIT_TIMEOUT_MS: integer(5_000, 50, 60_000),
  COMMIT_QUEUE_LIMIT: integer(20_000, 1, 1_000_000),
  USAGE_FLUSH_MS: integer(5_000, 50, 600_000),
  REFRESH_MS: integer(2_000, 50, 60_000),
  KEY_CACHE_MS: integer(5_000, 0, 9_000),
  SHARD_CACHE_BYTES: integer(256 * 1024 * 1024, 0, 64 * 1024 ** 3),
  REQUEST_TIMEOUT_MS: integer(20_000, 100, 600_000),
  MAX_CONNECTIONS: integer(10_000, 1, 1_000_000),
  SHUTDOWN_TIMEOUT_MS: integer(15_000, 100, 600_000),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
})

export type Settings = z.infer<typeof allSettings>

/** As in `s3://sandbox`: the name is of the bucket, and no folder of it. */
function isBucket(url: string): boolean {
  return /^s3:\/\/[^/]+\/*$/i.test(url)
}

/** A URL writes any letter as its code, too. */
function decoded(url: string): string {
  return url.replace(/%([0-7][0-9a-f])/gi, (_code, hex: string) => String.fromCharCode(parseInt(hex, 16)))
}

/** What an environment has of its own, by the names without a prefix. */
export type OwnSettings = Pick<Settings, keyof Shape>

export const SETTING_NAMES: readonly string[] = Object.keys(allSettings.shape)

/** @throws ServiceError `invalid` naming every setting that is wrong, without its value where it is a secret. */
export function parseSettings(variables: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const parsed = allSettings.safeParse(given)
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      const name = String(issue.path[0])
      // A URL of Redis holds its password.
      const isSecret = name.includes('SECRET') || name === 'REDIS_URL'
      const shown = isSecret ? '' : ` (it is ${JSON.stringify(variables[name])})`
      return { pointer: name, detail: `${issue.message}${shown}` }
    })
    const names = [...new Set(faults.map(({ pointer }) => pointer))].join(', ')
    throw new ServiceError('invalid', `wrong settings in the environment: ${names}`, { faults })
  }
  assertSecrets(parsed.data)
  return parsed.data
}

/** @throws ServiceError `invalid` for secrets that contradict each other, without showing them. */
function assertSecrets(settings: Settings): void {
  for (const environmentName of ENVIRONMENTS) {
    const own = settingsOf(settings, environmentName)
    const name = settingName('VERIFICATION_SIGNING_SECRET', environmentName)
    if (
      own.VERIFICATION_SIGNING_SECRET_PREVIOUS !== undefined &&
      own.VERIFICATION_SIGNING_SECRET === undefined
    ) {
      throw new ServiceError('invalid', `${name}_PREVIOUS is set without ${name}: nothing would be signed`)
    }
  }
  const own = secretsInForce(settingsOf(settings, 'production'))
  if (secretsInForce(settingsOf(settings, 'sandbox')).some((text) => own.includes(text))) {
    throw new ServiceError(
      'invalid',
      'the sandbox and production have the same signing secret: what the sandbox signs would pass for the real thing; ' +
        'give SANDBOX_VERIFICATION_SIGNING_SECRET another value',
    )
  }
}

/** The secrets by which a signature may hold, the one that signs first. */
export function secretsInForce(own: OwnSettings): string[] {
  return [own.VERIFICATION_SIGNING_SECRET, own.VERIFICATION_SIGNING_SECRET_PREVIOUS].filter(
    (text) => text !== undefined,
  )
}

export function settingsOf(settings: Settings, name: Environment): OwnSettings {
  return Object.fromEntries(
    Object.keys(ownSettings(PRODUCTION_DEFAULTS)).map((own) => [
      own,
      settings[settingName(own as keyof Shape, name)],
    ]),
  ) as OwnSettings
}

/** The variable that holds a setting of an environment. */
export function settingName(own: keyof Shape, name: Environment): keyof Settings {
  return name === 'sandbox' ? `${SANDBOX_PREFIX}${own}` : own
}
