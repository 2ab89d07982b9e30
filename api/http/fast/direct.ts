// Sends plain POSTs of routes with `isDirect`, such as a forecast, to their route directly. It calls the same
// functions as the way through Koa, but skips Koa's contexts, its search for the route, and its setting of
// headers one by one.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Environment } from '../../../schemas/values.ts'
import { type Answer, answerToError } from '../answer.ts'
import { type Head, firstHeaders, ownHeaders } from '../answer-head.ts'
import type { AppComponents } from '../app.ts'
import type { NodeContext } from '../context.ts'
import { type Handled, handle } from '../handle.ts'
import { isPlain } from '../request-head.ts'
import type { Route } from '../route.ts'
import { type Answering, type CallAtPath, type RouteInEnvironment, byPath, parameterOf } from './paths.ts'
import { sendAtEndOfTurn } from './send.ts'

interface DirectCall extends RouteInEnvironment<Route> {
  parameter: string | undefined
}

/** Above this size, converting the body to a string costs more than a second write. */
const SHORT_BYTES = 4096

export function answerDirectly(
  contexts: Partial<Record<Environment, NodeContext>>,
  components: AppComponents,
): Answering {
  const specs = components.routes.filter(({ isDirect }) => isDirect)
  const callAt = byPath(specs, contexts, (placed) => ({ ...placed, parameter: parameterOf(placed.spec) }))
  return (request, response, otherwise) => {
    const found = isPlain(request) ? callAt(request.url!) : undefined
    if (found) return answer(found, request, response, components)
    otherwise(request, response)
    return undefined
  }
}

async function answer(
  { call, named }: CallAtPath<DirectCall>,
  request: IncomingMessage,
  response: ServerResponse,
  components: AppComponents,
): Promise<void> {
  const { newRequestId, monotonicMs, networksOf, accepting } = components
  const startedMs = monotonicMs()
  const requestId = newRequestId()
  const { spec, context, route, parameter } = call
  const params = parameter === undefined ? {} : { [parameter]: named }
  const asked = { request, params, querystring: '' }
  const handled = await handle(asked, spec, context, networksOf(request)).catch(unhandled)
  const own = answerIn(handled, request, requestId, components)
  const { status, body } = own
  const head: Head = { ...firstHeaders(requestId), ...handled.headers, ...ownHeaders(own) }
  if (!accepting()) head['Connection'] = 'close'
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  await sendAtEndOfTurn(
    { request, response, route, requestId, startedMs, keyId: handled.keyId },
    {
      status,
      head: Object.entries(head).flat(),
      body: bytes.length > SHORT_BYTES ? bytes : bytes.toString('latin1'),
    },
    components,
  )
}

function unhandled(error: unknown): Handled {
  return { headers: {}, keyId: undefined, error }
}

function answerIn(
  handled: Handled,
  request: IncomingMessage,
  requestId: string,
  components: AppComponents,
): Answer {
  if ('answer' in handled) return handled.answer
  // Only answers to GET are shown to people.
  const failed = { request, requestId, path: request.url!, isForPerson: false }
  return answerToError(handled.error, failed, components)
}
