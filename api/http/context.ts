// The three parts that the routes of one environment work with: they are passed in, so that tests can pass
// their own.
import type { Idempotency } from '../../pipeline/access/idempotency.ts'
import type { RandomBytes } from '../../pipeline/access/api-key.ts'
import type { Registry } from '../../pipeline/access/registry.ts'
import type { UsageLog } from '../../pipeline/access/usage.ts'
import type { Feed } from '../../pipeline/feed/feed.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { Receipts } from '../../pipeline/tables/receipts.ts'
import type { Check, Checks, QuestionRationales } from '../../schemas/answers.ts'
import type { OwnSettings } from '../../schemas/config.ts'
import type { AgentRow, ForecastRow, RationaleRow } from '../../schemas/tables.ts'
import type { Callers } from '../limits/callers.ts'
import type { EntityAnswer } from '../../pipeline/release/answers.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { References } from '../published/references.ts'
import type { Categories } from '../published/categories.ts'
import type { Credentials } from '../published/credentials.ts'
import type { Reports } from '../published/reports.ts'
import type { Comparisons } from '../published/comparisons.ts'
import type { ForecastProofs } from '../published/forecast-proofs.ts'
import type { History } from '../published/history.ts'
import type { Leaderboard } from '../published/leaderboard.ts'
import type { Limits } from '../limits/limits.ts'
import type { Metrics } from './metrics.ts'
import type { ReleaseFiles } from '../published/release-files.ts'
import type { CurrentRelease } from '../published/current-release.ts'
import type { RenderedAnswers } from '../published/rendered.ts'
import type { Site } from '../pages/site.ts'
import type { People } from '../published/people.ts'
import type { OwnerSearch } from '../published/owner-search.ts'
import type { QuestionSummaries } from '../published/question-summaries.ts'
import type { PayloadProofs } from '../published/payload-proofs.ts'
import type { PublicData } from '../published/public-data.ts'
import type { PublicLog } from '../published/public-log.ts'
import type { QuestionBook } from '../questions/book.ts'
import type { ReleaseRecords } from '../published/release-records.ts'
import type { Scores } from '../published/scores.ts'
import type { keptTitleChanges } from '../published/titles.ts'
import type { SignAnswer } from '../published/signature.ts'
import type { OperatorCalls } from '../operator/operator-calls.ts'
import type { ForecastHistory } from '../current-forecasts/forecast-history.ts'
import type { CurrentForecasts } from '../current-forecasts/current-forecasts.ts'
import type { Asker } from '../turns.ts'

/** The parts that take in registrations and forecasts. */
export interface Intake {
  registry: Registry
  idempotency: Idempotency
  registrations: { submit: (row: AgentRow) => Promise<unknown> }
  /** Who may register. */
  mayRegister: OwnSettings['REGISTRATION']
  /** Holds the records of invitations, names that wait and claimed domains. */
  store: Store
  randomBytes: RandomBytes
  /** Resolves once all rows are durable, with their receipts. */
  forecasts: { submit: (...rows: ForecastRow[]) => Promise<readonly string[]> }
  /** Resolves once all rows are durable. */
  rationales: { submit: (...rows: RationaleRow[]) => Promise<unknown> }
  receipts: Pick<Receipts, 'ofRepeated'>
  operator: OperatorCalls
  questions: QuestionBook
  /**
   * Waits until the questions have been read for the first time. Resolves to false if that takes too long.
   */
  questionsRead: () => Promise<boolean>
  forecastHistory: Pick<ForecastHistory, 'page'>
  currentForecasts: Pick<CurrentForecasts, 'page' | 'agentsOn' | 'has' | 'instantOf'>
  /** As `catchUp`, for the current forecasts. @throws ServiceError `unavailable` if that takes longer. */
  catchUpForecasts: () => Promise<void>
}

/** The parts that answer from a release and from the public log. */
export interface Published {
  /** Handlers answer from the release that they are given (one-release.ts), which may be an earlier one. */
  current: CurrentRelease
  files: ReleaseFiles
  history: History
  leaderboard: Leaderboard
  people: People
  categories: Categories
  references: References
  owners: Pick<OwnerSearch, 'found'>
  summaries: Pick<QuestionSummaries, 'find'>
  scores: Scores
  comparisons: Pick<Comparisons, 'of'>
  reports: Pick<Reports, 'of'>
  /** Whose title a release changed; undefined where its files or those of the one before it are deleted. */
  titleChanges: ReturnType<typeof keptTitleChanges>
  records: ReleaseRecords
  feed: Pick<Feed, 'after'>
  /** Yields the answers of everyone to a settled question of a release, some at a time. */
  answersOn: (manifest: ReleaseManifest, questionId: string, asker: Asker) => AsyncGenerator<EntityAnswer[]>
  /** Why agents forecast as they did on a question; nothing before its outcome is known. */
  rationalesOn: (questionId: string) => Promise<QuestionRationales>
  sign: SignAnswer
  publicLog: PublicLog
  publicData: Pick<PublicData, 'find' | 'read'>
  payloadProofs: PayloadProofs
  credentials: Pick<Credentials, 'find' | 'of' | 'statusList' | 'issuer'>
  forecastProofs: ForecastProofs
  /** The name, address and environment that all pages show. */
  site: Site
  rendered: RenderedAnswers
  /** Whether the sandbox of this service has a release, so that there is something to try. */
  isSandboxSeeded: () => boolean
  /** When the next release is due; undefined if this node does not know. */
  nextReleaseAt: () => Date | undefined
  /** The same for pages; undefined too if this service makes no releases by itself. */
  promisedReleaseAt: () => Date | undefined
  /** Updates what this node knows, if nobody has asked it for anything lately. */
  catchUp: () => Promise<unknown>
}

/** The node itself: its callers, its limits and its health. */
export interface Node {
  callers: Callers
  limits: Limits
  usage: Pick<UsageLog, 'count'>
  /** The results of this node's last look at its store. */
  health: { readonly checks: Checks; readonly clock: Check }
  metrics: Metrics
  now: () => Date
  /** False once the service is shutting down. */
  accepting: () => boolean
}

export interface ApiContext extends Intake, Published, Node {}
