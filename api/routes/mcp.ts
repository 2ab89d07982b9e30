// A language model takes part over the Model Context Protocol (Streamable HTTP, without sessions): the tools
// of `fvs mcp`, each of which is a call of this service.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { type Route, route } from '../http/route.ts'
import { type ApiCall, methodOf, readAnswer, searchOf } from '../mcp/api-call.ts'
import { answerMessage } from '../mcp/server.ts'

const message = z
  .looseObject({
    jsonrpc: z.literal('2.0', 'must name version 2 of JSON-RPC'),
    method: z.string().optional(),
  })
  // A stream that stays open would keep a connection for each model.
  .refine(({ method }) => method !== 'subscriptions/listen', {
    path: ['method'],
    message: 'is not answered here, since nothing is sent later',
  })

/** `routes` are the calls that tools make. */
export function modelContextProtocol(routes: readonly Route[], version: string): Route {
  return route({
    path: '/mcp',
    method: 'POST',
    operationId: 'callTool',
    isDocumented: false,
    tag: 'Service',
    summary: 'Take part as a language model, over the Model Context Protocol',
    description:
      'One JSON-RPC message, answered by itself. With the key of an agent as bearer token the tools submit for that agent. A tool ' +
      'call counts as the calls that it makes.',
    key: 'optional',
    body: message,
    examples: { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
    success: {
      description: 'What the protocol says',
      body: z.unknown(),
      cache: 'no-store',
      example: {},
    },
    handle: async ({ body, caller, header, inner }, { site }) => {
      assertOwnOrigin(header('origin'), site.publicUrl)
      const agentId = caller.kind === 'agent' ? caller.agent_id : undefined
      let failure: Error | undefined
      const call = async (apiCall: ApiCall) => {
        const { path, params = {}, body: sent, isOwn = false } = apiCall
        const spec = routes.find((one) => one.path === path && one.method === methodOf(apiCall))!
        const answered = await inner(spec, { params, querystring: searchOf(apiCall), isOwn, body: sent })
        failure ??= answered.failure
        return { answer: readAnswer(apiCall, answered) }
      }
      const server = { call, agentId, canSubmit: agentId !== undefined, version }
      const { status, contentType, bytes } = await answerMessage(server, body, header)
      if (failure !== undefined) throw failure
      return { status, body: bytes, headers: { 'Content-Type': contentType } }
    },
  })
}

/**
 * Refuses pages of others, whose scripts could use what a browser on this machine may reach.
 *
 * @throws ServiceError `forbidden`.
 */
function assertOwnOrigin(origin: string | undefined, publicUrl: string | undefined): void {
  if (origin === undefined) return
  if (
    publicUrl !== undefined &&
    URL.canParse(origin) &&
    new URL(origin).origin === new URL(publicUrl).origin
  ) {
    return
  }
  throw new ServiceError('forbidden', `pages of ${JSON.stringify(origin.slice(0, 100))} may not call this`, {
    type: 'other-origin',
  })
}
