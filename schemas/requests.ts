// The requests of callers. Every object is strict: an unknown field is refused, not dropped.
import { z } from 'zod'
import { DOMAIN_OWNER, NAME_CHARACTERS, idFault, name, nameFrom, normalKey, prose } from './names.ts'
import { ENTITY_TYPES, EVENT_KINDS, OUTCOMES } from './tables.ts'
import { BULK_IDS } from './tiers.ts'
import { UUID_PATTERN, day, instantMs, uuid } from './values.ts'

export const registration = z.strictObject({
  name,
  model_type: name.describe('What makes the forecasts'),
  organization_name: name.nullish().describe('Who runs the agent'),
  invitation: z
    .string()
    .max(NAME_CHARACTERS)
    .optional()
    .describe(
      'A code from the operator, which registers one agent; needed only where the service asks for one',
    ),
})

export const renaming = z.strictObject({ name: name.describe('The name from the next release on') })

/** Names of no host on the Internet. */
const SPECIAL = /\.(?:local|localhost|internal|lan|home|corp|test|invalid|onion|alt|arpa)$/
const DOMAIN =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/
const domain = z
  .string()
  .max(190, 'must have at most 190 characters')
  .regex(DOMAIN, 'must be a name on the Internet alone, without a scheme, a port or a path')
  .transform((text) => text.toLowerCase())
  .refine((text) => !SPECIAL.test(text), 'must be a name that everyone on the Internet can resolve')

export const owning = z.strictObject({
  domain: domain.describe('Who answers for the agent, by a domain that says so'),
})

export const rotation = z.strictObject({
  end_old_key: z
    .boolean()
    .optional()
    .describe('Whether the old key ends at once, with the one that it replaced, and not after 24 hours'),
})

const RATIONALE_CHARACTERS = 4_000

export const forecastSubmission = z.strictObject({
  question_id: uuid,
  probability: z
    .number()
    .min(0, 'must be at least 0')
    .max(1, 'must be at most 1')
    .meta({ description: 'The probability of yes, held to six decimals' }),
  rationale: prose(RATIONALE_CHARACTERS)
    .optional()
    .describe(
      'Why, in text of many lines. Everyone can read it once the question has an outcome; it is not scored',
    ),
})

/** In a call with several forecasts, null withdraws the current one on the question. */
export const submissionOrWithdrawal = forecastSubmission.extend({
  probability: forecastSubmission.shape.probability.nullable().meta({
    description: 'The probability of yes, held to six decimals; null withdraws the current forecast',
  }),
})

/** The most forecasts in one call. */
export const MOST_FORECASTS = 100

export const forecastSubmissions = z.strictObject({
  forecasts: z.array(submissionOrWithdrawal).min(1, 'must have at least one forecast').meta({
    maxItems: MOST_FORECASTS,
    description: 'Each question once: of several forecasts on one, all but the first are refused',
  }),
})

/** The most questions of an event that one call forecasts. */
const MOST_PROBABILITIES = 500

export const eventSubmission = z.strictObject({
  probabilities: z
    .record(uuid, forecastSubmission.shape.probability)
    .refine((named) => Object.keys(named).length > 0, 'must name at least one question')
    .refine(
      (named) => Object.keys(named).length <= MOST_PROBABILITIES,
      `must name at most ${MOST_PROBABILITIES} questions`,
    )
    .describe('The probability of yes of each open question of the event, by its id')
    .meta({ minProperties: 1, maxProperties: MOST_PROBABILITIES }),
})

/** The event that a call is about. */
export const onEvent = z.strictObject({
  event_id: z.string().min(1).max(NAME_CHARACTERS).describe('The `event_id` of its questions'),
})

export const strictQuery = z.strictObject({
  strict: z
    .literal('true')
    .optional()
    .describe('`true` refuses probabilities that cannot all be right, and takes none of them'),
})

export const bulkVerification = z.strictObject({
  entity_type: z.enum(ENTITY_TYPES).describe('What all the ids are of'),
  ids: z.array(uuid).min(1, 'must name at least one id').meta({
    maxItems: BULK_IDS.enterprise,
    description: 'An id that is named twice is answered once. A tier may allow fewer ids',
  }),
})

