// The domains that agents claim as their owners. A job looks for the proof at each domain.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { DOMAIN_OWNER } from '../../schemas/names.ts'
import { DAY_MS, instant, publishedUuid } from '../../schemas/values.ts'
import { OWNER_CLAIMS_PREFIX, ownerClaimPath } from '../store/paths.ts'
import { records } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { RandomBytes } from './api-key.ts'

const TOKEN_BYTES = 18
/** A claim without a proof ends after this time. */
const PENDING_MS = 14 * DAY_MS
/** The time until a found proof is looked for again. After a miss the next look follows in a day. */
const AGAIN_MS = 30 * DAY_MS
/** A proof is lost after this many misses in a row. */
const MOST_MISSES = 3

const ownerClaim = z.strictObject({
  agent_id: publishedUuid,
  domain: z.string(),
  token: z.string(),
  claimed_at: instant,
  /** When the proof was first found; null until then. */
  proved_at: instant.nullable(),
  looked_at: instant.nullable(),
  misses: z.number().int().min(0),
  /** Why the last look found no proof. */
  reason: z.string().nullable(),
  /** Whether the agent has given the claim up. The next run then ends the ownership it had proved. */
  given_up: z.boolean(),
})
export type OwnerClaim = z.infer<typeof ownerClaim>

/** A decision of the operator about an agent's owner. From then on the operator decides alone. */
const decided = z.strictObject({ agent_id: publishedUuid, decided_at: instant })

/** The id of the owner that a domain proves. */
export function domainOwner(domain: string): string {
  return `${DOMAIN_OWNER}${domain}`
}

export const PROOF_PATH = '/.well-known/forecast-agents.json'

/** The address of the file of a domain. */
export function proofAddress(domain: string): string {
  return `https://${domain}${PROOF_PATH}`
}

/** The name of the TXT record of a domain. */
export function proofRecord(domain: string): string {
  return `_forecast-agents.${domain}`
}

/** The result of a look; `unknown` if the service itself could not look. */
export type Found = { kind: 'proved' } | { kind: 'missing' | 'unknown'; reason: string }

/** The claims of agents, or the decisions of the operator in their place, by the ids of agents. */
export const ownerClaimsIn = (store: Store) => records(store, ownerClaimPath, z.union([ownerClaim, decided]))

/** @throws ServiceError `notFound` without a claim. */
export async function ownerClaimOf(store: Store, agentId: string): Promise<OwnerClaim> {
  const found = await ownerClaimsIn(store).get(agentId)
  if (found && 'domain' in found && !found.given_up) return found
  throw new ServiceError('notFound', `the agent ${agentId} claims no owner`)
}

/**
 * Claims a domain. A repeated claim keeps the first.
 *
 * @throws ServiceError `forbidden` if the operator has named the owner of the agent, `conflict` while another
 *   domain is proved.
 */
export async function claimDomain(
  store: Store,
  { agent_id, domain }: Pick<OwnerClaim, 'agent_id' | 'domain'>,
  { randomBytes, now }: { randomBytes: RandomBytes; now: Date },
): Promise<OwnerClaim> {
  const found = await ownerClaimsIn(store).get(agent_id)
  if (found && !('domain' in found)) {
    throw new ServiceError('forbidden', OWNED_BY_OPERATOR, { type: 'owned-by-operator' })
  }
  if (found && !found.given_up && found.domain === domain) return found
  if (found && (found.proved_at !== null || found.given_up)) {
    throw new ServiceError('conflict', provedBefore(found.domain), { type: 'other-owner-proved' })
  }
  const claim: OwnerClaim = {
    agent_id,
    domain,
    token: `fvs-owner-${Buffer.from(randomBytes(TOKEN_BYTES)).toString('base64url')}`,
    claimed_at: now.toISOString(),
    proved_at: null,
    looked_at: null,
    misses: 0,
    reason: null,
    given_up: false,
  }
  await ownerClaimsIn(store).replace(agent_id, claim)
  return claim
}

/**
 * Gives up the claim of an agent, and returns it as it was.
 *
 * @throws ServiceError `notFound` without a claim.
 */
export async function giveUpClaim(store: Store, agentId: string): Promise<OwnerClaim> {
  const claim = await ownerClaimOf(store, agentId)
  const claims = ownerClaimsIn(store)
  if (claim.proved_at === null) await claims.delete(agentId)
  else await claims.replace(agentId, { ...claim, given_up: true })
  return claim
}

/** Ends the claims of agents because the operator has named their owner. */
export async function endClaims(store: Store, agentIds: readonly string[], now: Date): Promise<void> {
  for (const agent_id of agentIds.map((one) => one.toLowerCase())) {
    await ownerClaimsIn(store).replace(agent_id, { agent_id, decided_at: now.toISOString() })
  }
}

/** Returns the claims that are given up or due for a look, the one with the oldest look first. */
export async function dueClaims(store: Store, now: Date): Promise<OwnerClaim[]> {
  const found = await ownerClaimsIn(store).list(OWNER_CLAIMS_PREFIX)
  const claims = found.filter((one): one is OwnerClaim => 'domain' in one && isDue(one, now))
  const lookedMs = ({ looked_at }: OwnerClaim) => (looked_at === null ? 0 : Date.parse(looked_at))
  return claims.sort((a, b) => lookedMs(a) - lookedMs(b))
}

/** Writes the claim after a look, unless the agent or the operator has changed it meanwhile. */
export async function noteLook(store: Store, claim: OwnerClaim, next: OwnerClaim | null): Promise<void> {
  if (!(await stillClaims(store, claim))) return
  if (next) await ownerClaimsIn(store).replace(claim.agent_id, next)
  else await ownerClaimsIn(store).delete(claim.agent_id)
}

/** Whether neither the agent nor the operator has changed the claim since. */
export async function stillClaims(store: Store, { agent_id, token, given_up }: OwnerClaim): Promise<boolean> {
  const found = await ownerClaimsIn(store).get(agent_id)
  return found !== undefined && 'domain' in found && found.token === token && found.given_up === given_up
}

function isDue({ given_up, proved_at, looked_at, reason }: OwnerClaim, now: Date): boolean {
  if (given_up || proved_at === null || looked_at === null) return true
  return now.getTime() - Date.parse(looked_at) >= (reason === null ? AGAIN_MS : DAY_MS)
}

/** Returns the claim after a look; null if the claim and its proof have ended. */
export function afterLook(claim: OwnerClaim, found: Found, now: Date): OwnerClaim | null {
  const looked_at = now.toISOString()
  if (claim.given_up) return null
  if (found.kind === 'proved') {
    return { ...claim, proved_at: claim.proved_at ?? looked_at, looked_at, misses: 0, reason: null }
  }
  if (claim.proved_at === null) {
    const isOver = now.getTime() - Date.parse(claim.claimed_at) > PENDING_MS
    return isOver ? null : { ...claim, looked_at, reason: found.reason }
  }
  if (found.kind === 'unknown') return { ...claim, looked_at, reason: found.reason }
  const misses = claim.misses + 1
  return misses >= MOST_MISSES ? null : { ...claim, looked_at, misses, reason: found.reason }
}

export const OWNED_BY_OPERATOR = 'the operator has said who owns this agent: ask the operator'
export const provedBefore = (domain: string) =>
  `the agent is proved to be of ${domain}: give that up first, and wait for the next look`
