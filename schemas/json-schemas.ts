// The JSON Schemas (draft 2020-12) of everything that callers send or receive, by the names of their files.
import { z } from 'zod'
import * as answers from './answers.ts'
import * as workedOut from './worked-out.ts'
import * as feed from './feed.ts'
import * as metrics from './metrics.ts'
import * as manifests from './manifests.ts'
import * as outcomes from './outcomes.ts'
import * as payloads from './payloads.ts'
import * as references from './references.ts'
import * as requests from './requests.ts'
import { sha256 } from './values.ts'

/** A document as the store holds it. */
const sealed = (schema: z.ZodObject) =>
  schema.extend({
    checksum: sha256.describe('SHA-256 of the path, a line feed and the canonical JSON of all other fields'),
  })

/** Files of the store that no call returns, such as files of a release. */
export const STORED_FILES = {
  'release-shard': payloads.releaseShard,
  'owner-shard': payloads.ownerShard,
  'leaderboard-file': payloads.leaderboardFile,
  'categories-file': payloads.categoriesFile,
  'category-board-file': payloads.categoryBoardFile,
  'references-file': references.referencesFile,
  'questions-file': payloads.questionsFile,
  'method-file': payloads.methodFile,
  'row-groups-file': payloads.rowGroupsFile,
  'release-manifest': sealed(manifests.releaseManifest),
  'snapshot-shard': payloads.snapshotShard,
  'snapshot-manifest': sealed(manifests.snapshotManifest),
} satisfies Record<string, z.ZodType>

export const RESPONSES = {
  'agent-verification': payloads.agentVerification,
  'forecaster-verification': payloads.forecasterVerification,
  'agent-metrics': payloads.agentMetrics,
  'forecaster-metrics': payloads.forecasterMetrics,
  'agent-rankings': payloads.agentRankings,
  'forecaster-rankings': payloads.forecasterRankings,
  'agent-advanced-metrics': payloads.agentAdvancedMetrics,
  'forecaster-advanced-metrics': payloads.forecasterAdvancedMetrics,
  'agent-profile': payloads.agentProfile,
  'forecaster-profile': payloads.forecasterProfile,
  owner: payloads.owner,
  'leaderboard-page': answers.leaderboardPage,
  'category-board-page': answers.categoryBoardPage,
  'any-board-page': answers.anyBoardPage,
  'people-names': answers.peopleNames,
  'agent-scores': answers.agentScores,
  'forecaster-scores': answers.forecasterScores,
  'snapshot-history': answers.snapshotHistory,
  'published-release': answers.publishedRelease,
  'current-release': answers.currentRelease,
  'data-index': answers.dataIndex,
  registered: answers.registered,
  'rotated-key': answers.rotatedKey,
  'renamed-agent': answers.renamedAgent,
  'retired-agent': answers.retiredAgent,
  'unretired-agent': answers.unretiredAgent,
  'key-usage': answers.keyUsage,
  'acknowledged-forecast': answers.acknowledgedForecast,
  'forecast-results': answers.forecastResults,
  'event-forecast': answers.eventForecast,
  'question-event': answers.questionEvent,
  event: answers.event,
  'current-forecasts': answers.currentForecasts,
  'bulk-results': answers.bulkResults,
  'rows-taken': answers.rowsTaken,
  'forecasts-taken': answers.forecastsTaken,
  'agent-stated': answers.agentStated,
  preview: answers.preview,
  agenda: answers.agenda,
  question: answers.question,
  'question-page': answers.questionPage,
  'owner-claim': answers.ownerClaim,
  'agent-report': workedOut.agentReport,
  'question-rationales': answers.questionRationales,
  'side-by-side': workedOut.sideBySide,
  'methodology-version': answers.methodologyVersion,
  'feed-page': feed.feedPage,
  readiness: answers.readiness,
  'badge-text': answers.badgeText,
  problem: answers.problem,
} satisfies Record<string, z.ZodType>