export const snapshotParams = z.strictObject({
  entity_type: z.enum(ENTITY_TYPES).describe('Agents are machines, forecasters people'),
  entity_id: uuid,
})

export const snapshotQuery = z
  .strictObject({
    start_date: day.optional().describe('The first day, in UTC; the earliest if left out'),
    end_date: day
      .optional()
      .describe('The last day, in UTC and not before `start_date`; the latest if left out'),
  })
  .refine(({ start_date, end_date }) => !start_date || !end_date || start_date <= end_date, {
    path: ['end_date'],
    message: 'must not be before start_date',
  })

export const releaseParams = z.strictObject({
  release: z
    .string()
    .regex(/^[1-9][0-9]{0,7}$/, 'must be the number of a release, such as 12')
    .describe('The first is 1'),
})

export const proofQuery = z.strictObject({
  release: releaseParams.shape.release
    .describe('The `release` of the payload; the current one if left out')
    .optional(),
})

/** A category of questions, as the operator wrote it. */
export const categoryName = z.string().min(1, 'must not be empty').max(1000)

/** The query of calls and pages that can answer from an earlier release. */
export const releaseQuery = z.strictObject({
  release: releaseParams.shape.release
    .transform(Number)
    .optional()
    .describe(
      'The release to answer from, as it was published, if it is not thinned; the current one if left out',
    ),
})

/** The most items of a page. */
const limit = z
  .preprocess(
    (text) => (typeof text === 'string' && /^[0-9]{1,9}$/.test(text) ? Number(text) : text),
    z
      .number('must be a whole number')
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(1000, 'must be at most 1000'),
  )
  .default(100)

export const leaderboardParams = z.strictObject({
  entity_type: z.enum(ENTITY_TYPES).describe('Agents are machines, forecasters people'),
})

/** A place in a list of a release: the number of the release, and the number of a place. */
export const RELEASE_CURSOR = /^([1-9][0-9]{0,7})_([0-9]{1,9})$/

/** The most entries of a page of a search, because each may be on another page of the leaderboard. */
export const MOST_FOUND = 100

const sought = z
  .string()
  .min(1, 'must not be empty')
  .max(NAME_CHARACTERS)
  .transform((text) => text.normalize('NFC'))
  .superRefine((text, context) => {
    const fault = idFault(text)
    if (fault !== undefined) context.addIssue(fault)
  })

/** Whether the cursor is of the requested release. A cursor names its release. */
const isOneRelease = ({ release, cursor }: { release?: number | undefined; cursor?: string | undefined }) =>
  release === undefined || cursor === undefined || cursor.startsWith(`${release}_`)
const TWO_RELEASES = {
  path: ['cursor'],
  message: 'is of another release than `release`: leave `release` out, since a cursor names its own',
}

export const leaderboardQuery = releaseQuery
  .extend({
    category: categoryName
      .optional()
      .describe('The board of exactly this category; that of all questions if left out'),
    q: sought
      .optional()
      .describe(
        `Only entries with this text anywhere in their names, in any letter case, with or without accents. Such a page has at most ${MOST_FOUND}`,
      ),
    name: sought
      .optional()
      .describe('Only entries of exactly this name, in any letter case, with or without accents'),
    limit: limit.meta({ default: 100, description: 'How many entries a page may have' }),
    cursor: z
      .string()
      .regex(RELEASE_CURSOR, 'must be the next_cursor of a page')
      .optional()
      .describe('`next_cursor` of the page before; the first page of the release if left out'),
  })
  .refine(isOneRelease, TWO_RELEASES)

export const reportQuery = z.strictObject({
  limit: limit.meta({ default: 100, description: 'How many questions a page may have' }),
  cursor: leaderboardQuery.shape.cursor,
})

export const scoresQuery = reportQuery.extend(releaseQuery.shape).refine(isOneRelease, TWO_RELEASES)

export const QUESTION_STATUSES = ['upcoming', 'open', 'closed', 'resolved'] as const
export type QuestionStatus = (typeof QUESTION_STATUSES)[number]

/** A place in the list of questions: the close of a question in milliseconds, and the question's id. */
export const CURSOR = /^([0-9]{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

const MOST_WORDS = 20

/** Returns the words of a text in NFC, in lower case and each once: runs of letters, marks and digits. */
export function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu))]
}

