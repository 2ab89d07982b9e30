// All routes of the service, in the order of the OpenAPI document.
import type { Methodology } from '../../pipeline/scoring/methodology.ts'
import type { Route } from '../http/route.ts'
import { agentCalls } from './agent-calls.ts'
import { aboutService } from './about-service.ts'
import { compareTwo } from './compare.ts'
import { documentation } from './docs.ts'
import { evidence } from './evidence.ts'
import { modelContextProtocol } from './mcp.ts'
import { methodologyDocument, methodologyVersion } from './methodology.ts'
import { operatorAgenda } from './operator-agenda.ts'
import { operatorCalls } from './operator.ts'
import { pageFiles } from './page-files.ts'
import { pages } from './pages.ts'
import { getEvent, getQuestion, listQuestions, listRationales } from './questions.ts'
import { records } from './records.ts'
import { reportRoutes } from './report.ts'
import { shownElsewhere } from './shown-elsewhere.ts'
import { tables } from './tables.ts'

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
    ...agentCalls,
    ...operatorCalls,
    ...operatorAgenda,
    ...records,
    ...evidence,
    methodologyVersion(methodology),
    methodologyDocument(methodologyText),
    compareTwo,
    listQuestions,
    getQuestion,
    getEvent,
    listRationales,
    ...aboutService,
    ...pages(methodology, methodologyText),
    ...reportRoutes(methodology),
    ...shownElsewhere(methodology),
    ...pageFiles,
    ...tables,
  ]
  return [...routes, modelContextProtocol(routes, version), ...documentation(routes, version)]
}
