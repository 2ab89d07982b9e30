// `fvs agents prove`: looks at the domains that agents claim as their owners, and records what it finds.
import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import pMap from 'p-map'
import {
  type OwnerClaim,
  afterLook,
  domainOwner,
  dueClaims,
  noteLook,
  stillClaims,
} from '../../pipeline/access/owner-claims.ts'
import {
  type ReadRequests,
  type StatedCounts,
  disownByDomain,
  ownByDomain,
} from '../../pipeline/import/agents.ts'
import type { ImportContext } from '../../pipeline/import/take-in.ts'
import { type DomainLook, type Reach, lookAtDomain, proofIn } from '../../pipeline/owners/look.ts'
import { onTable } from './agents-table.ts'
import type { Components } from '../components/components.ts'
import type { Report } from '../command-line/output.ts'
import { READS_AT_ONCE } from '../../pipeline/store/store.ts'

const TIMEOUT_MS = 5_000
const LOOKS_AT_ONCE = 64
/** The time for all looks. Domains not reached by then come first in the next run. */
const RUN_MS = 60_000

/** Reaches the public Internet. Resolves names by `servers`, by default those of the system. */
export function internet(servers?: readonly string[]): Reach {
  return {
    lookUp: (name, signal) => resolving(servers, signal, (resolver) => addressesOf(name, resolver)),
    resolveTxt: (name, signal) => resolving(servers, signal, (resolver) => resolver.resolveTxt(name)),
    isPrivateAllowed: false,
    originOf: (domain) => `https://${domain}`,
    timeoutMs: TIMEOUT_MS,
  }
}

/**
 * Asks a separate resolver, which the signal can end. Look-ups by the system cannot be cancelled, and four
 * names with silent servers would hold all threads that read files.
 */
async function resolving<T>(
  servers: readonly string[] | undefined,
  signal: AbortSignal,
  ask: (resolver: Resolver) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 })
  if (servers) resolver.setServers(servers)
  const cancel = () => {
    resolver.cancel()
  }
  signal.addEventListener('abort', cancel)
  try {
    return await ask(resolver)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/**
 * @throws the error of the resolver if neither kind of address is known.
 */
async function addressesOf(name: string, resolver: Resolver): Promise<LookupAddress[]> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ]
  if (found.length > 0) return found
  const failures = [four, six].flatMap((each) =>
    each.status === 'rejected' ? [each.reason as NodeJS.ErrnoException] : [],
  )
  throw failures.find(({ code }) => code !== 'ENODATA') ?? failures[0]!
}

/**
 * Looks once at every due domain until `ending`, and writes new and lost owners to the table of agents.
 * Writes to the table first: after a crash before it notes its looks, the next run repeats them with the same
 * result.
 */
export async function proveOwners(
  components: Components,
  reach: Reach,
  ending: AbortSignal = AbortSignal.timeout(RUN_MS),
): Promise<Report> {
  const { store, now, log } = components
  // Look at every domain of a due claim.
  const due = await dueClaims(store, now())
  const looks = await looksAt(
    new Set(due.flatMap(({ given_up, domain }) => (given_up ? [] : domain))),
    reach,
    ending,
  )
  const looked = due.flatMap((claim) => {
    const look = looks.get(claim.domain)
    const found = claim.given_up ? NOT_LOOKED : look && proofIn(look, claim)
    return found ? [{ claim, found, next: afterLook(claim, found, now()) }] : []
  })
  const left = due.length - looked.length
  const proved = looked.filter(({ found, next }) => next && found.kind === 'proved')
  const ended = looked.filter(({ claim, next }) => next === null && claim.proved_at !== null)
  // Write to the table of agents.
  const claimsOf = (some: typeof looked) => some.map(({ claim }) => claim)
  const owned = await writeOwners(components, claimsOf(proved), ownByDomain)
  const lost = await writeOwners(components, claimsOf(ended), disownByDomain)
  // Note the looks, and tell of lost domains.
  for (const { claim, next } of looked) await noteLook(store, claim, next)
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
    json: { looked: looked.length, left, owned, lost },
    text:
      `looked at ${looks.size} domains for ${looked.length} agents: ${owned} have a new owner, and ${lost} no longer have one` +
      (left === 0 ? '' : `; there was no time for ${left} agents, which come first in the next run`),
  }
}

/** Writes the owners of agents whose claims still stand. Returns how many agents it changed. */
async function writeOwners(
  components: Components,
  claims: readonly OwnerClaim[],
  write: (context: ImportContext, owners: ReadRequests) => Promise<StatedCounts>,
): Promise<number> {
  if (claims.length === 0) return 0
  const owners = async () => {
    const isStanding = async (claim: OwnerClaim) =>
      (await stillClaims(components.store, claim)) ? [claim] : []
    const standing = await pMap(claims, isStanding, { concurrency: READS_AT_ONCE })
    return new Map(standing.flat().map(({ agent_id, domain }) => [agent_id, domainOwner(domain)]))
  }
  return (await onTable(components, (context) => write(context, owners))).changed
}

/** Looks at domains. Leaves out those whose look did not end in time. */
async function looksAt(
  domains: ReadonlySet<string>,
  reach: Reach,
  ending: AbortSignal,
): Promise<Map<string, DomainLook>> {
  const looks = new Map<string, DomainLook>()
  await pMap(
    domains,
    async (domain) => {
      if (ending.aborted) return
      const look = await lookAtDomain(domain, reach, ending)
      if (!ending.aborted) looks.set(domain, look)
    },
    { concurrency: LOOKS_AT_ONCE },
  )
  return looks
}

const NOT_LOOKED = { kind: 'unknown', reason: 'the agent gave it up' } as const