/** Whether a text is short enough to look for its words in titles. */
export function areTitleWords(text: string): boolean {
  const words = wordsOf(text).length
  return words >= 1 && words <= MOST_WORDS && text.length <= 2 * NAME_CHARACTERS
}

const status = z.enum(QUESTION_STATUSES)
const category = z.string().max(NAME_CHARACTERS)
const titleWords = z
  .string()
  .max(2 * NAME_CHARACTERS)
  .transform((text) => text.normalize('NFC'))
  .refine(areTitleWords, `must have 1 to ${MOST_WORDS} words`)
const questionsCursor = z.string().regex(CURSOR, 'must be the next_cursor of a page')

/** The most ids in one query, and the most questions of a page with texts. */
export const MOST_NAMED = 100

const uuids = z
  .string()
  .regex(
    new RegExp(`^${UUID_PATTERN}(,${UUID_PATTERN}){0,${MOST_NAMED - 1}}$`),
    `must be 1 to ${MOST_NAMED} UUIDs with commas between them`,
  )
  .transform((text) => text.toLowerCase().split(','))

export const peopleQuery = z.strictObject({
  ids: uuids.describe(`The ids of 1 to ${MOST_NAMED} people, with commas between them`),
})

const onlyAfter = (what: string) => instantMs.optional().describe(`Only questions ${what} after this instant`)

export const questionsQuery = z.strictObject({
  status: status.optional().describe('Only questions of this status'),
  category: category.optional().describe('Only questions of exactly this category'),
  source: category.optional().describe('Only questions that exactly this source asked first'),
  event_id: category.optional().describe('Only questions about exactly this event'),
  ids: uuids
    .optional()
    .describe(
      `Only these questions: 1 to ${MOST_NAMED} ids with commas between them; unknown ones are left out`,
    ),
  closes_before: instantMs.optional().describe('Only questions that close before this instant'),
  closes_after: onlyAfter('that close'),
  opened_after: onlyAfter('that open'),
  resolved_after: onlyAfter('whose outcome became known'),
  updated_after: onlyAfter('of which something was said'),
  q: titleWords
    .transform(wordsOf)
    .optional()
    .describe(
      `Only questions with all of these words in their titles, 1 to ${MOST_WORDS}, in any order and letter case. A word is a run of letters and digits`,
    ),
  limit: limit.meta({ default: 100, description: 'How many questions a page may have' }),
  cursor: questionsCursor.optional().describe('`next_cursor` of the page before; the first page if left out'),
  include: z
    .literal('texts')
    .optional()
    .describe(
      `\`texts\` adds \`resolution_criteria\` and \`background\` to each question. Such a page has at most ${MOST_NAMED}`,
    ),
})

/** A form sends all its fields, so an empty field counts as missing. */
const formField = <F extends z.ZodType>(field: F) =>
  z.preprocess((text) => (text === '' ? undefined : text), field.optional())

/**
 * The fields of the form above the list of questions. Words stay as written, so that the page can show them
 * again.
 */
export const questionsForm = z.strictObject({
  status: formField(status),
  category: formField(category),
  q: formField(titleWords),
  cursor: formField(questionsCursor),
})

const oneOfTwo = uuid.describe('The id of an agent or of a forecaster')
export const compareQuery = z
  .strictObject({ a: oneOfTwo, b: oneOfTwo })
  .refine(({ a, b }) => a !== b, { path: ['b'], message: 'must be another one than a' })

/** A text that a reader pastes to have it checked: a link, an id, a name, a record or a credential. */
export const checkForm = z.strictObject({ q: formField(z.string().max(16_000)) })

/** The number of a page of a list; the first is 1. */
export const listPageQuery = z.strictObject({
  page: z
    .string()
    .regex(/^[1-9][0-9]{0,6}$/, 'must be a whole number from 1')
    .transform(Number)
    .optional(),
})

/** A page of a leaderboard. */
const pageQuery = listPageQuery.extend(releaseQuery.shape)

/** A page of a leaderboard: of all questions, or of a category. */
export const boardPageQuery = pageQuery.extend({ category: categoryName.optional() })

