// The answers of the API besides published payloads: views of a release, acknowledgements, questions,
// problems, and a node's checks of itself.
import { z } from 'zod'
import { count } from './metric.ts'
import { PAIR_ABOUT, pairFields } from './metrics.ts'
import { releaseManifest } from './manifests.ts'
import {
  agentVerification,
  entityType,
  forecasterVerification,
  categoryBoardFile,
  leaderboardFile,
  provenance,
  snapshotRow,
} from './payloads.ts'
import { PROBLEM_NAMES, QUOTA_EXCEEDED, problemAddress } from './problems.ts'
import {
  eventKind,
  importKind,
  questionOutcome,
  questionStatus,
  scoredOutcome,
  statedOutcome,
  unitJoint,
} from './outcomes.ts'
import { referenceRow } from './references.ts'
import { TIERS } from './tiers.ts'
import { PUBLIC_DATA, day, instant, publishedUuid, sha256 } from './values.ts'

const references = z
  .array(referenceRow)
  .describe(
    'Forecasts that anybody could make, scored on the questions of the pools of the ranked entries of this page; they have no rank. Empty for a release that was made without them',
  )
export const leaderboardPage = leaderboardFile.extend({
  references,
  next_cursor: z
    .string()
    .nullable()
    .describe('The cursor of the next page of the same release; null on the last one'),
})

export const CATEGORY_BOARD_NOTICE = 'A board by category ranks. It certifies nobody.'
export const categoryBoardPage = categoryBoardFile.extend({
  references,
  notice: z.literal(CATEGORY_BOARD_NOTICE).describe('No title follows from a place on this board'),
  next_cursor: leaderboardPage.shape.next_cursor,
})
/** The board of all questions, or that of a category. */
export const anyBoardPage = z.union([leaderboardPage, categoryBoardPage])

export const snapshotHistory = z.strictObject({
  entity_type: entityType,
  entity_id: publishedUuid,
  snapshots: z.array(snapshotRow).describe('Oldest first'),
})

/** The public description of a release: its manifest, and its later state. */
export const publishedRelease = releaseManifest.extend({
  thinned_at: instant
    .nullable()
    .describe('Since when its files in folders are being deleted, or are gone; null if all are there'),
})
export const currentRelease = releaseManifest.extend({
  next_due_at: instant
    .nullable()
    .describe('When the next release is due; null if the node that answers does not know'),
})

export const check = z.strictObject({
  ok: z.boolean(),
  detail: z.string().describe('What was found'),
  checked_at: instant,
})
export type Check = z.infer<typeof check>

export const checks = z
  .strictObject({
    reads: check.describe('Whether the node can read its store'),
    writes: check.describe('Whether it can write to its store'),
    clock: check.describe('Whether its clock is within a minute of the store’s'),
    questions: check.describe('Whether it has read the questions, as it must before it can take forecasts'),
    release: check.describe('Whether the release that it serves is of the last 25 hours'),
  })
  .describe('What the node found when it last tried')
export type Checks = z.infer<typeof checks>

export const readiness = z.strictObject({ status: z.literal('ok'), checks })

export const fault = z.strictObject({
  pointer: z.string().describe('JSON Pointer (RFC 6901) into the path, query or body'),
  detail: z.string(),
})

export const problemType = z.enum([...PROBLEM_NAMES.map(problemAddress), QUOTA_EXCEEDED])

export const problem = z.strictObject({
  type: problemType.describe(
    'What a program can branch on. Those that begin with / are addresses on this service, where their pages are',
  ),
  title: z.string().describe('The type in words'),
  status: z.number().int().describe('The HTTP status of the answer'),
  detail: z.string().describe('What was wrong with this request and what to do'),
  errors: z.array(fault).optional().describe('Every invalid value'),
  'violated-policies': z
    .array(z.string())
    .optional()
    .meta({ description: 'The quota policies that the call exceeded; only with status 429' }),
  checks: checks.optional(),
})
export type Problem = z.infer<typeof problem>

export const registered = z.strictObject({
  agent_id: publishedUuid,
  api_key: z.string().describe('A secret that is shown only once: send it as `Authorization: Bearer`'),
})

