// `fvs stage tally`: stores the field of every kind of entity, which all stages that publish must know. The
// tally is private, next to the plan.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { VOICE_RULES, type VoiceRule } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import { canonical, sha256Hex } from '../proof/canonical.ts'
import { ENTITIES_PER_SHARD } from '../release/shards.ts'
import type { Tally } from '../scoring/ranking.ts'
import { UNIT } from '../scoring/strength.ts'
import { tallyPath } from '../store/paths.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import { type Store, putExactly } from '../store/store.ts'
import { type Format, type Input, NULL, inOrderOf, linesIn, strictly, wholeOf } from './lines.ts'

const COLUMNS = ['entity_type', 'skill', 'count'] as const
const TALLY: Format = {
  of: 'the tally',
  columns: COLUMNS,
  compare: strictly(inOrderOf(COLUMNS, { entity_type: 'text', skill: 'number' })),
}

const counted = z.strictObject({
  population: z.number().int(),
  /** In millionths. */
  skills: z.array(z.number()),
  counts: z.array(z.number()),
})
const field = z.strictObject({
  voice_rule: z.enum(VOICE_RULES),
  kinds: z.strictObject({ agent: counted, forecaster: counted }),
})

/** The field in which the entities of a release are ranked. */
export interface FieldOfRelease {
  voiceRule: VoiceRule
  tallies: Record<EntityType, Tally>
}

/** Stores the tally. Returns its SHA-256, by which `readTally` finds it. */
export async function storeTally(
  store: Store,
  release: number,
  voice_rule: VoiceRule,
  input: Input,
): Promise<string> {
  const none = () => ({ population: 0, skills: [] as number[], counts: [] as number[] })
  const kinds = { agent: none(), forecaster: none() }
  for await (const lines of linesIn(input, TALLY)) {
    for (const [entityType, skill, count] of lines as [string, string, string][]) {
      const kind = kinds[entityTypeOf(entityType)]
      if (skill === NULL) kind.population = wholeOf(count)
      else {
        kind.skills.push(wholeOf(skill))
        kind.counts.push(wholeOf(count))
      }
    }
  }
  const tally = { voice_rule, kinds }
  const sha256 = sha256Hex(canonical(tally))
  const path = tallyPath(release, sha256)
  await putExactly(store, path, recordBytes(path, tally))
  return sha256
}

/** @throws ServiceError `notFound` if there is none, as after the release is published. */
export async function readTally(store: Store, release: number, sha256: string): Promise<FieldOfRelease> {
  const path = tallyPath(release, sha256)
  const found = await readRecord(store, path, field)
  if (!found) throw new ServiceError('notFound', `${path} is not in the store`)
  const tallyOf = ({ population, skills, counts }: z.infer<typeof counted>): Tally => ({
    population,
    skills: skills.map((skill) => skill / UNIT),
    counts,
  })
  const { voice_rule: voiceRule, kinds } = found
  return { voiceRule, tallies: { agent: tallyOf(kinds.agent), forecaster: tallyOf(kinds.forecaster) } }
}

/** @throws ServiceError `invalid` for anything but a kind of entity. */
export function entityTypeOf(text: string): EntityType {
  const found = ENTITY_TYPES.find((name) => name === text)
  if (found) return found
  throw new ServiceError('invalid', `${JSON.stringify(text)} is no kind of entity`)
}

/** Returns the entities of a shard, given its number through all kinds; undefined beyond the last. */
export function shardAt(
  { tallies }: FieldOfRelease,
  shard: number,
): { entityType: EntityType; first: number; count: number } | undefined {
  let [before, entities] = [0, 0]
  for (const entityType of ENTITY_TYPES) {
    const { population } = tallies[entityType]
    const shards = Math.ceil(population / ENTITIES_PER_SHARD)
    if (shard < before + shards) {
      const from = (shard - before) * ENTITIES_PER_SHARD
      const count = Math.min(ENTITIES_PER_SHARD, population - from)
      return { entityType, first: entities + from, count }
    }
    before += shards
    entities += population
  }
  return undefined
}
