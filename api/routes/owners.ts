// Lists every agent that is recorded for an owner, so that anyone who is shown one sees the others too.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { name } from '../../schemas/names.ts'
import { owner as payload } from '../../schemas/payloads.ts'
import { releaseQuery } from '../../schemas/requests.ts'
import type { Release } from '../published/release-payloads.ts'
import * as examples from '../openapi/examples.ts'
import { route } from '../http/route.ts'
import { signatureHeader } from '../published/signature.ts'

export const owner = route({
  path: '/owners/{owner_id}',
  operationId: 'getOwner',
  tag: 'Records',
  summary: 'All agents of an owner',
  description:
    'Every agent that the operator has recorded for the owner, that has made a forecast and that is not hidden, retired ones too, with its certification and skill in the current release. ' +
    'An owner who tries many agents and shows one is found out here. The signature covers the exact bytes of the body. ' +
    '`release` names an earlier release instead, which answers in the same bytes for good.',
  follows: true,
  needsStore: true,
  namesRelease: true,
  params: z.strictObject({
    owner_id: name.describe(
      'Who answers for agents, as the operator has recorded it; `domain:` and a name where that domain proves it',
    ),
  }),
  query: releaseQuery,
  examples: { params: { owner_id: examples.OWNER_ID } },
  success: {
    description: 'As in the release',
    body: payload,
    cache: 'public, max-age=60',
    example: examples.owner,
    headers: ['X-Service-Signature'],
  },
  problems: {
    404: { type: 'not-found', detail: noAgentsIn(examples.OWNER_ID) },
    422: examples.invalid('path', 'owner_id', 'must have at least one letter or digit'),
  },
  handle: async ({ params }, _context, release) => {
    const found = await release.findOwner(params.owner_id)
    if (!found) throw noAgentsOf(release, params.owner_id)
    return { body: found.bytes, headers: signatureHeader(found.signature) }
  },
})

/** Returns the error for an owner of whom the release has no agent. */
export function noAgentsOf({ manifest, earlierThan }: Release, ownerId: string): ServiceError {
  return new ServiceError(
    'notFound',
    earlierThan
      ? `release ${manifest?.release} has no agent of an owner ${JSON.stringify(ownerId)}: leave \`release\` out to ask the current one, ${earlierThan.manifest?.release}`
      : noAgentsIn(ownerId),
  )
}

function noAgentsIn(ownerId: string): string {
  return `the current release has no agent of an owner ${JSON.stringify(ownerId)}; the operator records owners`
}