export const rotatedKey = z.strictObject({
  agent_id: publishedUuid,
  api_key: z.string().describe('The new secret, shown only once'),
  old_key_works_until: instant.describe(
    'The key that made this call works until then: now, where it ends at once',
  ),
})

export const retiredAgent = z.strictObject({
  agent_id: publishedUuid,
  retired_at: instant.describe('From when on it takes no forecasts: 24 hours after the first call'),
})

export const renamedAgent = z.strictObject({
  agent_id: publishedUuid,
  name: z.string().describe('From the next release on; earlier releases keep the old one'),
})

export const ownerClaimState = z
  .enum(['pending', 'proved', 'missed'])
  .describe('`missed` is proved, and the last look found no proof: after three in a row it is lost')
export const ownerClaim = z.strictObject({
  agent_id: publishedUuid,
  domain: z.string(),
  state: ownerClaimState,
  token: z.string().describe('Public: it proves nothing elsewhere than at the domain'),
  file_url: z
    .string()
    .describe(
      'Where a file `{"agents": {"<agent_id>": "<token>"}}` proves the claim; it may name many agents',
    ),
  record_name: z.string().describe('The name of a TXT record that proves it instead, by the token alone'),
  owner_id: z.string().describe('The owner that the agent has once it is proved'),
  claimed_at: instant,
  proved_at: instant.nullable().describe('When the proof was first found'),
  looked_at: instant.nullable().describe('When it was last looked for'),
  misses: count.describe('The looks in a row that found none'),
  reason: z.string().nullable().describe('Why the last look found none'),
})

export const unretiredAgent = z.strictObject({
  agent_id: publishedUuid,
  retired_at: z.null().describe('Null: it goes on taking forecasts'),
})

export const tier = z.enum(TIERS)
export const keyUsage = z.strictObject({
  tier,
  month: z
    .string()
    .regex(/^[0-9]{4}-[0-9]{2}$/)
    .describe('The calendar month, in UTC'),
  calls: count.describe('Verification calls of the account in this month, as this node knows them'),
  monthly_calls: count.describe('How many a month has'),
  resets_at: instant.describe('When the next month begins'),
})

export const acknowledgedForecast = z.strictObject({
  forecast_id: publishedUuid,
  agent_id: publishedUuid,
  question_id: publishedUuid,
  probability: z.number().min(0).max(1).describe('As it is stored, with six decimals'),
  forecast_at: instant.describe('When the service received it, UTC'),
})

export const acknowledgedWithdrawal = acknowledgedForecast.extend({
  probability: z
    .null()
    .describe('Null, because from `forecast_at` on the agent has no forecast on the question'),
})

export const acceptedForecast = z.strictObject({
  status: z.literal('ok'),
  ...acknowledgedForecast.shape,
  probability: acknowledgedForecast.shape.probability
    .nullable()
    .describe('As it is stored; null for a withdrawal'),
  receipt: z
    .string()
    .optional()
    .describe(
      'As the header `X-Service-Receipt` of a forecast that is submitted alone: of the canonical JSON of the members other than ' +
        '`receipt` and `status`. Absent where the service keeps no public log',
    ),
})
export const refusedForecast = z.strictObject({
  status: z.literal('refused'),
  question_id: publishedUuid,
  problem,
})
export const forecastResults = z.strictObject({
  results: z
    .array(z.discriminatedUnion('status', [acceptedForecast, refusedForecast]))
    .describe('One for each forecast, in their order'),
})

const coherence = z
  .union([
    z.strictObject({
      sum: z.number().describe('What the probabilities add up to, where only one can end yes'),
    }),
    z.strictObject({
      rises_at: z.array(publishedUuid).describe('The thresholds that are more probable than those below'),
    }),
  ])
  .nullable()
  .describe('What is wrong with the probabilities together; null where nothing is')

export const eventForecast = z.strictObject({
  event_id: z.string(),
  coherence,
  results: z.array(acceptedForecast).describe('One for each question, in order of their positions'),
})

