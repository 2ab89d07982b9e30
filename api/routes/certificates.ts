// One file about an agent or a forecaster to hand over, which its reader checks without the service.
import { z } from 'zod'
import { certificateBytes } from '../../pipeline/proof/certificate.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { RESPONSES } from '../../schemas/json-schemas.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { uuid } from '../../schemas/values.ts'
import { notPublished } from '../http/not-published.ts'
import { type Route, route } from '../http/route.ts'
import * as examples from '../openapi/examples.ts'
import { logExamples } from '../openapi/log-examples.ts'
import { componentName } from '../openapi/schemas.ts'
import { ENTITIES } from './entities.ts'
import { NO_LOG } from './public-log.ts'

export const certificates: Route[] = ENTITY_TYPES.map((entityType) => certificate(entityType))

function certificate(entityType: EntityType): Route {
  const { path, words, idName, example, missing } = ENTITIES[entityType]
  return route({
    path: `${path}/certificate.fvs`,
    operationId: `get${componentName(`${entityType}-certificate`)}`,
    tag: 'Verification',
    summary: `One file about ${words} to hand over`,
    description:
      'The verification in the current release, its proof with the signed and cosigned checkpoint, and the public keys of the log, as ' +
      'canonical JSON (RFC 8785), with the Open Badges credential where there is one. Anyone who is handed the file can check it without this service, with the public key of the log: take ' +
      'that from somewhere other than this service and this file. It says what it does not show. Until a release that has just been ' +
      'published is in the log the call answers 503.',
    follows: true,
    needsStore: true,
    params: z.strictObject({ [idName]: uuid }),
    examples: { params: { [idName]: example } },
    success: {
      description: 'The file',
      body: RESPONSES[`${entityType}-certificate`],
      cache: 'public, max-age=60',
      headers: ['Content-Disposition'],
      get example() {
        return logExamples().certificateOf(entityType)
      },
    },
    problems: { 404: missing, 422: examples.invalid('path', idName, 'must be a UUID') },
    handle: async ({ params, asker }, context) => {
      const { releases, publicLog, payloadProofs, credentials } = context
      const entityId = params[idName]!
      if (!publicLog.isThere) throw new ServiceError('notFound', NO_LOG)
      const { current } = releases
      const found = await releases.find(entityType, entityId, 'verification', asker)
      if (!found || !current) throw await notPublished(context, entityType, entityId)
      const proven = { entityType, entityId, kind: 'verification' } as const
      const proof = await payloadProofs.of(current, current.release, proven, asker)
      if (proof === undefined) throw await notPublished(context, entityType, entityId)
      const { vkeys } = publicLog
      const issued = await credentials.find(current.release, entityType, entityId)
      // A moment after a release the credential is still that of the release before.
      const credential = issued?.release === current.release ? issued.document : undefined
      return {
        body: certificateBytes({ payload: found.bytes, proof, vkeys, credential }),
        headers: { 'Content-Disposition': `attachment; filename="certificate-${entityId}.fvs"` },
      }
    },
  })
}
