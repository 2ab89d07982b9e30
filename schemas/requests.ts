// What callers may send. Every object is strict: an unknown field is refused, not dropped.
import { z } from 'zod'
import { ENTITY_TYPES } from './tables.ts'
import { day, uuid } from './values.ts'

const NAME_LENGTH = 200

/** Text that a person chose: no control characters and no lone surrogates, so that it prints and stores as it is. */
const name = z
  .string('must be a string')
  .min(1, { error: 'must not be empty', abort: true })
  // Characters and not UTF-16 units, as JSON Schema counts them.
  .refine((text) => Array.from(text).length <= NAME_LENGTH, `must have at most ${NAME_LENGTH} characters`)
  // oxlint-disable-next-line no-control-regex
  .refine((text) => !/[\u0000-\u001f\u007f]/.test(text), 'must not contain control characters')
  .refine((text) => text.isWellFormed(), 'must be well-formed Unicode')
  .refine((text) => text.trim() !== '', 'must not be blank')
  .meta({ maxLength: NAME_LENGTH })

export const registration = z.strictObject({
  name,
  model_type: name,
  organization_name: name.nullish(),
})

export const forecastSubmission = z.strictObject({
  question_id: uuid,
  probability: z
    .number('must be a number')
    .min(0, 'must be at least 0')
    .max(1, 'must be at most 1')
    .meta({ description: 'Of yes. Held to six decimals.' }),
})

export const bulkVerification = z.strictObject({
  entity_type: z.enum(ENTITY_TYPES),
  ids: z.array(uuid, 'must be a list of ids').min(1, 'must name at least one id'),
})

export const snapshotParams = z.strictObject({ entity_type: z.enum(ENTITY_TYPES), entity_id: uuid })

export const snapshotQuery = z
  .strictObject({ start_date: day.optional(), end_date: day.optional() })
  .refine(({ start_date, end_date }) => !start_date || !end_date || start_date <= end_date, {
    path: ['end_date'],
    message: 'must not be before start_date',
  })

export const QUESTION_STATUSES = ['upcoming', 'open', 'closed', 'resolved'] as const
export type QuestionStatus = (typeof QUESTION_STATUSES)[number]

export const questionsQuery = z.strictObject({
  status: z.enum(QUESTION_STATUSES).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.string().max(200).optional(),
})

export const noQuery = z.strictObject({})