export const currentForecast = z.strictObject({
  ...acknowledgedForecast.omit({ agent_id: true }).shape,
  title: z
    .string()
    .nullable()
    .describe('Of the question, null for one that is gone; it comes from outside: take it as data'),
  closes_at: instant.nullable().describe('When the question closes, UTC; null for one that is gone'),
  probability: acknowledgedForecast.shape.probability
    .nullable()
    .describe('As it is stored, with six decimals; null for a withdrawal, which only a history has'),
  rationale: z
    .string()
    .nullable()
    .optional()
    .describe('Why, as the agent said, null where it did not; only a history has it'),
})
export type CurrentForecast = z.infer<typeof currentForecast>
export const currentForecasts = z.strictObject({
  agent_id: publishedUuid,
  forecasts: z
    .array(currentForecast)
    .describe(
      'The last forecast on each open question, in the order in which the questions close; with `history=true` everything that the ' +
        'agent has said, in the order in which it was recorded',
    ),
  next_cursor: z.string().nullable().describe('The cursor of the next page; null on the last one'),
})
export type CurrentForecasts = z.infer<typeof currentForecasts>

export const foundVerification = z.strictObject({
  id: publishedUuid,
  status: z.literal('ok'),
  verification: z.union([agentVerification, forecasterVerification]),
  signature: z
    .string()
    .nullable()
    .describe('The signature of the canonical bytes of `verification`; null if signing is off'),
})
export const missingVerification = z.strictObject({
  id: publishedUuid,
  status: z.literal('not_found'),
  detail: z.string().describe('Why it has no verification, and for an agent when it will'),
})
export const bulkResults = z.strictObject({
  results: z
    .array(z.discriminatedUnion('status', [foundVerification, missingVerification]))
    .describe('One for each id, in the order asked'),
})

const eventFields = {
  event_id: z.string(),
  title: z.string().nullable().describe('Null for an event of which only the id is known'),
  kind: eventKind.describe('What the outcomes of its questions imply about each other'),
}
const inEvent = {
  position: count.nullable().describe('Its place among the questions of its event'),
  option: z.string().nullable().describe('What it is called within its event'),
}

/** The event of a question, and the question's place in it. */
export const questionEvent = z.strictObject({
  ...eventFields,
  ...inEvent,
  questions: count.describe('How many questions the event has'),
})
export type QuestionEvent = z.infer<typeof questionEvent>

export const listedQuestion = z.strictObject({
  question_id: publishedUuid,
  title: z.string(),
  category: z.string().nullable(),
  url: z.string().nullable().describe('A page that explains the question'),
  event_id: z.string().nullable().describe('Questions that share one are about the same event or series'),
  event: questionEvent.nullable().describe('Null without an `event_id`'),
  source: z.string().nullable().describe('Who asked it first, such as another platform'),
  source_id: z
    .string()
    .nullable()
    .describe('Its id there; no two questions have the same `source` and `source_id`'),
  opened_at: instant.describe('Forecasts are accepted from this instant on, UTC'),
  closes_at: instant.describe('Forecasts are accepted before this instant, UTC'),
  status: questionStatus,
  outcome: questionOutcome
    .nullable()
    .describe('Null until it is resolved, and again where its resolution was withdrawn'),
  resolved_at: instant.nullable(),
  known_at: instant
    .nullable()
    .describe('The earliest time at which the outcome was public, if the operator says so'),
  updated_at: instant.describe('When something was last said of the question or of its outcome, UTC'),
})
export type ListedQuestion = z.infer<typeof listedQuestion>

