// `fvs agents prove`: looks at the domains that agents claim as their owners, and records what it finds.
import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import pMap from 'p-map'
import { type OwnerClaim, OwnerClaims, afterLook, domainOwner } from '../pipeline/access/owner-claims.ts'
import { disownByDomain, ownByDomain } from '../pipeline/import/agents.ts'
import { type Reach, lookForProof } from '../pipeline/owners/look.ts'
import { lookUpAll } from '../pipeline/public-address.ts'
import { sayOfKnown } from './agents.ts'
import type { Components } from './components/components.ts'
import type { Report } from './output.ts'

const TIMEOUT_MS = 5_000
const LOOKS_AT_ONCE = 8
/** So that a run ends before the next one is due. */
const MOST_LOOKS = 500

/** The Internet, as everyone reaches it. */
export function internet(): Reach {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 })
  return {
    lookUp: lookUpAll,
    resolveTxt: (name) => resolver.resolveTxt(name),
    isPrivateAllowed: false,
    originOf: (domain) => `https://${domain}`,
    timeoutMs: TIMEOUT_MS,
  }
}

/**
 * Looks at every domain that is due, and writes to the table of agents who is proved and who is not any more.
 * The table comes first: a run that is cut off before it notes its looks is made again, with the same result.
 */
export async function proveOwners(components: Components, reach: Reach): Promise<Report> {
  const { store, now, log } = components
  const claims = new OwnerClaims(store, randomBytes)
  const due = (await claims.due(now())).slice(0, MOST_LOOKS)
  const looked = await pMap(
    due,
    async (claim) => {
      const found = claim.given_up ? NOT_LOOKED : await lookForProof(claim, reach)
      return { claim, found, next: afterLook(claim, found, now()) }
    },
    { concurrency: LOOKS_AT_ONCE },
  )
  const proved = looked.filter(({ found, next }) => next && found.kind === 'proved')
  const ended = looked.filter(({ claim, next }) => next === null && claim.proved_at !== null)
  const owned = await sayOfKnown(components, ownersOf(proved), ownByDomain)
  const lost = await sayOfKnown(components, ownersOf(ended), disownByDomain)
  for (const { claim, next } of looked) await claims.looked(claim, next)
  for (const { claim, found } of ended) {
    const reason = 'reason' in found ? found.reason : undefined
    log('a domain does not answer for an agent any more', {
      agent: claim.agent_id,
      domain: claim.domain,
      reason,
    })
  }
  return {
    ok: true,
    json: { looked: looked.length, owned, lost },
    text: `looked at ${looked.length} domains: ${owned} agents have a new owner, and ${lost} no longer have one`,
  }
}

const NOT_LOOKED = { kind: 'unknown', reason: 'the agent gave it up' } as const

function ownersOf(looked: readonly { claim: OwnerClaim }[]): Map<string, string> {
  return new Map(looked.map(({ claim: { agent_id, domain } }) => [agent_id, domainOwner(domain)]))
}