export const ENTITY_QUESTION_ORDERS = ['newest', 'worst', 'best', 'surprising'] as const
export type EntityQuestionOrder = (typeof ENTITY_QUESTION_ORDERS)[number]

/** A page of the questions of an entity, and their order. */
export const entityQuestionsQuery = pageQuery.extend({
  sort: z.enum(ENTITY_QUESTION_ORDERS, `must be ${ENTITY_QUESTION_ORDERS.join(', ')}`).optional(),
})

/** Longer than any address of this service. */
export const SEARCHED_CHARACTERS = 2_000

/** A name, words, an id or an address that a reader looks for, without invisible characters. */
const searched = z.string().max(SEARCHED_CHARACTERS).transform(nameFrom)

/** Up to four agents or forecasters, each by name, id or address. */
export const compareForm = z.strictObject({
  a: formField(searched),
  b: formField(searched),
  c: formField(searched),
  d: formField(searched),
})

export const SEARCHED_LISTS = ['people', 'agents', 'owners'] as const
export type SearchedList = (typeof SEARCHED_LISTS)[number]

/** The search field in the head of every page. `in` shows one list of results, a page at a time. */
export const searchForm = z
  .strictObject({
    q: formField(searched),
    in: formField(z.enum(SEARCHED_LISTS)),
    page: pageQuery.shape.page,
  })
  .refine(({ in: list, page }) => page === undefined || list !== undefined, {
    path: ['page'],
    message: 'must come with in',
  })

/** A place in the history of an agent: the number of a data file, and how many rows come before. */
export const HISTORY_CURSOR = /^([0-9]{1,9})_([0-9]{1,9})$/
const CURRENT_OR_HISTORY = new RegExp(`${CURSOR.source}|${HISTORY_CURSOR.source}`)

export const currentForecastsQuery = z.strictObject({
  question_id: uuid.optional().describe('Only the forecast on this question'),
  limit: limit.meta({ default: 100, description: 'How many forecasts a page may have' }),
  history: z
    .literal('true')
    .optional()
    .describe('`true` asks for all forecasts and withdrawals, on whatever question'),
  cursor: z
    .string()
    .regex(CURRENT_OR_HISTORY, { error: 'must be the next_cursor of a page', abort: true })
    .optional()
    .describe('`next_cursor` of the page before; the first page if left out'),
})

/** The most rows in one call of the operator. */
export const MOST_ROWS = 1_000

/** The most characters of a reason, because every later manifest repeats it. */
export const REASON_LENGTH = 500

const reason = name
  .refine((text) => text.length <= REASON_LENGTH, `must have at most ${REASON_LENGTH} characters`)
  .optional()
  .describe(
    'Why the rows change how a question is scored that a release has scored; every manifest repeats it',
  )

/** Text that is checked later, together with text in files, so that faults of both have the same words. */
const text = z.string()
const optionalText = (description: string) => text.nullish().describe(description)
const time = (description: string) =>
  text.meta({ description: `${description}; an instant with an offset`, examples: ['2026-01-31T12:00:00Z'] })

/** A column missing in a row keeps its current value. */
const rowsArray = <Row extends z.ZodType>(row: Row) =>
  z.array(row).min(1, 'must have at least one row').meta({ maxItems: MOST_ROWS })

export const questionRow = z.strictObject({
  question_id: uuid,
  title: text.describe('What is asked'),
  resolution_criteria: optionalText('How the outcome is decided'),
  background: optionalText('What is known about it'),
  category: optionalText('Free grouping'),
  url: optionalText('Where it was asked'),
  event_id: optionalText('Questions that share one are about the same event'),
  position: z
    .int()
    .nonnegative()
    .max(999_999_999_999_999)
    .nullish()
    .describe('Its place among the questions of its event; of an ordered one the order of the thresholds'),
  option: optionalText('What it is called within its event'),
  source: optionalText('Who asked it first'),
  source_id: optionalText('Its id there'),
  opened_at: time('Forecasts count from here on'),
  closes_at: time('The scheduled close'),
})

export const operatorQuestions = z.strictObject({
  questions: rowsArray(questionRow),
  reason,
})

