// The manifests of releases and snapshots: their files, and the facts of the release as a whole.
import { z } from 'zod'
import { count } from './metric.ts'
import { type Title, environmentName, voiceRule } from './payloads.ts'
import { importKind } from './outcomes.ts'
import { CORRECTED_COLUMNS, ENTITY_TYPES, type EntityType } from './tables.ts'
import { base64Hash, day, instant, publishedUuid, sha256 } from './values.ts'

export const manifestFile = z.strictObject({
  path: z.string(),
  rows: count,
  size_bytes: count,
  sha256,
  entity_type: z
    .enum(ENTITY_TYPES)
    .optional()
    .describe('The kind of entity in the part; only for parts of the scores and of the entities'),
  first_id: z
    .string()
    .optional()
    .describe(
      'The first entity in a part of the scores or of the entities, the first owner or question in a file of those',
    ),
})
export const releaseCounts = z.strictObject({
  agents: count.describe('Agents that had registered'),
  forecasters: count.describe('People whose forecasts were imported, or who were imported by name'),
  scored_questions: count.describe('Questions whose outcome was known to be yes or no'),
  forecasts: count.describe('All forecasts, each id once, also those that count for nothing or not yet'),
})
export type ReleaseCounts = z.infer<typeof releaseCounts>
const questionStates = z.strictObject({
  open: count.describe('They took forecasts'),
  overdue: count.describe('They had closed, and no outcome was known'),
  oldest_overdue_at: instant
    .nullable()
    .optional()
    .describe('The close of the question that has been overdue for longest; null if none is overdue'),
  annulled: count,
  early: count.describe('Their outcome was known before their close, which had not come'),
})
export type QuestionStates = z.infer<typeof questionStates>
export const categoryQuestions = questionStates.extend({
  category: z.string().nullable().describe('Null for questions without one'),
})

export const releaseQuestions = questionStates
  .extend({
    own_events: count.describe('Their event has no other question'),
    shared_events: count,
    no_events: count.describe('Without an event each is a cluster of its own'),
    categories: z
      .array(categoryQuestions)
      .optional()
      .describe('The same of each category, those without one first'),
  })
  .describe('The questions by their state at `as_of`, and by their events')

export const correction = z.strictObject({
  question_id: publishedUuid,
  column: z.enum(CORRECTED_COLUMNS),
  from: z
    .string()
    .nullable()
    .describe('The value before, an instant as in payloads; of `resolved_at` null if the outcome was `open`'),
  to: z.string().nullable().describe('The value that replaced it'),
  recorded_at: instant.describe('When it was said, as the table of questions or resolutions has it'),
  reason: z.string().nullable().describe('Why, as the operator says'),
  pairs: count.describe(
    'Pairs of an entity and the question that the release before or this one scores, by the forecasts as they are now',
  ),
  entities: count.describe('Entities that have forecast the question'),
})
export type Correction = z.infer<typeof correction>

/** The outcome of a question before and after a release's corrections; both null if only its time changed. */
export interface ReplacedOutcome {
  questionId: string
  from: string | null
  to: string | null
}

export interface TitleChange {
  entityType: EntityType
  entityId: string
  from: Title
  to: Title
}

/** The changes of titles between a release and the one before it. */
export interface TitleChanges {
  /** How many entities have a higher title than in the release before. */
  won: number
  /** How many entities have a lower title. */
  lost: number
  /** Higher titles come first, the highest of all at the front; at most a hundred. */
  first: TitleChange[]
}

/** A change of one column, by a row of a question or of its outcome. */
export type Change = Omit<Correction, 'recorded_at' | 'pairs' | 'entities'> & { recorded_at: Date }

export const undoneImport = z.strictObject({
  table: importKind,
  version: z.number().int().min(1).describe('The version of the table that the import made'),
  rows: count,
  recorded_at: instant.describe('When its last row was recorded'),
  undone_at: instant.describe('From then on its rows count for nothing'),
  reason: z.string().describe('Why, as the operator says'),
})
/** An import that the operator has undone. */
export type UndoneImport = z.infer<typeof undoneImport>

export const erasedPerson = z.strictObject({
  user_id: publishedUuid,
  erased_at: instant.describe('From then on their forecasts count for nothing'),
  reason: z.string().describe('Why, as the operator says'),
})
/** A person whose forecasts the operator has erased. */
export type ErasedPerson = z.infer<typeof erasedPerson>

export const erasure = erasedPerson.extend({
  forecasts: count.describe('Forecasts that are left out, each id once'),
  questions: count.describe('Questions of these that the release before or this one scores'),
  pairs: count.describe(
    'Pairs of an entity and one of these questions, by the forecasts as they are now, whose scores it may have moved',
  ),
})
/** An erasure among the corrections of the first release after it. */
export type Erasure = z.infer<typeof erasure>