/** The schemas shared by several others, by their names in the OpenAPI document. */
export const PARTS = {
  environment: payloads.environmentName,
  'entity-type': payloads.entityType,
  title: payloads.title,
  'voice-rule': payloads.voiceRule,
  'skill-interval': metrics.skillInterval,
  'board-interval': metrics.boardInterval,
  'recent-skill': metrics.recentSkill,
  'rank-interval': metrics.rankInterval,
  'calibration-bin': metrics.calibrationBin,
  'recalibration-block': metrics.recalibrationBlock,
  decomposition: metrics.decomposition,
  'agent-entry': payloads.agentEntry,
  'forecaster-entry': payloads.forecasterEntry,
  'agent-category-entry': payloads.agentCategoryEntry,
  'forecaster-category-entry': payloads.forecasterCategoryEntry,
  'question-score': answers.questionScore,
  'agent-snapshot': payloads.agentSnapshot,
  'forecaster-snapshot': payloads.forecasterSnapshot,
  'owned-agent': payloads.ownedAgent,
  'data-file': answers.dataFile,
  'public-data': answers.publicDataSetting,
  'manifest-file': manifests.manifestFile,
  tree: manifests.tree,
  'payload-tree': manifests.payloadTree,
  'release-trees': manifests.releaseTrees,
  'input-file': manifests.inputFile,
  'release-counts': manifests.releaseCounts,
  'release-questions': manifests.releaseQuestions,
  'category-questions': manifests.categoryQuestions,
  'reference-row': references.referenceRow,
  'reference-name': references.referenceName,
  'release-engines': manifests.engines,
  'undone-import': manifests.undoneImport,
  'erased-person': manifests.erasedPerson,
  erasure: manifests.erasure,
  'public-table-file': manifests.publicTableFile,
  correction: manifests.correction,
  'quarantined-object': manifests.quarantinedObject,
  'question-status': outcomes.questionStatus,
  'stated-outcome': outcomes.statedOutcome,
  'question-outcome': outcomes.questionOutcome,
  'scored-outcome': outcomes.scoredOutcome,
  'event-kind': outcomes.eventKind,
  'import-kind': outcomes.importKind,
  'unit-joint': outcomes.unitJoint,
  tier: answers.tier,
  'listed-question': answers.questionInList,
  'agenda-list': answers.agendaList,
  'agenda-question': answers.agendaQuestion,
  'taken-forecast': answers.takenForecast,
  'made-void': answers.madeVoid,
  'rows-previewed': answers.rowsPreviewed,
  'corrected-outcome': answers.correctedOutcome,
  'feed-event': feed.feedEvent,
  'question-opened-event': feed.FEED_EVENTS['question.opened'],
  'question-changed-event': feed.FEED_EVENTS['question.changed'],
  'question-removed-event': feed.FEED_EVENTS['question.removed'],
  'question-closed-event': feed.FEED_EVENTS['question.closed'],
  'question-resolved-event': feed.FEED_EVENTS['question.resolved'],
  'question-corrected-event': feed.FEED_EVENTS['question.corrected'],
  'release-published-event': feed.FEED_EVENTS['release.published'],
  'certification-changed-event': feed.FEED_EVENTS['certification.changed'],
  'accepted-forecast': answers.acceptedForecast,
  'refused-forecast': answers.refusedForecast,
  'current-forecast': answers.currentForecast,
  'published-rationale': answers.publishedRationale,
  'owner-claim-state': answers.ownerClaimState,
  'reported-question': workedOut.reportedQuestion,
  'reported-reason': workedOut.reportedReason,
  'next-title': workedOut.nextTitle,
  'compared-entity': workedOut.comparedEntity,
  'compared-question': workedOut.comparedQuestion,
  'acknowledged-withdrawal': answers.acknowledgedWithdrawal,
  'found-verification': answers.foundVerification,
  'missing-verification': answers.missingVerification,
  check: answers.check,
  checks: answers.checks,
  fault: answers.fault,
  'problem-type': answers.problemType,
} satisfies Record<string, z.ZodType>

export const REQUESTS = {
  registration: requests.registration,
  renaming: requests.renaming,
  owning: requests.owning,
  'forecast-submission': requests.forecastSubmission,
  'forecast-submissions': requests.forecastSubmissions,
  'event-submission': requests.eventSubmission,
  'operator-questions': requests.operatorQuestions,
  'operator-events': requests.operatorEvents,
  'operator-resolutions': requests.operatorResolutions,
  'operator-prices': requests.operatorPrices,
  'event-outcome': requests.eventOutcome,
  'operator-forecasters': requests.operatorForecasters,
  'operator-forecasts': requests.operatorForecasts,
  'operator-preview': requests.operatorPreview,
  'agent-statement': requests.agentStatement,
  'bulk-verification': requests.bulkVerification,
} satisfies Record<string, z.ZodType>

/** The schemas shared by several requests, by their names in the OpenAPI document. */
export const REQUEST_PARTS = {
  'forecast-or-withdrawal': requests.submissionOrWithdrawal,
  'question-row': requests.questionRow,
  'event-row': requests.eventRow,
  'resolution-row': requests.resolutionRow,
  'price-row': requests.priceRow,
  'forecaster-row': requests.forecasterRow,
  'forecast-row': requests.forecastRow,
} satisfies Record<string, z.ZodType>

export type SchemaName = keyof typeof STORED_FILES | keyof typeof RESPONSES | keyof typeof REQUESTS

/** Returns the text of each JSON Schema. It is the same at every call. */
export function schemaTexts(): Map<SchemaName, string> {
  const texts = new Map<SchemaName, string>()
  const add = (name: SchemaName, schema: z.ZodType, io: 'input' | 'output') => {
    const { $schema, ...rules } = z.toJSONSchema(schema, { io })
    texts.set(name, `${JSON.stringify({ $schema, title: name, ...rules }, null, 2)}\n`)
  }
  for (const [name, schema] of Object.entries({ ...STORED_FILES, ...RESPONSES }))
    add(name as SchemaName, schema, 'output')
  for (const [name, schema] of Object.entries(REQUESTS)) add(name as SchemaName, schema, 'input')
  return texts
}
