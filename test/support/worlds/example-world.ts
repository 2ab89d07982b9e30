// A released world in which the examples of the OpenAPI document are true: it has their agent, forecaster and
// question, so that sending an example succeeds.
import { assignAgents } from '../../../jobs/agents/agents.ts'
import type { Components } from '../../../jobs/components/components.ts'
import {
  AGENT_ID,
  EVENT,
  OWNER_ID,
  QUESTION_ID,
  USER_ID,
  acknowledgedForecast,
  ownerClaim,
} from '../../../api/openapi/examples.ts'
import { CHANGED_QUESTION_ID, EVENT_ID } from '../../../api/openapi/operator-examples.ts'
import { importRows, registerAgent, release, startTestService } from '../http/service.ts'
import { type OwnerClaim, ownerClaimsIn } from '../../../pipeline/access/owner-claims.ts'
import type { ForecastRow } from '../../../schemas/tables.ts'
import { OPERATOR_SCOPES } from '../../../schemas/tiers.ts'
import { issueTo } from '../credentials/issued.ts'
import { submitForecasts } from './submitted-forecasts.ts'
import { send } from '../tables.ts'
import { FORECAST_LINES, QUESTIONS_CSV, RESOLUTIONS_CSV, csvOf, forecasterId, uuidOf } from './world.ts'
import { writeLog } from './written-log.ts'

/** An agent that may be retired without a loss to the examples. */
export const LEAVING_AGENT_ID = '00000000-0000-4000-8000-00000000ace5'
/** An agent whose key may be ended without a loss to the examples. */
export const KEYLESS_AGENT_ID = '00000000-0000-4000-8000-00000000ace6'

export const EXAMPLE_CLAIM: OwnerClaim = {
  agent_id: AGENT_ID,
  domain: ownerClaim.domain,
  token: ownerClaim.token,
  claimed_at: ownerClaim.claimed_at,
  proved_at: null,
  looked_at: null,
  misses: 0,
  reason: null,
  given_up: false,
}

/** Stays open for as long as anyone will run the tests. */
const OPEN_QUESTION = `${QUESTION_ID},Open for long?,example,,${EVENT.event_id},2026-01-01T00:00:00Z,2199-01-01T00:00:00Z,example-platform,1,Yes.,Nothing.`

/** In one event with the other. */
export const CLOSED_QUESTION_ID = uuidOf(7, 1)
const CLOSED_QUESTION = `${CLOSED_QUESTION_ID},Closed?,example,,${EVENT.event_id},2026-01-01T00:00:00Z,2026-01-02T00:00:00Z,,,,`

/** The operator's calls change and resolve it. */
const CHANGED_QUESTION = `${CHANGED_QUESTION_ID},Rain?,weather,,${EVENT_ID},2026-01-01T00:00:00Z,2199-01-01T00:00:00Z,,,,`

const { forecast_id, question_id, probability, forecast_at } = acknowledgedForecast
/** The forecast of the examples, as the API records it. */
const EXAMPLE_FORECAST: ForecastRow = {
  forecast_id,
  question_id,
  probability,
  entity_type: 'agent',
  entity_id: AGENT_ID,
  forecast_at: new Date(forecast_at),
  recorded_at: new Date(forecast_at),
  source: 'api',
}

export interface ExampleKeys {
  /** The API key of the examples' agent. */
  agent: string
  /** The API key of the agent LEAVING_AGENT_ID. */
  leavingAgent: string
  /** The API key of the agent KEYLESS_AGENT_ID. */
  keylessAgent: string
  /** The API key of a client with the highest quota. */
  client: string
  /** The API key of an operator with every scope. */
  operator: string
}

export async function releaseExamples(components: Components): Promise<ExampleKeys> {
  const agent = await registerWithId(components, AGENT_ID)
  const leavingAgent = await registerWithId(components, LEAVING_AGENT_ID)
  const keylessAgent = await registerWithId(components, KEYLESS_AGENT_ID)
  await importRows(
    components,
    'questions',
    `${QUESTIONS_CSV}${OPEN_QUESTION}\n${CLOSED_QUESTION}\n${CHANGED_QUESTION}\n`,
  )
  await importRows(components, 'resolutions', RESOLUTIONS_CSV)
  const [ofAgent, ofPeople] = [true, false].map((isAgents) =>
    FORECAST_LINES.filter((line) => line.includes(forecasterId(2)) === isAgents),
  ) as [string[], string[]]
  await importRows(
    components,
    'forecasts',
    csvOf(ofPeople.map((line) => line.replace(forecasterId(0), USER_ID))),
  )
  await submitForecasts(
    components.store,
    ofAgent.map((line) => line.replace(forecasterId(2), AGENT_ID)),
  )
  await send(components.store, 'forecasts', 'example', [EXAMPLE_FORECAST])
  await assignAgents(components, [AGENT_ID], { owner: OWNER_ID })
  // The agent of the examples may claim an owner all the same.
  await ownerClaimsIn(components.store).replace(EXAMPLE_CLAIM.agent_id, EXAMPLE_CLAIM)
  await release(components)
  await writeLog(components.store, 1)
  await issueTo(components.store, 1, AGENT_ID, USER_ID)
  const quota = { tier: 'enterprise', monthly_calls: 1_000_000 } as const
  const client = await components.registry.createClientKey('examples', components.now(), quota)
  const operator = await components.registry.createOperatorKey(
    'the operator',
    components.now(),
    OPERATOR_SCOPES,
  )
  return { agent, leavingAgent, keylessAgent, client, operator }
}

async function registerWithId(components: Components, id: string): Promise<string> {
  const service = await startTestService({ ...components, newId: () => id })
  const { key } = await registerAgent(service.client)
  await service.stop()
  return key
}
