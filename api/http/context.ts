// What the routes of one environment work with. It is passed in, so that tests can pass their own.
import type { Idempotency } from '../../pipeline/access/idempotency.ts'
import type { Registry } from '../../pipeline/access/registry.ts'
import type { UsageLog } from '../../pipeline/access/usage.ts'
import type { Receipts } from '../../pipeline/tables/receipts.ts'
import type { Check, Checks } from '../../schemas/answers.ts'
import type { AgentRow, ForecastRow } from '../../schemas/tables.ts'
import type { Callers } from '../limits/callers.ts'
import type { ForecastProofs } from '../published/forecast-proofs.ts'
import type { History } from '../published/history.ts'
import type { Leaderboard } from '../published/leaderboard.ts'
import type { Limits } from '../limits/limits.ts'
import type { Metrics } from './metrics.ts'
import type { CurrentRelease } from '../published/current-release.ts'
import type { Release } from '../published/release-payloads.ts'
import type { RenderedPages } from '../published/rendered.ts'
import type { Site } from '../pages/site.ts'
import type { PayloadProofs } from '../published/payload-proofs.ts'
import type { PublicLog } from '../published/public-log.ts'
import type { QuestionBook } from '../questions/book.ts'
import type { ReleaseRecords } from '../published/release-records.ts'
import type { Scores } from '../published/scores.ts'
import type { SignAnswer } from '../published/signature.ts'
import type { CurrentForecasts } from '../current-forecasts/current-forecasts.ts'

export interface ApiContext {
  registry: Registry
  idempotency: Idempotency
  callers: Callers
  limits: Limits
  usage: Pick<UsageLog, 'count'>
  questions: QuestionBook
  currentForecasts: Pick<CurrentForecasts, 'page' | 'agentsOn'>
  releases: Release
  history: History
  leaderboard: Leaderboard
  scores: Scores
  records: ReleaseRecords
  sign: SignAnswer
  publicLog: PublicLog
  payloadProofs: PayloadProofs
  forecastProofs: ForecastProofs
  /** Whether the sandbox beside has a release, so that there is something to try. */
  isSandboxSeeded: () => boolean
  /** What the pages of the environment have in common. */
  site: Site
  pages: RenderedPages
  /** Resolves once all of the rows are durable, with the receipts for them. */
  forecasts: { submit: (...rows: ForecastRow[]) => Promise<readonly string[]> }
  receipts: Pick<Receipts, 'ofRepeated'>
  registrations: { submit: (row: AgentRow) => Promise<unknown> }
  /** What this node found when it last tried its store. */
  health: { readonly checks: Checks; readonly clock: Check }
  metrics: Metrics
  now: () => Date
  /** Brings up to date what this node knows, if nobody has asked it for anything lately. */
  catchUp: () => Promise<unknown>
  /** Whether `catchUp` has nothing to wait for. */
  isFollowing: () => boolean
  /** Waits until the questions have been read for the first time. False if that takes longer. */
  questionsRead: () => Promise<boolean>
  /** As `catchUp`, for the forecasts that stand. False if that takes longer. */
  catchUpForecasts: () => Promise<boolean>
  /** When the next release is due; undefined if this node does not know. */
  nextReleaseAt: () => Date | undefined
  /** False once the service is shutting down. */
  accepting: () => boolean
}

/**
 * What a node serves an environment with, of which each call gets what is of one release (one-release.ts).
 */
export interface NodeContext extends ApiContext {
  releases: CurrentRelease
}
