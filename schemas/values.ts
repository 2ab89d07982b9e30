// The scalar values in requests, payloads and settings.
import { z } from 'zod'

/** The real service, and the one for trying things out. Each has its own store, keys and secrets. */
export const ENVIRONMENTS = ['production', 'sandbox'] as const
export type Environment = (typeof ENVIRONMENTS)[number]

export const DAY_MS = 86_400_000
/** Errors, coverage and gains are held as whole numbers of 1e-9. */
export const NANO = 1e9

/** A pattern of a UUID. Both cases are spelt out because the JSON Schema would lose a flag. */
export const UUID_PATTERN = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

/** A UUID in any case; parsed to lower case. */
export const uuid = z
  .string('must be a UUID')
  .regex(new RegExp(`^${UUID_PATTERN}$`), 'must be a UUID')
  // Do not use a transform: zod allocates 300 bytes for each transformed value, which stay until a full
  // garbage collection.
  .toLowerCase()
  .meta({ format: 'uuid', description: 'A UUID in any case; answered in lower case' })

/** A UUID as the service answers it: lower case. */
export const publishedUuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  .meta({ format: 'uuid', description: 'A UUID in lower case' })

/** A UTC instant with milliseconds, as in `2026-01-31T12:00:00.000Z`. */
export const instant = z
  .string()
  .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/)
  .meta({
    format: 'date-time',
    description: 'UTC, ISO 8601 with milliseconds',
    examples: ['2026-01-31T12:00:00.000Z'],
  })

/** A calendar day in UTC that exists, as in `2026-01-31`. */
export const day = z
  .string()
  .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, { error: 'must be a day as YYYY-MM-DD', abort: true })
  .refine((text) => {
    const at = new Date(`${text}T00:00:00.000Z`)
    return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
  }, 'must be a day that exists')
  .meta({ format: 'date', description: 'A day in UTC', examples: ['2026-01-31'] })

/**
 * An instant that exists, with any offset and any decimals. Parsed to whole milliseconds; further digits are
 * cut. A `+` in a query that is not written as `%2B` arrives as a space.
 */
export const instantMs = z
  .string()
  .regex(
    /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+ -]([01][0-9]|2[0-3]):[0-5][0-9])$/,
    {
      error: 'must be an instant with its offset, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00',
      abort: true,
    },
  )
  .max(64)
  .transform((text) => text.replace(' ', '+'))
  .refine((text) => {
    const local = text.slice(0, 19)
    const at = new Date(`${local}Z`)
    const isDay = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(local)
    return isDay && !Number.isNaN(Date.parse(text))
  }, 'must be an instant that exists')
  .transform((text) => Date.parse(text))
  .meta({ description: 'An instant with its offset', examples: ['2026-01-31T12:00:00Z'] })

export const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** 32 bytes, such as the root of a tree, in Base64. */
export const base64Hash = z.string().regex(/^[A-Za-z0-9+/]{43}=$/)

/** The files that anyone may read: none, those of releases, or also the public tables. */
export const PUBLIC_DATA = ['none', 'releases', 'tables'] as const
export type PublicDataSetting = (typeof PUBLIC_DATA)[number]
