// An agent says which domain answers for it. A job looks for the proof at the domain.
import { getDomain } from 'tldts-icann'
import { z } from 'zod'
import {
  OWNED_BY_OPERATOR,
  type OwnerClaim,
  domainOwner,
  proofAddress,
  proofRecord,
  provedBefore,
  claimDomain,
  giveUpClaim,
  ownerClaimOf,
} from '../../pipeline/access/owner-claims.ts'
import { ownerClaim } from '../../schemas/answers.ts'
import { owning } from '../../schemas/requests.ts'
import { uuid } from '../../schemas/values.ts'
import { faultAt, invalidInput } from '../http/input.ts'
import { assertOwnKey, route } from '../http/route.ts'
import { assertActive } from './take-forecasts.ts'
import * as examples from '../openapi/examples.ts'

const { AGENT_ID } = examples
const OF_OWN_AGENT = {
  key: 'agent',
  needsStore: true,
  params: z.strictObject({ agent_id: uuid }),
  examples: { params: { agent_id: AGENT_ID } },
} as const
const NOT_OWN = {
  type: 'other-agents-key',
  detail: `this key belongs to another agent than ${AGENT_ID}`,
} as const
const NO_CLAIM = { type: 'not-found', detail: `the agent ${AGENT_ID} claims no owner` } as const

function publicClaim({ domain, proved_at, misses, given_up: _over, ...claim }: OwnerClaim) {
  return {
    ...claim,
    domain,
    proved_at,
    misses,
    state: proved_at === null ? 'pending' : misses > 0 ? 'missed' : 'proved',
    file_url: proofAddress(domain),
    record_name: proofRecord(domain),
    owner_id: domainOwner(domain),
  }
}

/** Everyone can make names below a domain of their own, and each would be another owner. */
function assertRegistered(domain: string): void {
  const registered = getDomain(domain)
  if (registered === domain) return
  const instead = registered === null ? '' : `: ${registered} claims for all names below it`
  throw invalidInput('body', [
    faultAt(['domain'], `must be a registered name such as example.org${instead}`, 'body'),
  ])
}

export const claimOwner = route({
  path: '/agents/{agent_id}/owner',
  operationId: 'claimOwner',
  tag: 'Agents',
  summary: 'Claim a domain as the owner of the agent',
  description:
    'Answers with a token. Put it where only the domain’s owner can, in the file or in the TXT record that the answer names: the service ' +
    'looks for it with each release for 14 days. Once it is found, the owner of the agent is `domain:` and the domain, from the next ' +
    'release on. It is looked for again every month, and lost after three misses, a day apart. The agents of one domain are of one ' +
    'owner, and numbered as its attempts. What the operator says of the owner comes before. A retired agent claims none.',
  ...OF_OWN_AGENT,
  limit: 'forecast',
  body: owning,
  examples: { ...OF_OWN_AGENT.examples, body: { domain: 'example.org' } },
  success: { description: 'The claim', body: ownerClaim, cache: 'no-store', example: examples.ownerClaim },
  problems: {
    403: { type: 'owned-by-operator', detail: OWNED_BY_OPERATOR },
    409: { type: 'other-owner-proved', detail: provedBefore('example.com') },
    422: examples.invalid('body', 'domain', 'must be a name that everyone on the Internet can resolve'),
  },
  handle: async ({ params, body, caller }, { store, randomBytes, now }) => {
    const { agent_id } = caller
    assertOwnKey(agent_id, params.agent_id)
    assertActive(caller, now())
    assertRegistered(body.domain)
    return {
      body: publicClaim(
        await claimDomain(store, { agent_id, domain: body.domain }, { randomBytes, now: now() }),
      ),
    }
  },
})

export const getOwnerClaim = route({
  path: '/agents/{agent_id}/owner',
  operationId: 'getOwnerClaim',
  tag: 'Agents',
  summary: 'The domain that the agent claims as its owner',
  description: 'Whether it is proved, and why the last look found no proof.',
  ...OF_OWN_AGENT,
  success: { description: 'The claim', body: ownerClaim, cache: 'no-store', example: examples.ownerClaim },
  problems: { 403: NOT_OWN, 404: NO_CLAIM },
  handle: async ({ params, caller: { agent_id } }, { store }) => {
    assertOwnKey(agent_id, params.agent_id)
    return { body: publicClaim(await ownerClaimOf(store, agent_id)) }
  },
})

export const giveUpOwner = route({
  path: '/agents/{agent_id}/owner',
  method: 'DELETE',
  operationId: 'giveUpOwner',
  tag: 'Agents',
  summary: 'Give up the domain that the agent claims as its owner',
  description: 'A proved owner ends with the next release. The answer is the claim as it was.',
  ...OF_OWN_AGENT,
  limit: 'forecast',
  success: {
    description: 'The claim that was given up',
    body: ownerClaim,
    cache: 'no-store',
    example: examples.ownerClaim,
  },
  problems: { 403: NOT_OWN, 404: NO_CLAIM },
  handle: async ({ params, caller: { agent_id } }, { store }) => {
    assertOwnKey(agent_id, params.agent_id)
    return { body: publicClaim(await giveUpClaim(store, agent_id)) }
  },
})
