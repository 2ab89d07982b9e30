// The parts that the calls of one environment use, built from its components and settings.
import { randomBytes } from 'node:crypto'
import { Categories } from '../../api/published/categories.ts'
import { Boards } from '../../api/published/boards.ts'
import { ReleaseFiles } from '../../api/published/release-files.ts'
import { References } from '../../api/published/references.ts'
import { Comparisons } from '../../api/published/comparisons.ts'
import { CurrentRelease } from '../../api/published/current-release.ts'
import { ForecastProofs } from '../../api/published/forecast-proofs.ts'
import { History } from '../../api/published/history.ts'
import { Leaderboard } from '../../api/published/leaderboard.ts'
import { Callers } from '../../api/limits/callers.ts'
import type { Counters } from '../../api/limits/counters.ts'
import { Limits } from '../../api/limits/limits.ts'
import type { About } from '../../api/about.ts'
import type { Site } from '../../api/pages/site.ts'
import type { Metrics } from '../../api/http/metrics.ts'
import { wholeTables } from '../../api/published/worked-out.ts'
import { RenderedPages } from '../../api/published/rendered.ts'
import { Credentials } from '../../api/published/credentials.ts'
import { OwnerSearch } from '../../api/published/owner-search.ts'
import { QuestionSummaries } from '../../api/published/question-summaries.ts'
import { PayloadProofs } from '../../api/published/payload-proofs.ts'
import { PublicData } from '../../api/published/public-data.ts'
import { PublicLog } from '../../api/published/public-log.ts'
import { OperatorCalls } from '../../api/operator/operator-calls.ts'
import { QuestionBook } from '../../api/questions/book.ts'
import { Reports } from '../../api/published/reports.ts'
import { ReleaseRecords } from '../../api/published/release-records.ts'
import { keptTitleChanges } from '../../api/published/titles.ts'
import { Scores } from '../../api/published/scores.ts'
import type { SignAnswer } from '../../api/published/signature.ts'
import { ForecastHistory } from '../../api/current-forecasts/forecast-history.ts'
import { CurrentForecasts } from '../../api/current-forecasts/current-forecasts.ts'
import { Idempotency } from '../../pipeline/access/idempotency.ts'
import { ForecastIds } from '../../pipeline/access/forecast-ids.ts'
import { UsageLog } from '../../pipeline/access/usage.ts'
import { Feed } from '../../pipeline/feed/feed.ts'
import { signatureOf } from '../../pipeline/proof/hmac.ts'
import { verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { PeopleNames } from '../../pipeline/people/names.ts'
import { answersOn } from '../../pipeline/release/answers.ts'
import { readRationales } from '../../pipeline/release/rationales.ts'
import { compareEntities, unscoredQuestions } from '../../pipeline/release/said-by.ts'
import { releasedVersions } from '../../pipeline/release/state.ts'
import type { OneByOne } from '../../pipeline/store/store.ts'
import { GroupCommit, type GroupCommitComponents } from '../../pipeline/tables/group-commit.ts'
import { Receipts } from '../../pipeline/tables/receipts.ts'
import type { Settings } from '../../schemas/config.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { ForecastRow, TableName } from '../../schemas/tables.ts'
import type { Components } from '../components/components.ts'
import { Health } from './health.ts'
import type { Asker } from '../../api/turns.ts'

/** The components that all environments of a serving process share. */
export interface Serving {
  metrics: Metrics
  /** Counters of quotas, which are promised to callers. */
  quotas: Counters
  /** Whether this process also makes releases. */
  scheduler: boolean
  /** The pause before the first reading of questions, in which the process answers its first calls. */
  firstCallsMs: number
  /** False once the process is shutting down. */
  accepting: () => boolean
  /** Whether the sandbox that the process serves has a release. */
  isSandboxSeeded: () => boolean
}

export type ApiParts = ReturnType<typeof buildApiParts>

export function buildApiParts(components: Components, serving: Serving) {
  const published = buildPublished(components, serving)
  return {
    ...buildIntake(components, serving, published.releases),
    ...published,
    ...buildNode(components, serving),
  }
}

function buildIntake(components: Components, { metrics }: Serving, releases: CurrentRelease) {
  const { settings, own, store, local, registry, openDatabase, now, newId, signers } = components
  // A registration writes up to three objects and waits for a group commit, which may itself wait for the one
  // before.
  const leaseMs = 4 * settings.STORE_TIMEOUT_MS + 2 * settings.COMMIT_TIMEOUT_MS
  const undone = () => releases.current?.undone_imports ?? []
  const questions = new QuestionBook({ store, local, openDatabase, now, undone })
  const currentForecasts = new CurrentForecasts({ store, local, openDatabase, questions, now })
  const receipts = new Receipts(signers, newId)
  // Only forecasts use it, because a registration writes the record of its key besides its row.
  const inbox = store.oneByOne?.()
  const forecasts = groupCommit('forecasts', { ...components, store: inbox ?? store }, metrics, {
    receiptsOf: (rows, id) => receipts.ofBatch(rows as readonly ForecastRow[], id),
    onCommit: ({ path, rows }) => {
      currentForecasts.wrote(path, rows as readonly ForecastRow[])
    },
  })
  return {
    registry,
    idempotency: new Idempotency({ store, newId, now, randomBytes, leaseMs }),
    registrations: groupCommit('agents', components, metrics),
    rationales: groupCommit('rationales', components, metrics),
    mayRegister: own.REGISTRATION,
    store,
    randomBytes,
    forecasts,
    operator: new OperatorCalls({
      ...components,
      forecastIds: new ForecastIds(store, randomBytes),
      releasedVersions: () => releasedVersions(components),
      submit: (...rows) => forecasts.submit(...rows),
      receipts,
      witnessMinutes: components.methodology.parameters.witness_minutes,
    }),
    inbox,
    receipts,
    questions,
    currentForecasts,
    forecastHistory: new ForecastHistory({ store, local, openDatabase }),
  }
}

function buildPublished(components: Components, { isSandboxSeeded }: Serving) {
  const { environment, settings, own, store, now, monotonicMs, secrets, signers, witnesses } = components
  const files = new ReleaseFiles({ store, monotonicMs }, settings.SHARD_CACHE_BYTES)
  const sign: SignAnswer = (bytes) => secrets && signatureOf(bytes, secrets)
  const publicLog = new PublicLog(
    store,
    signers.map(({ verifier }) => verifierKeyText(verifier)),
    witnesses.map(({ key }) => key),
  )
  const site: Site = {
    environment,
    publicUrl: settings.PUBLIC_URL,
    about: aboutOf(settings),
    logKeys: publicLog.vkeys,
  }
  const people = new PeopleNames(store)
  const boards = new Boards(files, people)
  const references = new References(files)
  const scores = new Scores(store, files)
  const warmed = {
    history: new History(store, settings.SHARD_CACHE_BYTES),
    pages: new RenderedPages(people),
  }
  return {
    ...warmed,
    files,
    leaderboard: new Leaderboard(files, boards, references),
    scores,
    people,
    releases: new CurrentRelease({ store, monotonicMs, files, sign, warmed: Object.values(warmed) }),
    reports: new Reports({
      scores,
      unscored: (...asked) => unscoredQuestions(components, ...asked),
      rules: components.methodology.parameters,
    }),
    comparisons: new Comparisons((manifest, two) => compareEntities(components, manifest, two)),
    titleChanges: keptTitleChanges(components),
    categories: new Categories(files, boards, references),
    references,
    owners: new OwnerSearch(files),
    summaries: new QuestionSummaries(files),
    records: new ReleaseRecords(store, site),
    feed: new Feed(store, now),
    answersOn: (manifest: ReleaseManifest, questionId: string, asker: Asker) =>
      answersOn(components, manifest, questionId, wholeTables.inParts(asker)),
    rationalesOn: (questionId: string) => readRationales(store, questionId),
    sign,
    publicLog,
    publicData: new PublicData({
      store,
      files,
      publicLog,
      history: warmed.history,
      what: own.PUBLIC_DATA,
    }),
    credentials: new Credentials(store),
    payloadProofs: new PayloadProofs(files, publicLog),
    forecastProofs: new ForecastProofs(store, files, publicLog),
    site,
    isSandboxSeeded,
  }
}

function aboutOf(settings: Settings): About {
  return {
    serviceName: settings.SERVICE_NAME,
    operatorName: settings.OPERATOR_NAME,
    contactUrl: settings.CONTACT_URL,
    imprintUrl: settings.IMPRINT_URL,
    privacyUrl: settings.PRIVACY_URL,
    dataLicenceUrl: settings.DATA_LICENCE_URL,
  }
}

function buildNode(components: Components, { metrics, quotas, accepting }: Serving) {
  const { environment, settings, own, store, registry, clockAheadMs, logger, now, newId, monotonicMs } =
    components
  return {
    callers: new Callers(registry, settings.KEY_CACHE_MS, now),
    limits: new Limits({ environment, settings: own, quotas, now, monotonicMs }),
    usage: new UsageLog({ store, newId, now }),
    health: new Health({
      environment,
      store,
      now,
      logger,
      id: newId(),
      timeoutMs: settings.COMMIT_TIMEOUT_MS,
      clockAheadMs,
    }),
    metrics,
    now,
    accepting,
  }
}

function groupCommit(
  table: TableName,
  {
    environment,
    settings,
    store,
    newId,
    monotonicMs,
  }: Pick<Components, 'environment' | 'settings' | 'newId' | 'monotonicMs'> & {
    store: Pick<OneByOne, 'putIfAbsent'>
  },
  { commitRows, commitSeconds }: Metrics,
  { onCommit, ...own }: Pick<GroupCommitComponents, 'receiptsOf' | 'onCommit'> = {},
): GroupCommit {
  const limits = { queueLimit: settings.COMMIT_QUEUE_LIMIT, timeoutMs: settings.COMMIT_TIMEOUT_MS }
  return new GroupCommit(table, limits, {
    store,
    newId,
    monotonicMs,
    ...own,
    onCommit: (written) => {
      const { rows, durationMs } = written
      commitRows.observe({ environment }, rows.length)
      commitSeconds.observe({ environment }, durationMs / 1000)
      onCommit?.(written)
    },
  })
}
