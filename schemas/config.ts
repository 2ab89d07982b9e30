// The settings: environment variables, parsed once into plain values. Each is described where it is declared;
// docs/settings.md has a table of the descriptions.
import { z } from 'zod'
import { ServiceError } from './errors.ts'
import { ENVIRONMENTS, type Environment, PUBLIC_DATA, type PublicDataSetting } from './values.ts'
import { WORDED } from './wording.ts'

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

/** A signing key as text. Its parser checks its id and its kind. */
const logKey = z
  .string()
  .regex(
    /^PRIVATE\+KEY\+[^+\p{White_Space}\p{C}]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/u,
    'must be PRIVATE+KEY+<name>+<8 hex>+<base64>, with nothing around it; `fvs log key ORIGIN` makes one',
  )

/** A key of credentials as text. */
const credentialKey = z
  .string()
  .regex(
    /^z3u2[1-9A-HJ-NP-Za-km-z]{44}$/,
    'must be z3u2 and 44 characters of base58; `fvs credential key` makes one',
  )

const publicUrl = z
  .url({ protocol: /^https?$/, error: 'must be http[s]://host, with a path if the service lies under one' })
  .refine((url) => !/[?#]|\/\/[^/]*@/.test(url), 'must have no query, fragment, user or password')
  .transform((url) => url.replace(/\/+$/, ''))

/** A witness as text. The parser of its key checks the key's id and kind. */
const logWitness = z
  .string()
  .regex(
    /^[^+\p{White_Space}\p{C}]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44} \S+$/u,
    'must be <vkey> <url>, several by commas: the vkey is <name>+<8 hex>+<base64>, and one space is before the URL',
  )
  .transform((text, context) => {
    const [vkey, given] = text.split(' ') as [string, string]
    const url = publicUrl.safeParse(given, WORDED)
    if (url.success) return { vkey, url: url.data }
    context.addIssue(`the URL of a witness ${url.error.issues[0]!.message}`)
    return z.NEVER
  })

/** A name for pages. Marks of direction and ends of lines would change the text around it. */
const shownName = (most: number) =>
  z
    .string()
    .max(most, `must have at most ${most} characters`)
    .regex(
      /^[^\p{C}\p{Z}]+(?: [^\p{C}\p{Z}]+)*$/u,
      'must be words with one space between them, and no control characters',
    )

const LONGEST_LINK = 500

/** An address that pages link to. */
const link = (protocol: RegExp, error: string) =>
  z.url({ protocol, error }).max(LONGEST_LINK, `must have at most ${LONGEST_LINK} characters`)

const pageLink = link(/^https$/, 'must be https://…')

const list = z.string().transform((text) => text.split(',').map((part) => part.trim()))

const PRODUCTION_DEFAULTS = {
  schedule: '*/15 * * * *',
  freeMonthlyCalls: 100,
  proMonthlyCalls: 5_000,
  publicData: 'releases' as PublicDataSetting,
}
/** Developers call the sandbox often, and want to see the result soon. */
const SANDBOX_DEFAULTS: typeof PRODUCTION_DEFAULTS = {
  schedule: '* * * * *',
  freeMonthlyCalls: 1_000,
  proMonthlyCalls: 50_000,
  // Nothing there is real.
  publicData: 'tables',
}

/** Who may register agents. */
const REGISTRATIONS = ['open', 'invited', 'closed'] as const

/** The settings of one environment. The names of the sandbox's begin with SANDBOX_. */
const ownSettings = (defaults: typeof PRODUCTION_DEFAULTS) => ({
  VERIFICATION_SIGNING_SECRET: secret
    .optional()
    .describe(`signs what is published; at least ${SECRET_BYTES} bytes`),
  VERIFICATION_SIGNING_SECRET_PREVIOUS: secret.optional().describe('the old secret, which signs too'),
  IDS_SECRET: secret
    .optional()
    .describe(
      `makes imported ids of people that nobody finds by trying user names; at least ${SECRET_BYTES} bytes. Never change it`,
    ),
  LOG_SIGNING_KEY: logKey
    .optional()
    .describe('signs the public log; from `fvs log key`. Without it there is no log'),
  LOG_SIGNING_KEY_PREVIOUS: logKey.optional().describe('the old key of the same name, which signs too'),
  LOG_WITNESSES: list
    .pipe(z.array(logWitness))
    .default([])
    .describe('who cosigns the public log: `<vkey> <url>`, several by commas'),
  CREDENTIAL_SIGNING_KEY: credentialKey
    .optional()
    .describe('signs credentials under `PUBLIC_URL`; from `fvs credential key`'),
  CREDENTIAL_SIGNING_KEY_PREVIOUS: credentialKey
    .optional()
    .describe('the old key, whose credentials stay good; leave it out after 90 days'),
  RELEASE_SCHEDULE: z
    .string()
    .min(1)
    .default(defaults.schedule)
    .describe('when to look for something to release: cron, in UTC'),
  PUBLIC_DATA: z
    .enum(PUBLIC_DATA, `must be ${PUBLIC_DATA.join(', ')}`)
    .default(defaults.publicData)
    .describe(
      'what anyone may read under `/data/`: nothing, releases with snapshots and log, or also questions, outcomes and forecasts on settled questions',
    ),
  ANONYMOUS_PER_MONTH: integer(defaults.freeMonthlyCalls, 0, 1_000_000_000).describe(
    'verifications a month of an address without a key',
  ),
  ANONYMOUS_PER_MINUTE: integer(20, 1, 1_000_000_000).describe('the same a minute'),
  READS_PER_MINUTE: integer(600, 1, 1_000_000_000).describe('other GET calls a minute of an address'),
  PAGES_PER_MINUTE: integer(600, 1, 1_000_000_000).describe('pages a minute to an address'),
  ATTEMPTS_PER_MINUTE: integer(60, 1, 1_000_000).describe(
    'calls a minute that may fail, of a key or an address',
  ),
  OTHER_CALLS_PER_MINUTE: integer(6_000, 0, 1_000_000_000).describe(
    'calls a minute of an address that no other limit counts; 0 is no limit',
  ),
  FORECASTS_PER_MINUTE: integer(120, 1, 1_000_000).describe('forecasts a minute of an agent, on average'),
  FORECASTS_BURST: integer(240, 1, 1_000_000).describe(
    'forecasts of an agent at once; `FORECASTS_PER_MINUTE` if that is more',
  ),
  ADDRESS_FORECASTS_PER_MINUTE: integer(1_200, 0, 1_000_000_000).describe(
    'forecasts a minute of all agents of an address; 0 is no limit',
  ),
  OPERATOR_CALLS_PER_MINUTE: integer(120, 1, 1_000_000).describe("calls a minute of an operator's key"),
  REGISTRATION: z
    .enum(REGISTRATIONS, `must be ${REGISTRATIONS.join(', ')}`)
    .default('open')
    .describe('who may register agents: anyone, whoever has a code of `fvs agents invite`, or nobody'),
  REGISTRATIONS_PER_HOUR: integer(10, 1, 1_000_000).describe('new agents an hour of an address'),
  FREE_MONTHLY_CALLS: integer(defaults.freeMonthlyCalls, 0, 1_000_000_000).describe(
    "verifications a month with a free key or an agent's",
  ),
  PRO_MONTHLY_CALLS: integer(defaults.proMonthlyCalls, 0, 1_000_000_000).describe(
    'verifications a month with a pro key',
  ),
})

export const SANDBOX_PREFIX = 'SANDBOX_'
const OWN = ownSettings(PRODUCTION_DEFAULTS)
type Shape = typeof OWN
const OWN_NAMES = Object.keys(OWN) as (keyof Shape)[]

function sandboxed(shape: Shape): { [Name in keyof Shape as `SANDBOX_${Name}`]: Shape[Name] } {
  const renamed = Object.entries(shape).map(([name, schema]) => [`${SANDBOX_PREFIX}${name}`, schema])
  return Object.fromEntries(renamed) as ReturnType<typeof sandboxed>
}

/** The sandbox lies in this folder of the store. Production must not use the folder as its store. */
const SANDBOX_FOLDER = /(?:^|[/\\])sandbox(?:[/\\]\.?)*$/i

const storeUrl = z
  .string()
  .min(1)
  .refine((url) => isBucket(url) || !SANDBOX_FOLDER.test(decodedPart(url)), {
    error:
      'must not end in /sandbox, where the sandbox of a store lies: name the store, and --environment sandbox',
  })

/** Every setting, in the order of the table in the documentation. */
export const settings = z.object({
  STORE_URL: storeUrl
    .default('./data')
    .describe('where everything is kept: a path, `file:///folder` or `s3://bucket/prefix`'),
  S3_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be http[s]://host:port' })
    .optional()
    .describe("an S3-compatible server other than Amazon's"),
  STORE_TIMEOUT_MS: integer(20_000, 100, 600_000).describe(
    'milliseconds that one request to the store may take',
  ),
  CACHE_DIR: z
    .string()
    .min(1)
    .optional()
    .describe('copies of what this machine has read. Without it `~/.cache/fvs`'),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be redis[s]://user:password@host:port/number' })
    .optional()
    .describe(
      '`redis://…` or `rediss://…`, where all nodes count calls together. Without it each counts alone',
    ),
  HOST: z.string().min(1).default('127.0.0.1').describe('the address to listen on'),
  PORT: integer(3000, 0, 65_535).describe('the port to listen on; with 0 a free one, which the log names'),
  PUBLIC_URL: publicUrl
    .optional()
    .describe(
      'how people reach the service, such as `https://forecasts.example.org`: for links, previews and badges',
    ),
  SERVICE_NAME: shownName(60)
    .default('Forecast verification')
    .describe('the name of the service on its pages'),
  OPERATOR_NAME: shownName(120)
    .optional()
    .describe('who runs the service, for the foot of all pages, as the next four'),
  CONTACT_URL: link(/^(?:https|mailto)$/, 'must be https://… or mailto:…')
    .optional()
    .describe('how to reach the operator: `https://…` or `mailto:…`'),
  IMPRINT_URL: pageLink.optional().describe('the imprint: `https://…`'),
  PRIVACY_URL: pageLink.optional().describe('the privacy policy: `https://…`'),
  DATA_LICENCE_URL: pageLink.optional().describe('the licence of what is published: `https://…`'),
  TRUSTED_PROXIES: list
    .default([])
    .describe(
      'proxies whose `X-Forwarded-For` is believed: `10.0.0.0/8, ::1`, or `loopback`, `linklocal`, `uniquelocal`',
    ),
  IPV6_56_TIMES: integer(4, 1, 256).describe(
    'how many times the limit of an address an IPv6 /56 has; a /64 is one address',
  ),
  IPV6_48_TIMES: integer(16, 1, 65_536).describe('the same for a /48'),
  ...OWN,
  ...sandboxed(ownSettings(SANDBOX_DEFAULTS)),
  DUCKDB_THREADS: integer(0, 0, 1024).describe('threads of a job; with 0 one for each core'),
  DUCKDB_MEMORY_LIMIT: z
    .string()
    .regex(/^\d+(\.\d+)? ?[KMGT]i?B$/, 'must be a size such as 1GB')
    .default('1GB')
    .describe('memory of DuckDB in a job; the rest goes to the temporary folder'),
  COMMIT_TIMEOUT_MS: integer(5_000, 50, 60_000).describe(
    'milliseconds to make forecasts durable; then they are refused with 503',
  ),
  COMMIT_QUEUE_LIMIT: integer(20_000, 1, 1_000_000).describe(
    'forecasts that may wait for the store, and as many registrations',
  ),
  USAGE_FLUSH_MS: integer(5_000, 50, 600_000).describe(
    'milliseconds after which a node writes down counted calls',
  ),
  REFRESH_MS: integer(2_000, 50, 60_000).describe(
    'milliseconds after which a node looks for new questions and releases; 15 s while nobody asks it',
  ),
  PROBE_MS: integer(5_000, 50, 600_000).describe('milliseconds after which a node tries its store again'),
  KEY_CACHE_MS: integer(5_000, 0, 9_000).describe(
    'milliseconds for which a node may still accept a revoked key',
  ),
  WEBHOOKS_PRIVATE: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .transform((text) => text === 'true')
    .describe('whether webhooks may have private addresses and plain HTTP'),
  SHARD_CACHE_BYTES: integer(256 * 1024 * 1024, 0, 64 * 1024 ** 3).describe(
    'memory for opened files of releases, and as much for history, in each environment',
  ),
  REQUEST_TIMEOUT_MS: integer(20_000, 100, 600_000).describe(
    'milliseconds that a client may take to send a request',
  ),
  MAX_CONNECTIONS: integer(8_000, 1, 1_000_000).describe(
    'connections at once; for one more the longest idle one is closed',
  ),
  MAX_CONNECTIONS_OF_ADDRESS: integer(256, 1, 1_000_000).describe(
    'the same for one address that is no trusted proxy',
  ),
  SHUTDOWN_TIMEOUT_MS: integer(15_000, 100, 600_000).describe(
    'milliseconds that unfinished answers get after SIGTERM',
  ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('the least level that is logged, as JSON lines on standard error'),
})

export type Settings = z.infer<typeof settings>

/** Whether a URL names a whole bucket. `s3://sandbox` is a bucket of that name, not a folder. */
function isBucket(url: string): boolean {
  return /^s3:\/\/[^/]+\/*$/i.test(url)
}

/** A URL may write any character as its code, so that `%73andbox` is `sandbox`. */
function decodedPart(url: string): string {
  return url.replace(/%([0-7][0-9a-f])/gi, (_code, hex: string) => String.fromCharCode(parseInt(hex, 16)))
}

/** The settings of one environment, by their names without a prefix. */
export type OwnSettings = Pick<Settings, keyof Shape>

export const SETTING_NAMES: readonly string[] = Object.keys(settings.shape)

/** @throws ServiceError `invalid` that names every wrong setting, with its value unless that is a secret. */
export function parseSettings(variables: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const parsed = settings.safeParse(given, WORDED)
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      const name = String(issue.path[0])
      const shown = isSecret(name) ? '' : ` (it is ${JSON.stringify(variables[name])})`
      return { pointer: name, detail: `${issue.message}${shown}` }
    })
    const names = [...new Set(faults.map(({ pointer }) => pointer))].join(', ')
    throw new ServiceError('invalid', `wrong settings in the environment: ${names}`, { faults })
  }
  assertSecrets(parsed.data)
  return parsed.data
}

