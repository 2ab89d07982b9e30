// All routes of the service, in the order of the OpenAPI document.
import type { Route } from '../route.ts'
import { register } from './agents.ts'
import { documentation } from './docs.ts'
import { submitForecast } from './forecasts.ts'
import { methodology, methodologyDocument } from './methodology.ts'
import { publications } from './publications.ts'
import { getQuestion, listQuestions } from './questions.ts'
import { livez, metrics, readyz } from './service.ts'
import { snapshots } from './snapshots.ts'
import { bulk } from './verification.ts'

export interface Documents {
  /** The version of the service, for the OpenAPI document. */
  version: string
  /** docs/methodology.md, as the service publishes it. */
  methodology: Uint8Array
}

export function allRoutes({ version, methodology: text }: Documents): Route[] {
  const routes: Route[] = [
    register,
    submitForecast,
    ...publications,
    bulk,
    snapshots,
    methodology,
    methodologyDocument(text),
    listQuestions,
    getQuestion,
    livez,
    readyz,
    metrics,
  ]
  return [...routes, ...documentation(routes, version)]
}