export const event = z.strictObject({
  ...eventFields,
  source: z.string().nullable().describe('Who asked it first, such as another platform'),
  source_id: z.string().nullable().describe('Its id there'),
  url: z.string().nullable().describe('A page that explains the event'),
  question_count: count.describe('How many questions it has'),
  questions: z
    .array(listedQuestion.omit({ event: true, event_id: true }).extend(inEvent))
    .describe(
      'In order of their positions, and then as they close; of more than 1,000 those that close first. `GET /questions?event_id=` lists all',
    ),
})
export type Event = z.infer<typeof event>
const prose = z.string().nullable()
export const publicDataSetting = z.enum(PUBLIC_DATA)
export const dataFile = z.strictObject({
  path: z.string().describe('Below `/data/`, and in the bucket'),
  size_bytes: count,
  sha256,
})
export const dataIndex = z.strictObject({
  public_data: publicDataSetting.describe('What the operator has made public'),
  release: z.number().int().min(1).describe('The current one'),
  as_of: instant,
  files: z
    .array(dataFile)
    .describe(
      'Of the current release, its manifest first. Every earlier release lists its own in its manifest',
    ),
  snapshots: z.array(day).describe('The days; each has a manifest at `snapshots/<day>/manifest.json`'),
  log_size: count.describe(
    'The entries of the public log; its last checkpoint is at `log/checkpoints/<this in 8 digits>`. 0 without a log',
  ),
})
export type DataIndex = z.infer<typeof dataIndex>
export const questionTexts = z.strictObject({
  resolution_criteria: prose.describe('How the outcome is decided, in up to 20,000 characters of many lines'),
  background: prose.describe('What is known about it, in up to 20,000 characters of many lines'),
})
export type QuestionTexts = z.infer<typeof questionTexts>
export const question = listedQuestion.extend(questionTexts.shape)
/** The texts are present if the caller asked for them. */
export const questionInList = listedQuestion.extend(questionTexts.partial().shape)
export const questionPage = z.strictObject({
  questions: z.array(questionInList),
  next_cursor: z
    .string()
    .nullable()
    .describe('The cursor of the next page, also where this one is short or empty; null on the last one'),
})
export type QuestionPage = z.infer<typeof questionPage>

export const publishedRationale = z.strictObject({
  agent_id: publishedUuid,
  forecast_id: publishedUuid,
  probability: z.number().min(0).max(1).nullable().describe('Of the forecast; null for a withdrawal'),
  forecast_at: instant.describe('When the forecast was made, UTC'),
  rationale: z.string().describe('Why, in the words of the agent, in up to 4,000 characters of many lines'),
})
export const questionRationales = z.strictObject({
  question_id: publishedUuid,
  rationales: z
    .array(publishedRationale)
    .describe('The last one of each agent that gave any and is not hidden, in the order of the forecasts'),
  left_out: count.describe('How many more there are than the list has'),
})
export type QuestionRationales = z.infer<typeof questionRationales>

export const methodologyVersion = z.strictObject({
  version: z.string(),
  effective_from: day,
  document_url: z.string().describe('The URL of the method’s text, relative to this server'),
  parameters: z.record(z.string(), z.number()).describe('By name; the text of the method explains each'),
})

const gain = z.number().int().nullable()
const gainFields = {
  gain: gain.describe(PAIR_ABOUT.gain),
  spread: count.nullable().describe(PAIR_ABOUT.spread),
  median_gain: gain.describe(PAIR_ABOUT.median_gain),
  median_spread: count.nullable().describe(PAIR_ABOUT.median_spread),
  market_gain: gain.describe(PAIR_ABOUT.market_gain),
  market_spread: count.nullable().describe(PAIR_ABOUT.market_spread),
}

export const questionScore = z.strictObject({
  question_id: publishedUuid,
  title: z.string().nullable().describe('Null where the node that answers does not know the question'),
  outcome: scoredOutcome,
  resolved_at: instant.describe('When the outcome became known, UTC'),
  settled: z.boolean().describe(PAIR_ABOUT.settled),
  settled_at: instant.nullable().describe(PAIR_ABOUT.settled_at),
  unit: z.string().describe(PAIR_ABOUT.unit),
  cluster: z.string().describe(PAIR_ABOUT.cluster),
  week: z.string().describe(PAIR_ABOUT.week),
  divisor: count.describe(PAIR_ABOUT.divisor),
  joint: unitJoint.describe(PAIR_ABOUT.joint),
  unit_questions: count.describe(PAIR_ABOUT.unit_questions),
  ...pairFields,
  witnessed: z.boolean().describe(PAIR_ABOUT.witnessed),
  contested: z.boolean().describe(PAIR_ABOUT.contested),
  priced: z.boolean().describe(PAIR_ABOUT.priced),
  ...gainFields,
})
export type QuestionScore = z.infer<typeof questionScore>
const scoresPage = {
  scores: z
    .array(questionScore)
    .describe('By when they are settled and then `question_id`, the newest first'),
  next_cursor: leaderboardPage.shape.next_cursor,
}
export const agentScores = z.strictObject({ agent_id: publishedUuid, ...scoresPage, ...provenance })
export const forecasterScores = z.strictObject({ user_id: publishedUuid, ...scoresPage, ...provenance })

