// Owners with all of their agents, so that no agent is shown without the others of its owner.
import type { ManifestFile } from '../../../schemas/manifests.ts'
import { canonical } from '../../proof/canonical.ts'
import { padded } from '../../store/paths.ts'
import { listFile, pagesOf } from '../list-file.ts'
import type { OutputFile, SignBytes } from '../output.ts'
import { type ListedEntity, type Provenance, agentFacts, isListed, idMember } from '../payloads.ts'
import { type Input, formatOf, jsonInField, wholeOf } from '../stage/lines.ts'
import type { Publishing } from '../stage/publishing.ts'
import { unitsIn } from '../stage/units.ts'
import type { ScoredKind } from './kind.ts'

export const OWNERS_FOLDER = 'owners/'
const OWNERS_PER_FILE = 256

/** The path of a file, by its number from 0. */
function ownersPath(number: number): string {
  return `${OWNERS_FOLDER}${padded(number, 3)}.json`
}

/** Returns the file that would hold an owner: the last that starts at or before it. */
export function ownersFile(files: readonly ManifestFile[], ownerId: string): ManifestFile | undefined {
  return files.findLast(({ path, first_id: first }) => path.startsWith(OWNERS_FOLDER) && first! <= ownerId)
}

/** Yields the files of all owners, in order of id. `agents` must be in order of id. */
export function* ownerFiles(
  agents: readonly ListedEntity[],
  provenance: Provenance,
  sign: SignBytes,
): Iterable<OutputFile> {
  const owned = agents.filter(({ facts }) => facts.owner_id !== null)
  const owners = [...Map.groupBy(owned, ({ facts }) => facts.owner_id!).values()].sort(byOwner)
  for (const [number, members] of pagesOf(owners, OWNERS_PER_FILE).entries()) {
    yield ownerFile(number, members, provenance, sign)
  }
}

function byOwner([one]: ListedEntity[], [other]: ListedEntity[]): number {
  return one!.facts.owner_id! < other!.facts.owner_id! ? -1 : 1
}

/** Makes a file from the agents of each owner, which must be in order of id. */
function ownerFile(
  number: number,
  owners: readonly ListedEntity[][],
  provenance: Provenance,
  sign: SignBytes,
): OutputFile {
  const rows = owners.map((agents) => {
    const payload = ownerPayload(agents, provenance)
    return { payload, signature: sign(canonical(payload)) }
  })
  return {
    ...listFile(ownersPath(number), 'owners', rows, { release: provenance.release }),
    first_id: owners[0]![0]!.facts.owner_id!,
  }
}

/**
 * Returns the payload of an owner. `best_skill` and `middle_skill`, the lower median, are over the eligible
 * agents.
 */
function ownerPayload(agents: readonly ListedEntity[], provenance: Provenance): Record<string, unknown> {
  const listed = agents.map((agent) => ({
    ...idMember(agent),
    ...agentFacts(agent, ['name', 'retired_at']),
    ...agent.award,
    skill: agent.metrics.skill,
  }))
  const eligible = agents.filter(({ metrics }) => metrics.eligible)
  const skills = Float64Array.from(eligible, ({ metrics }) => metrics.skill!).sort()
  const isCertified = ({ award }: ListedEntity) =>
    'certification' in award && award.certification === 'certified'
  return {
    owner_id: agents[0]!.facts.owner_id,
    agents: listed,
    scored_agents: agents.filter(({ pairs }) => pairs > 0).length,
    certified: agents.filter(isCertified).length,
    best_skill: skills.at(-1) ?? null,
    middle_skill: skills[Math.floor((skills.length - 1) / 2)] ?? null,
    ...provenance,
  }
}

const OWNER_LINE_COLUMNS = ['file', 'owner', 'entity_id', 'content'] as const
const OWNER_LINES = formatOf('an agent of an owner', OWNER_LINE_COLUMNS, {
  file: 'number',
  owner: 'text',
  entity_id: 'text',
})

function publish({ provenance, sign, put }: Publishing, input: Input): AsyncIterable<string> {
  const { at } = OWNER_LINES
  return unitsIn(input, OWNER_LINES, (first) => {
    const agents: ListedEntity[] = []
    return {
      take(fields) {
        agents.push(jsonInField(fields[at.content]!) as ListedEntity)
      },
      end() {
        const owners = [...Map.groupBy(agents, ({ facts }) => facts.owner_id!).values()]
        const file = ownerFile(wholeOf(first[at.file]!), owners, provenance, sign)
        return put(file, { counts: { agents: agents.length } })
      },
    }
  })
}

export const OWNERS: ScoredKind = {
  name: 'owners',
  places: [OWNERS_FOLDER],
  isSigned: true,
  make: ({ ranked, provenance, sign }) =>
    ownerFiles(
      ranked.filter((entity) => entity.entityType === 'agent' && isListed(entity)),
      provenance,
      sign,
    ),
  sizes: { owners_per_file: OWNERS_PER_FILE },
  publish,
  arrange(staged) {
    const files = staged.takeNumbered(ownersPath)
    staged.assertEqual(OWNERS_FOLDER, 'agents', staged.sum('agents', OWNERS_FOLDER), staged.sum('owned'))
    return files
  },
}
