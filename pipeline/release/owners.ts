// Makes the files of owners. Each lists all agents of an owner, so that anyone who sees one of them sees the
// others too.
import { canonicalText } from '../proof/canonical.ts'
import { GrowingText } from '../proof/growing-text.ts'
import { ownersPath } from '../store/paths.ts'
import { type ListedEntity, type Provenance, instantOf } from './payloads.ts'
import { ENTITIES_PER_SHARD, type OutputFile, type SignBytes, addPublished } from './shards.ts'

/** Room for most files. */
const FILE_BYTES = 2 ** 18

/** Yields the files of all owners, in order of id. `agents` must be in order of id. */
export function* ownerFiles(
  agents: readonly ListedEntity[],
  provenance: Provenance,
  sign: SignBytes,
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

/** Makes a file of owners, given its number from 0. The agents of each owner must be in order of id. */
export function ownerFile(
  number: number,
  owners: readonly (readonly [owner: string, agents: readonly ListedEntity[]])[],
  provenance: Provenance,
  sign: SignBytes,
): OutputFile {
  // An `OwnerShard`, whose members are added in canonical order.
  const text = new GrowingText(FILE_BYTES)
  text.add('{"owners":[')
  for (const [index, [owner, own]] of owners.entries()) {
    if (index > 0) text.add(',')
    addPublished(text, ownerPayload(owner, own, provenance), sign)
  }
  text.add(`],"release":${canonicalText(provenance.release)}}`)
  return {
    path: ownersPath(number),
    rows: owners.length,
    bytes: text.bytes(),
    first_owner_id: owners[0]![0],
  }
}

/**
 * Returns the payload of an owner. `best_skill` and `middle_skill`, the lower median, are over the eligible
 * agents.
 */
function ownerPayload(
  owner_id: string,
  agents: readonly ListedEntity[],
  provenance: Provenance,
): Record<string, unknown> {
  const listed = agents.map((agent) => ({
    agent_id: agent.entityId,
    name: agent.name,
    ...agent.award,
    skill: agent.metrics.skill,
    retired_at: instantOf(agent.retiredAtMs),
  }))
  const eligible = agents.filter(({ metrics }) => metrics.eligible)
  const skills = Float64Array.from(eligible, ({ metrics }) => metrics.skill!).sort()
  const isCertified = ({ award }: ListedEntity) =>
    'certification' in award && award.certification === 'certified'
  return {
    owner_id,
    agents: listed,
    scored_agents: agents.filter(({ pairs }) => pairs > 0).length,
    certified: agents.filter(isCertified).length,
    best_skill: skills.at(-1) ?? null,
    middle_skill: skills[Math.floor((skills.length - 1) / 2)] ?? null,
    ...provenance,
  }
}
