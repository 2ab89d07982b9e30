// Prints the part of the OpenAPI document that the clients have types of: the schemas of what they send and
// read, and those that these name.
import { openApiDocument } from '../api/openapi/document.ts'
import { allRoutes } from '../api/routes/all.ts'
import { METHODOLOGY } from '../pipeline/scoring/methodology.ts'

const ROOTS = [
  'Registration',
  'Registered',
  'QuestionPage',
  'ForecastOrWithdrawal',
  'ForecastResults',
  'EventForecast',
  'AcknowledgedForecast',
  'AcknowledgedWithdrawal',
  'CurrentForecasts',
  'AgentScores',
  'AgentVerification',
  'AgentMetrics',
  'AgentRankings',
  'AgentAdvancedMetrics',
  'FeedPage',
  'Problem',
]

/** Returns a document without calls, whose schemas are these and all that they name. */
function documentOfClients(): object {
  const routes = allRoutes({ version: '', methodology: METHODOLOGY, methodologyText: new Uint8Array() })
  const { openapi, info, components } = JSON.parse(JSON.stringify(openApiDocument(routes, ''))) as {
    openapi: string
    info: object
    components: { schemas: Record<string, object> }
  }
  const names = new Set(ROOTS)
  for (const name of names) {
    const text = JSON.stringify(components.schemas[name])
    for (const [, named] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) names.add(named!)
  }
  const schemas = Object.fromEntries([...names].map((name) => [name, components.schemas[name]]))
  return { openapi, info, paths: {}, components: { schemas } }
}

/** A generated type of what is sent would otherwise be closed, which few type checkers know. */
const open = (name: string, value: unknown) => (name === 'additionalProperties' ? undefined : value)

process.stdout.write(`${JSON.stringify(documentOfClients(), open)}\n`)
