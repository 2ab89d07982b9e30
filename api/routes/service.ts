// Liveness, readiness and measurements of the process, for operators and their monitoring.
import { z } from 'zod'
import { readiness } from '../../schemas/answers.ts'
import { ServiceError } from '../../schemas/errors.ts'
import * as examples from '../openapi/examples.ts'
import { route } from '../http/route.ts'

export const livez = route({
  path: '/livez',
  operationId: 'getLiveness',
  limit: 'other',
  tag: 'Service',
  summary: 'Whether the process answers',
  description: 'Answers as long as the process runs. If it does not answer, start the process again.',
  success: {
    description: 'Alive',
    body: z.strictObject({ status: z.literal('ok') }),
    cache: 'no-store',
    example: { status: 'ok' },
  },
  handle: () => ({ body: { status: 'ok' } }),
})

/** The checks that a node must pass, by the purpose for which it should be ready. */
const NEEDED = { reading: ['reads'], forecasts: ['reads', 'writes', 'clock', 'questions'] } as const

export const readyz = route({
  path: '/readyz',
  operationId: 'getReadiness',
  limit: 'other',
  tag: 'Service',
  summary: 'Whether this node should receive requests',
  description:
    'Whether a load balancer should send requests here, and what the node found when it last tried its store, some ' +
    'seconds ago. It is ready unless it cannot read its store or is stopping; with `for=forecasts` it must also be able ' +
    'to write, its clock must be right, and it must have read the questions, which it does after its start.',
  query: z.strictObject({
    for: z
      .literal('forecasts', 'must be forecasts, or be left out')
      .optional()
      .describe('Whether the node can take forecasts, too'),
  }),
  examples: { query: { for: 'forecasts' } },
  success: {
    description: 'Ready',
    body: readiness,
    cache: 'no-store',
    example: examples.readiness,
  },
  problems: {
    422: examples.invalid('query', 'for', 'must be forecasts, or be left out'),
    503: { type: 'unavailable', detail: 'the service is shutting down' },
  },
  handle: ({ query }, { accepting, health: { checks } }) => {
    const failed = NEEDED[query.for ?? 'reading'].filter((name) => !checks[name].ok)
    const reasons = [
      ...(accepting() ? [] : ['the service is shutting down']),
      ...failed.map((name) => checks[name].detail),
    ]
    if (reasons.length > 0) {
      throw new ServiceError('unavailable', reasons.join('; '), { expose: true, retryAfterS: 5, checks })
    }
    return { body: { status: 'ok', checks } }
  },
})

export const metrics = route({
  path: '/metrics',
  isDocumented: false,
  isCrossOrigin: false,
  operationId: 'getMeasurements',
  limit: 'other',
  // The call follows the store, so that a node that is only watched does not seem to be behind.
  follows: true,
  tag: 'Service',
  summary: 'Measurements in the text format of Prometheus',
  description: 'What the process measures about itself, for Prometheus.',
  success: {
    description: 'Measurements',
    body: z.string(),
    cache: 'no-store',
    mediaType: 'text/plain',
    example:
      '# HELP fvs_release The release that this node serves\n# TYPE fvs_release gauge\nfvs_release 214\n',
  },
  handle: async (_request, { metrics: measured }) => {
    const body = new TextEncoder().encode(await measured.text())
    return { body, headers: { 'Content-Type': measured.registry.contentType } }
  },
})
