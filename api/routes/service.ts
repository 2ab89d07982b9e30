// What operators and their machines ask: is it alive, is it ready, how is it doing.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { PLAIN_GET, route } from '../route.ts'

const NO_STORE = { 'Cache-Control': 'no-store' }
const state = z.strictObject({ status: z.literal('ok') })

export const livez = route({
  ...PLAIN_GET,
  path: '/livez',
  summary: 'Whether the process answers',
  success: { status: 200, body: state },
  failures: [],
  handle: () => Promise.resolve({ status: 200, body: { status: 'ok' }, headers: NO_STORE }),
})

export const readyz = route({
  ...PLAIN_GET,
  path: '/readyz',
  summary: 'Whether this node should get requests',
  success: { status: 200, body: state },
  failures: [503],
  handle: (_request, { accepting }) => {
    if (!accepting())
      throw new ServiceError('unavailable', 'the service is shutting down', { expose: true, retryAfterS: 5 })
    return Promise.resolve({ status: 200, body: { status: 'ok' }, headers: NO_STORE })
  },
})

export const metrics = route({
  ...PLAIN_GET,
  path: '/metrics',
  summary: 'Measurements in the text format of Prometheus',
  success: { status: 200, body: z.string(), mediaType: 'text/plain' },
  failures: [],
  handle: async (_request, { metrics: measured }) => {
    const body = new TextEncoder().encode(await measured.text())
    return { status: 200, body, headers: { ...NO_STORE, 'Content-Type': measured.registry.contentType } }
  },
})
