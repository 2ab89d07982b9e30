// The scalar values that requests, payloads and settings are made of.
import { z } from 'zod'

/** A UUID in any case; parsed to lower case. */
export const uuid = z
  .string('must be a UUID')
  // Both cases spelt out: a flag would be lost in the JSON Schema.
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, 'must be a UUID')
  .transform((text) => text.toLowerCase())

/** A UUID as it is published: lower case. */
export const publishedUuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  .meta({ description: 'A UUID in lower case' })

/** A UTC instant with milliseconds, as in `2026-01-31T12:00:00.000Z`. */
export const instant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
  .meta({ description: 'UTC, ISO 8601 with milliseconds', examples: ['2026-01-31T12:00:00.000Z'] })

/** A calendar day in UTC that exists, as in `2026-01-31`. */
export const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, { error: 'must be a day as YYYY-MM-DD', abort: true })
  .refine((text) => {
    const at = new Date(`${text}T00:00:00.000Z`)
    return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
  }, 'must be a day that exists')
  .meta({ examples: ['2026-01-31'] })

export const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