/** The URL of a Redis server may hold its password. */
function isSecret(name: string): boolean {
  return name.includes('SECRET') || name.includes('SIGNING_KEY') || name === 'REDIS_URL'
}

/** @throws ServiceError `invalid` for secrets that contradict each other; it does not show them. */
function assertSecrets(parsed: Settings): void {
  for (const environmentName of ENVIRONMENTS) {
    const own = settingsOf(parsed, environmentName)
    const name = settingName('VERIFICATION_SIGNING_SECRET', environmentName)
    if (
      own.VERIFICATION_SIGNING_SECRET_PREVIOUS !== undefined &&
      own.VERIFICATION_SIGNING_SECRET === undefined
    ) {
      throw new ServiceError('invalid', `${name}_PREVIOUS is set without ${name}: nothing would be signed`)
    }
    if (
      own.VERIFICATION_SIGNING_SECRET !== undefined &&
      own.VERIFICATION_SIGNING_SECRET === own.VERIFICATION_SIGNING_SECRET_PREVIOUS
    ) {
      throw new ServiceError(
        'invalid',
        `${name} and ${name}_PREVIOUS have the same value, so no secret would be replaced; ` +
          `give ${name} a new one, or leave ${name}_PREVIOUS out`,
      )
    }
  }
  const own = secretsInForce(settingsOf(parsed, 'production'))
  if (secretsInForce(settingsOf(parsed, 'sandbox')).some((text) => own.includes(text))) {
    throw new ServiceError(
      'invalid',
      'the sandbox and production have the same signing secret, so anything that the sandbox signs would pass as real; ' +
        'give SANDBOX_VERIFICATION_SIGNING_SECRET another value',
    )
  }
}

/** Returns the secrets that may have signed. The first one makes new signatures. */
export function secretsInForce(own: OwnSettings): string[] {
  return [own.VERIFICATION_SIGNING_SECRET, own.VERIFICATION_SIGNING_SECRET_PREVIOUS].filter(
    (text) => text !== undefined,
  )
}

export function settingsOf(all: Settings, name: Environment): OwnSettings {
  return Object.fromEntries(OWN_NAMES.map((own) => [own, all[settingName(own, name)]])) as OwnSettings
}

/** The variable that holds an environment's own setting. */
export function settingName(own: keyof Shape, name: Environment): keyof Settings {
  return name === 'sandbox' ? `${SANDBOX_PREFIX}${own}` : own
}
