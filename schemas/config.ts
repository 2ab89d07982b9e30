// Settings, parsed once from the environment. A value is a plain setting; components are built from them in jobs/.
import { z } from 'zod'
import { ServiceError } from './errors.ts'
import { ENVIRONMENTS } from './payloads.ts'

const integer = (fallback: number, min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .default(fallback)

const secret = z
  .string()
  .min(1, 'must not be empty')
  .refine((text) => text === text.trim(), 'must not begin or end with white space')

const environment = z.object({
  STORE_URL: z.string().min(1).default('./data'),
  S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  STORE_TIMEOUT_MS: integer(20_000, 100, 600_000),
  CACHE_DIR: z.string().min(1).optional(),
  ENVIRONMENT: z.enum(ENVIRONMENTS).default('production'),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: integer(3000, 0, 65_535),
  RELEASE_SCHEDULE: z.string().min(1).default('*/15 * * * *'),
  VERIFICATION_SIGNING_SECRET: secret.optional(),
  VERIFICATION_SIGNING_SECRET_PREVIOUS: secret.optional(),
  DUCKDB_THREADS: integer(0, 0, 1024),
  DUCKDB_MEMORY_LIMIT: z
    .string()
    .regex(/^\d+(\.\d+)? ?[KMGT]i?B$/, 'must be a size such as 1GB')
    .default('1GB'),
  COMMIT_TIMEOUT_MS: integer(5_000, 50, 60_000),
  COMMIT_QUEUE_LIMIT: integer(20_000, 1, 1_000_000),
  REFRESH_MS: integer(2_000, 50, 60_000),
  KEY_CACHE_MS: integer(5_000, 0, 10_000),
  SHARD_CACHE_BYTES: integer(256 * 1024 * 1024, 0, 64 * 1024 ** 3),
  REQUEST_TIMEOUT_MS: integer(20_000, 100, 600_000),
  MAX_CONNECTIONS: integer(10_000, 1, 1_000_000),
  SHUTDOWN_TIMEOUT_MS: integer(15_000, 100, 600_000),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
})

export type Settings = z.infer<typeof environment>

/** @throws ServiceError `invalid` naming every setting that is wrong, without its value where it is a secret. */
export function parseSettings(variables: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => {
      const name = String(issue.path[0])
      const shown = name.includes('SECRET') ? '' : ` (it is ${JSON.stringify(variables[name])})`
      return { pointer: name, detail: `${issue.message}${shown}` }
    })
    const names = [...new Set(faults.map(({ pointer }) => pointer))].join(', ')
    throw new ServiceError('invalid', `wrong settings in the environment: ${names}`, { faults })
  }
  const settings = parsed.data
  if (
    settings.VERIFICATION_SIGNING_SECRET_PREVIOUS !== undefined &&
    settings.VERIFICATION_SIGNING_SECRET === undefined
  ) {
    throw new ServiceError(
      'invalid',
      'VERIFICATION_SIGNING_SECRET_PREVIOUS is set without VERIFICATION_SIGNING_SECRET: nothing would be signed',
    )
  }
  return settings
}