const byColumn = z.record(z.string(), count)

export const madeVoid = z.strictObject({ forecasts: count, entities: count })

/** The effect of a call of the operator: the same counts as in `fvs import --json`. */
export const rowsTaken = z.strictObject({
  kind: importKind,
  rows: count.describe('Rows that were sent'),
  added: count.describe('Rows about something new'),
  changed: count.describe('Rows that change what is known'),
  changed_columns: byColumn.describe('How many rows change each column'),
  unchanged: count.describe('Rows that were known already'),
  repeats: count.describe('Rows of `unchanged` that repeat an earlier one of the call'),
  missing_words: byColumn.describe('Texts such as NaN that were taken as missing, by column'),
  texts_changed: byColumn,
  unwanted: count,
  withdrawals: count.describe('Rows that withdraw a forecast'),
  too_late: count.describe('Forecasts that count for nothing: their question was over'),
  made_void: madeVoid.describe('Known forecasts that count for nothing from now on, and whose they are'),
  import_id: z
    .string()
    .nullable()
    .describe('By which `fvs imports undo` takes the rows back; null if none was added to a table'),
})

export const takenForecast = z.strictObject({
  forecast_id: publishedUuid,
  user_id: publishedUuid,
  question_id: publishedUuid,
  probability: z.number().nullable(),
  forecast_at: instant,
  witnessed: z.boolean().describe('Whether it came at most ten minutes after it was made'),
  receipt: z
    .string()
    .nullable()
    .describe('As `X-Service-Receipt`; null if it is not witnessed, or where there is no public log'),
})

export const forecastsTaken = rowsTaken.extend({
  forecasters_created: count.describe('Forecasters whom nothing had named before'),
  results: z.array(takenForecast).describe('For each row, in the order of the call'),
})

export const agentStated = z.strictObject({
  agent_id: publishedUuid,
  changed: z.boolean().describe('False if all of it was so already'),
  retired_at: instant.nullable(),
})

/** The effect that rows would have, and the faults of bad rows. */
export const rowsPreviewed = rowsTaken.omit({ import_id: true }).extend({
  bad: count.describe('Rows that a call would be refused for'),
  errors: z.array(fault).describe('The first twenty bad rows'),
})

export const correctedOutcome = z.strictObject({
  question_id: publishedUuid,
  from: statedOutcome.describe('As the last release has it'),
  to: statedOutcome.describe('As the next release would have it; `open` is none'),
})

export const preview = z.strictObject({
  at: instant,
  needs_reason: z.boolean().describe('Whether rows are bad that a `reason` would make good'),
  corrects: z
    .array(correctedOutcome)
    .describe('Outcomes of the last release that the next one would replace'),
  parts: z.array(rowsPreviewed).describe('First the questions, then the resolutions, where they were sent'),
})

export const agendaQuestion = listedQuestion.pick({
  question_id: true,
  title: true,
  category: true,
  url: true,
  opened_at: true,
  closes_at: true,
})
export const agendaList = z.strictObject({
  count: count.describe('How many there are, also beyond the limit'),
  questions: z.array(agendaQuestion),
})

export const agenda = z.strictObject({
  at: instant,
  overdue: agendaList.describe(
    'Past their close without an outcome, the one that closed first before the others',
  ),
  closing: agendaList.describe('Open, and closing within 24 hours, the first to close before the others'),
  opening: agendaList.describe('Opening within seven days, the first to open before the others'),
})

/** The endpoint schema of shields.io. */
export const badgeText = z.strictObject({
  schemaVersion: z.literal(1),
  label: z.string(),
  message: z.string().describe('What the current release says of the entity'),
  color: z.string(),
})

export const peopleNames = z.strictObject({
  signed: z.literal(false).describe('No signature, hash or log covers these names'),
  people: z
    .array(
      z.strictObject({
        user_id: publishedUuid,
        name: z
          .string()
          .nullable()
          .describe(
            'As imported: a claim. Null for a person without a name, whose name was taken back, or who is not known',
          ),
      }),
    )
    .describe('In the order of the call'),
})
