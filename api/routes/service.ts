// For operators and their monitoring: is the process alive, is it ready, how is it doing.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { route } from '../route.ts'

const OK = {
  body: z.strictObject({ status: z.literal('ok') }),
  cache: 'no-store',
  example: { status: 'ok' },
}

export const livez = route({
  path: '/livez',
  operationId: 'getLiveness',
  tag: 'Service',
  summary: 'Whether the process answers',
  description: 'Answers as long as the process runs. If it does not answer, start the process again.',
  success: { description: 'Alive', ...OK },
  handle: () => ({ body: OK.example }),
})

export const readyz = route({
  path: '/readyz',
  operationId: 'getReadiness',
  tag: 'Service',
  summary: 'Whether this node should receive requests',
  description: 'Whether a load balancer should send requests here. A service that is stopping is not ready.',
  success: { description: 'Ready', ...OK },
  problems: { 503: { detail: 'the service is shutting down' } },
  handle: (_request, { accepting }) => {
    if (!accepting())
      throw new ServiceError('unavailable', 'the service is shutting down', { expose: true, retryAfterS: 5 })
    return { body: OK.example }
  },
})

export const metrics = route({
  path: '/metrics',
  operationId: 'getMeasurements',
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
