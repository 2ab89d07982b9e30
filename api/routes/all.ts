// All routes of the service, in the order of the OpenAPI document.
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import type { Route } from '../http/route.ts'
import { register } from './agents.ts'
import { credentials } from './credentials.ts'
import { badges } from './badges.ts'
import { answerTables } from './answer-tables.ts'
import { boardTables } from './board-tables.ts'
import { questionTables } from './question-tables.ts'
import { cards } from './cards.ts'
import { checkPage } from './check-page.ts'
import { documentation } from './docs.ts'
import { modelContextProtocol } from './mcp.ts'
import { dataFile, dataIndex, dataViews } from './data.ts'
import { readFeed } from './feed.ts'
import { submitForecast, submitForecasts, withdrawForecast } from './forecasts.ts'
import { renameAgent, retire, revokeKey, rotateKey, unretire, usage } from './keys.ts'
import { leaderboard } from './leaderboard.ts'
import { llms } from './llms.ts'
import { methodologyDocument, methodologyVersion } from './methodology.ts'
import { operatorCalls } from './operator.ts'
import { operatorAgenda } from './operator-agenda.ts'
import { owner } from './owners.ts'
import { people } from './people.ts'
import { pageFiles } from './page-files.ts'
import { pages } from './pages.ts'
import { profilePages } from './profile-pages.ts'
import { problemType, problemTypes } from './problems.ts'
import { jsonSchema } from './schemas.ts'
import { logCheckpoint, logKeys, logTile } from './public-log.ts'
import { forecastProof, proofs } from './proofs.ts'
import { publications } from './publications.ts'
import { comparePageRoute } from './compare-page.ts'
import { compareTwo } from './compare.ts'
import { claimOwner, getOwnerClaim, giveUpOwner } from './owner-claims.ts'
import { reportRoutes } from './report.ts'
import { getQuestion, listQuestions, listRationales } from './questions.ts'
import { currentRelease, numberedRelease, releaseFeed } from './releases.ts'
import { livez, metrics, readyz } from './service.ts'
import { releasePages } from './release-pages.ts'
import { scores } from './scores.ts'
import { searchRoute } from './search.ts'
import { snapshots } from './snapshots.ts'
import { listCurrentForecasts } from './current-forecasts.ts'
import { bulk } from './verification.ts'

export interface Documents {
  /** The version of the service, for the OpenAPI document. */
  version: string
  /** The method in force. */
  methodology: Methodology
  /** docs/methodology.md, as the service publishes it. */
  methodologyText: Uint8Array
}

export function allRoutes({ version, methodology, methodologyText }: Documents): Route[] {
  const routes: Route[] = [
    register,
    submitForecast,
    submitForecasts,
    withdrawForecast,
    claimOwner,
    getOwnerClaim,
    giveUpOwner,
    listCurrentForecasts,
    renameAgent,
    rotateKey,
    revokeKey,
    retire,
    unretire,
    ...operatorCalls,
    ...operatorAgenda,
    ...publications,
    ...scores,
    bulk,
    usage,
    snapshots,
    leaderboard,
    people,
    owner,
    currentRelease,
    numberedRelease,
    releaseFeed,
    readFeed,
    ...proofs,
    forecastProof,
    logCheckpoint,
    logTile,
    logKeys,
    dataIndex,
    dataViews,
    dataFile,
    methodologyVersion(methodology),
    methodologyDocument(methodologyText),
    compareTwo,
    listQuestions,
    getQuestion,
    listRationales,
    problemTypes,
    problemType,
    jsonSchema,
    llms,
    livez,
    readyz,
    metrics,
    ...pages(methodology, methodologyText),
    ...profilePages(methodology),
    ...releasePages,
    checkPage,
    comparePageRoute,
    searchRoute(methodology.parameters.eligible_questions),
    ...reportRoutes(methodology),
    ...badges(methodology),
    ...cards(methodology),
    ...credentials(methodology),
    ...pageFiles,
    ...boardTables,
    ...questionTables,
    ...answerTables,
  ]
  return [...routes, modelContextProtocol(routes, version), ...documentation(routes, version)]
}
