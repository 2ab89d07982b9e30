// Proofs that payloads were published, with the same four calls for agents and forecasters, and proofs that
// forecasts were taken in.
import { z } from 'zod'
import { encoded } from '../../pipeline/proof/canonical.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { PublicationKind } from '../../schemas/metric.ts'
import { proofQuery } from '../../schemas/requests.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import { mayStillCome } from '../published/forecast-proofs.ts'
import { noSuchRelease, notPublished, notTakenIn } from '../http/not-published.ts'
import * as examples from '../openapi/examples.ts'
import { logExamples } from '../openapi/log-examples.ts'
import { componentName } from '../openapi/schemas.ts'
import { type Route, route } from '../http/route.ts'
import { ENTITIES } from './entities.ts'
import { NO_LOG } from './public-log.ts'

const CALLS: { kind: PublicationKind; name: string }[] = [
  { kind: 'verification', name: 'verification' },
  { kind: 'metrics', name: 'metrics' },
  { kind: 'rankings', name: 'rankings' },
  { kind: 'advanced_metrics', name: 'advanced-metrics' },
]

export const proofs: Route[] = CALLS.flatMap(({ kind, name }) =>
  ENTITY_TYPES.map((entityType) => proof(entityType, kind, name)),
)

const { forecast_id } = examples.acknowledgedForecast

export const forecastProof = route({
  path: '/forecasts/{forecast_id}/proof',
  operationId: 'getForecastProof',
  tag: 'Log',
  summary: 'The proof that a forecast was taken in',
  description:
    'That the body of the answer to `POST /agents/{agent_id}/forecast` is in the tree `forecasts` of a release which is in the public ' +
    'log (c2sp.org/tlog-proof@v1). It shows nothing of the forecast to anyone who does not have that body. A forecast has a proof a ' +
    'moment after the first release that takes it in: that is, at the latest, the first whose `as_of` is ten minutes after ' +
    '`forecast_at`. Until the release is in the log the call answers 503. Forecasts that were imported have none.',
  follows: true,
  needsStore: true,
  params: z.strictObject({ forecast_id: uuid }),
  examples: { params: { forecast_id } },
  success: {
    description: 'The proof',
    body: z.string(),
    mediaType: 'text/plain',
    cache: 'public, max-age=60',
    get example() {
      return logExamples().forecastProof
    },
  },
  problems: {
    404: {
      type: 'not-released-yet',
      detail:
        `no release has the forecast ${forecast_id} yet: if it was acknowledged, one will have it; ` +
        'the next release is due at 2026-03-01T12:15:00.000Z',
    },
  },
  handle: async ({ params, asker }, context, { manifest }) => {
    const { publicLog, forecastProofs, now } = context
    if (!publicLog.isThere) throw new ServiceError('notFound', NO_LOG)
    const found = manifest && (await forecastProofs.proofOf(manifest, params.forecast_id, asker))
    if (found !== undefined) return { body: encoded(found) }
    const isAwaited = mayStillCome(manifest?.as_of, params.forecast_id, now())
    throw notTakenIn(params.forecast_id, isAwaited, context)
  },
})

function proof(entityType: EntityType, kind: PublicationKind, name: string): Route {
  const { path, words, idName, example, missing } = ENTITIES[entityType]
  return route({
    path: `${path}/${name}/proof`,
    operationId: `get${componentName(`${entityType}-${name}-proof`)}`,
    tag: 'Log',
    summary: `The proof of the ${name} of ${words}`,
    description:
      `That the body of \`GET ${path}/${name}\` was published in a release which is in the public log ` +
      '(c2sp.org/tlog-proof@v1). Take the release from the payload. The proof needs only the public key of the log to be checked: ' +
      'take it from somewhere other than this service. A release that has just been published is in the log a moment later: until ' +
      'then the call answers 503. Keep the proof with the payload, since a release that was thinned has none any more.',
    follows: true,
    needsStore: true,
    params: z.strictObject({ [idName]: uuid }),
    query: proofQuery,
    examples: { params: { [idName]: example }, query: { release: '1' } },
    success: {
      description: 'The proof',
      body: z.string(),
      mediaType: 'text/plain',
      cache: 'public, max-age=60',
      get example() {
        return logExamples().proofOf(entityType, kind)
      },
    },
    problems: {
      404: missing,
      422: examples.invalid('query', 'release', 'must be the number of a release, such as 12'),
    },
    handle: async ({ params, query, asker }, context, release) => {
      const { publicLog, payloadProofs } = context
      const entityId = params[idName]!
      if (!publicLog.isThere) throw new ServiceError('notFound', NO_LOG)
      const { manifest } = release
      if (!manifest) throw await notPublished(context, release, entityType, entityId)
      const number = query.release === undefined ? manifest.release : Number(query.release)
      if (number > manifest.release) throw noSuchRelease(number, manifest.release)
      const found = await payloadProofs.proofOf(manifest, number, { entityType, entityId, kind }, asker)
      if (found !== undefined) return { body: encoded(found) }
      if (number === manifest.release) throw await notPublished(context, release, entityType, entityId)
      throw new ServiceError('notFound', `release ${number} has no ${entityType} ${entityId}`)
    },
  })
}