export const resolutionRow = z.strictObject({
  question_id: uuid,
  outcome: z.enum(OUTCOMES).describe('`open` withdraws the earlier outcome'),
  resolved_at: time('When the outcome became known'),
  known_at: time('The earliest time at which the outcome was public').nullish(),
})

export const eventRow = z.strictObject({
  event_id: text.describe('The `event_id` of its questions'),
  title: text.describe('What it is about'),
  kind: z.enum(EVENT_KINDS).describe('What the outcomes of its questions imply about each other'),
  source: optionalText('Who asked it first'),
  source_id: optionalText('Its id there'),
  url: optionalText('Where it was asked'),
})

export const operatorEvents = z.strictObject({ events: rowsArray(eventRow), reason })

export const priceRow = z.strictObject({
  question_id: uuid,
  priced_at: time('From when on the market said so'),
  probability: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Of yes; null where no market stood from then on'),
  source: text.describe('The market, the same one for all prices of a question'),
})

export const operatorPrices = z.strictObject({ prices: rowsArray(priceRow) })

const questionIds = z.array(uuid).max(MOST_ROWS)

/** How an event ended. Every question of it that is not named ended no. */
export const eventOutcome = z
  .strictObject({
    yes: questionIds.optional().describe('The questions that ended yes'),
    highest: uuid
      .nullish()
      .describe('Instead of `yes`, of an ordered event: the highest question that ended yes; null for none'),
    annulled: questionIds.optional().describe('The questions that score nobody'),
    resolved_at: resolutionRow.shape.resolved_at,
    known_at: resolutionRow.shape.known_at,
    reason,
  })
  .refine(
    ({ yes, highest }) => (yes === undefined) !== (highest === undefined),
    'must have yes or highest, and not both',
  )
  .meta({ oneOf: [{ required: ['yes'] }, { required: ['highest'] }] })

export const operatorResolutions = z.strictObject({
  resolutions: rowsArray(resolutionRow),
  reason,
})

/** The body of `PUT /operator/questions`, that of `PUT /operator/resolutions`, or both. */
export const operatorPreview = z
  .strictObject({
    questions: operatorQuestions.shape.questions.optional(),
    resolutions: operatorResolutions.shape.resolutions.optional(),
    reason,
  })
  .refine(
    ({ questions, resolutions }) => questions !== undefined || resolutions !== undefined,
    'must have questions or resolutions',
  )
  .meta({ anyOf: [{ required: ['questions'] }, { required: ['resolutions'] }] })

/** The default length of each list of the agenda. */
const AGENDA_LENGTH = 200

export const agendaQuery = z.strictObject({
  limit: limit
    .unwrap()
    .default(AGENDA_LENGTH)
    .meta({ default: AGENDA_LENGTH, description: 'How many questions each list may have' }),
})

export const forecasterRow = z.strictObject({ user_id: uuid, display_name: optionalText('The name to show') })

export const operatorForecasters = z.strictObject({
  forecasters: rowsArray(forecasterRow),
})

export const forecastRow = submissionOrWithdrawal.omit({ rationale: true }).extend({
  user_id: uuid,
  forecast_at: time('When it was made, never later than now'),
})

export const operatorForecasts = z.strictObject({
  forecasts: rowsArray(forecastRow),
})

export const agentStatement = z
  .strictObject({
    owner_id: name
      .transform(normalKey)
      .refine(
        (owner) => !owner.startsWith(DOMAIN_OWNER),
        `must not begin with ${DOMAIN_OWNER}: domains prove those`,
      )
      .nullable()
      .optional()
      .describe('Who answers for it; null for nobody'),
    retired: z.boolean().optional().describe('Whether it is retired'),
  })
  .refine(({ owner_id, retired }) => owner_id !== undefined || retired !== undefined, 'must say something')
  .meta({ minProperties: 1 })

export const feedQuery = z.strictObject({
  after: z
    .string()
    .regex(/^(?:end|[1-9][0-9]{0,14}_[0-9]{1,9})$/, 'must be the next of a page of this feed, or end')
    .optional()
    .describe(
      '`next` of the page before, or `end` for none and the `next` of now; the first event if left out',
    ),
  limit: limit.meta({ default: 100, description: 'How many events a page may have' }),
})
