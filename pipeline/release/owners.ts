// What a release says of each owner: all of the owner's agents, so that anyone who is shown one sees the others too.
import type { OwnerShard } from '../../schemas/payloads.ts'
import { canonicalObject, canonicalText, encoded } from '../proof/canonical.ts'
import { ownersPath } from '../store/paths.ts'
import { type ListedEntity, type Provenance, instantOf, rankedSkill } from './payloads.ts'
import { ENTITIES_PER_SHARD, type OutputFile, type Sign, published } from './shards.ts'

/** The files of all owners, in order of id, from the agents in order of id. */
export function* ownerFiles(
  agents: readonly ListedEntity[],
  provenance: Provenance,
  sign: Sign,
): Iterable<OutputFile> {
  const owned = agents.filter(({ ownerId }) => ownerId !== null)
  const owners = [...Map.groupBy(owned, ({ ownerId }) => ownerId!)].sort(([a], [b]) => (a < b ? -1 : 1))
  for (let from = 0; from < owners.length; from += ENTITIES_PER_SHARD) {
    yield ownerFile(
      from / ENTITIES_PER_SHARD,
      owners.slice(from, from + ENTITIES_PER_SHARD),
      provenance,
      sign,
    )
  }
}

/** A file of owners, by its number from 0, each with the agents in order of id. */
export function ownerFile(
  number: number,
  owners: readonly (readonly [owner: string, agents: readonly ListedEntity[]])[],
  provenance: Provenance,
  sign: Sign,
): OutputFile {
  const publications = owners.map(
    ([owner, own]) => published(ownerPayload(owner, own, provenance), sign).text,
  )
  const shard: Record<keyof OwnerShard, string> = {
    release: canonicalText(provenance.release),
    owners: `[${publications.join(',')}]`,
  }
  return {
    path: ownersPath(number),
    rows: owners.length,
    bytes: encoded(canonicalObject(shard)),
    first_owner_id: owners[0]![0],
  }
}

/** `best_skill` and `median_skill`, the lower median, are over the eligible agents. */
function ownerPayload(owner_id: string, agents: readonly ListedEntity[], provenance: Provenance): object {
  const listed = agents.map((agent) => ({
    agent_id: agent.entityId,
    name: agent.name,
    ...agent.award,
    skill: rankedSkill(agent.metrics),
    retired_at: instantOf(agent.retiredAtMs),
  }))
  const skills = Float64Array.from(listed.flatMap(({ skill }) => skill ?? [])).sort()
  const isCertified = ({ award }: ListedEntity) =>
    'certification' in award && ['certified', 'expert'].includes(award.certification)
  return {
    owner_id,
    agents: listed,
    scored_agents: agents.filter(({ pairs }) => pairs > 0).length,
    certified: agents.filter(isCertified).length,
    best_skill: skills.at(-1) ?? null,
    median_skill: skills[Math.floor((skills.length - 1) / 2)] ?? null,
    ...provenance,
  }
}
