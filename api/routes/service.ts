// For operators and their monitoring: is the process alive, is it ready, how is it doing.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { PLAIN_GET, route } from '../route.ts'

const NO_STORE = { 'Cache-Control': 'no-store' }
const state = z.strictObject({ status: z.literal('ok') })

export const livez = route({
  ...PLAIN_GET,
  path: '/livez',
  operationId: 'getLiveness',
  tag: 'Service',
  summary: 'Whether the process answers',
  description: 'Answers as long as the process runs. If it does not answer, start the process again.',
  success: { status: 200, description: 'Alive', body: state, example: { status: 'ok' } },
  handle: () => Promise.resolve({ status: 200, body: { status: 'ok' }, headers: NO_STORE }),
})

export const readyz = route({
  ...PLAIN_GET,
  path: '/readyz',
  operationId: 'getReadiness',
  tag: 'Service',
  summary: 'Whether this node should receive requests',
  description: 'Whether a load balancer should send requests here. A service that is stopping is not ready.',
  success: { status: 200, description: 'Ready', body: state, example: { status: 'ok' } },
  problems: { 503: { detail: 'the service is shutting down' } },
  handle: (_request, { accepting }) => {
    if (!accepting())
      throw new ServiceError('unavailable', 'the service is shutting down', { expose: true, retryAfterS: 5 })
    return Promise.resolve({ status: 200, body: { status: 'ok' }, headers: NO_STORE })
  },
})

export const metrics = route({
  ...PLAIN_GET,
  path: '/metrics',
  operationId: 'getMeasurements',
  tag: 'Service',
  summary: 'Measurements in the text format of Prometheus',
  description: 'What the process measures about itself, for Prometheus.',
  success: {
    status: 200,
    description: 'Measurements',
    body: z.string(),
    mediaType: 'text/plain',
    example:
      '# HELP fvs_release The release that this node serves\n# TYPE fvs_release gauge\nfvs_release 214\n',
  },
  handle: async (_request, { metrics: measured }) => {
    const body = new TextEncoder().encode(await measured.text())
    return { status: 200, body, headers: { ...NO_STORE, 'Content-Type': measured.registry.contentType } }
  },
})