/** An unreadable object of the store that an operator has moved aside. */
export const quarantinedObject = z.strictObject({
  key: z.string().describe('Where it was in the store'),
  at: instant.describe('When it was moved aside'),
  reason: z.string().describe('Why, as the operator says'),
  size_bytes: count.nullable().describe('As it was found; null if it was gone'),
  sha256: sha256.nullable().describe('As it was found; null if it was gone'),
  rows: count.nullable().describe('As its own footer says; null if that cannot be read, or if it has none'),
  version: count
    .nullable()
    .describe('The version of its table that was about to take it in and was given up; null if none was'),
  forecast_ids: z
    .array(publishedUuid)
    .optional()
    .describe(
      'Of forecasts that came by the API: their ids, as far as they can be read; damage may have changed them. Absent where none can',
    ),
})
export type QuarantinedObject = z.infer<typeof quarantinedObject>

const root = base64Hash.describe('The root of a Merkle tree of RFC 6962, in Base64')
export const tree = z.strictObject({ root, size: count.describe('How many leaves it has') })
export const payloadTree = tree.extend({
  shards: z.array(root).describe('Those of the subtrees of its shards, in the order of `files`'),
})
/** A tree is null if it would have no leaf. */
export const releaseTrees = z.strictObject({
  agent: payloadTree.nullable().describe('Over the payloads of agents'),
  forecaster: payloadTree.nullable().describe('Over the payloads of forecasters'),
  forecasts: tree
    .nullable()
    .describe('Over the forecasts that came by the API and that no earlier release has in its tree'),
})
export type ReleaseTrees = z.infer<typeof releaseTrees>
export const inputFile = z.strictObject({
  table: z.string(),
  path: z.string(),
  rows: count,
  size_bytes: count,
  sha256,
})
export type InputFile = z.infer<typeof inputFile>
export const publicTableFile = z.strictObject({
  release: z.number().int().min(1).describe('The release that made it'),
  path: z.string().describe('Inside that release'),
  rows: count,
  size_bytes: count,
  sha256,
})
export type PublicTableFile = z.infer<typeof publicTableFile>

/** The versions of the programs that made a release. */
export const engines = z.strictObject({ service: z.string(), duckdb: z.string() })

export const releaseManifest = z.strictObject({
  release: z.number().int().min(1),
  as_of: instant,
  environment: environmentName,
  methodology_version: z.string(),
  voice_rule: voiceRule,
  engines,
  tables: z.record(z.string(), z.number().int().min(-1)).meta({
    description: 'The version of each table that was read; -1 for a table without a commit',
  }),
  counts: releaseCounts,
  questions: releaseQuestions,
  pools: count.describe('Pools with an eligible entity; entities of different pools are not ranked together'),
  next_change_at: instant
    .nullable()
    .describe(
      'When a question settles, an outcome becomes known or an agent retires, without any new row; null if nothing will',
    ),
  corrections: z
    .array(correction)
    .describe(
      'Each change, said since the release before, of a question or of its outcome after its first forecast, also ' +
        'where a later one undid it, by question_id and in the order in which they were said',
    ),
  undone_imports: z
    .array(undoneImport)
    .optional()
    .describe(
      'All imports that had been undone when the release was planned, by table and version: it reads none of ' +
        'their rows; absent where there is none',
    ),
  erased_people: z
    .array(erasedPerson)
    .optional()
    .describe(
      'All people whose forecasts had been erased when the release was planned, by user_id: it reads no row of ' +
        'theirs; absent where there is none',
    ),
  erasures: z
    .array(erasure)
    .optional()
    .describe(
      'Those of `erased_people` whom the release before does not have, with what their erasure corrects; absent ' +
        'where there is none',
    ),
  quarantined: z
    .array(quarantinedObject)
    .describe('All objects that had been moved aside when the release was planned, by key'),
  files: z.array(manifestFile),
  trees: releaseTrees.describe('What the release commits to, each leaf by its hash'),
  inputs: z
    .array(inputFile)
    .describe(
      'The data files of the tables that no earlier release names, by table and in the order of its log',
    ),
  public: z
    .array(publicTableFile)
    .describe(
      'The files of the public tables as of this release, by path; a file that is as the release before names it is not written again',
    ),
  snapshot_sha256: sha256
    .nullable()
    .describe(
      'Of the manifest of the snapshot that the release brings; null where an earlier release has brought its day’s',
    ),
})
export type ManifestFile = z.infer<typeof manifestFile>
export type ReleaseManifest = z.infer<typeof releaseManifest>

export const snapshotManifest = z.strictObject({
  date: day,
  release: z.number().int().min(1),
  files: z.array(manifestFile),
})
export type SnapshotManifest = z.infer<typeof snapshotManifest>
