// `fvs stage tally`: stores the boards of every kind of entity. All stages that rank entities need them. The
// tally is private, next to the plan.
import { z } from 'zod'
import { ServiceError } from '../../../schemas/errors.ts'
import { VOICE_RULES, type VoiceRule } from '../../../schemas/payloads.ts'
import { ENTITY_TYPES, type EntityType } from '../../../schemas/tables.ts'
import { canonical, sha256Hex } from '../../proof/canonical.ts'
import { ENTITIES_PER_SHARD } from '../shards.ts'
import { BoardCounts, type KindTally, type Ranked } from '../../scoring/ranking.ts'
import { MICRO } from '../../scoring/round.ts'
import { tallyPath } from '../../store/paths.ts'
import { recordAt, recordBytes } from '../../store/records.ts'
import { type Store, putExactly } from '../../store/store.ts'
import { type Fields, type Input, NULL, formatOf, isSet, linesIn, wholeOf } from './lines.ts'

const TALLY_LINE_COLUMNS = ['entity_type', 'retired', 'pool', 'skill', 'lower', 'upper', 'count'] as const
const TALLY_LINES = formatOf('the tally', TALLY_LINE_COLUMNS, {
  entity_type: 'text',
  retired: 'number',
  pool: 'text',
  skill: 'number',
  lower: 'number',
  upper: 'number',
})
const TALLY_AT = TALLY_LINES.at

const numbers = z.array(z.number()).readonly()
const valueCounts = z.strictObject({ values: numbers, counts: numbers })
const board = z.strictObject({ skills: valueCounts, lowers: valueCounts, uppers: valueCounts })
const kind = z.strictObject({ population: z.number().int(), pools: z.record(z.string(), board) })
const field = z.strictObject({
  voice_rule: z.enum(VOICE_RULES),
  kinds: z.strictObject({ agent: kind, forecaster: kind }),
})

/** The boards on which the entities of a release are ranked. */
export interface FieldOfRelease {
  voiceRule: VoiceRule
  tallies: Record<EntityType, KindTally>
}

function rankedOf(line: Fields): Ranked {
  const isRetired = isSet(line[TALLY_AT.retired]!)
  const pool = line[TALLY_AT.pool]!
  if (pool === NULL) {
    return { isRetired, scores: { eligible: false, pool: null, skill: null, board_interval: null } }
  }
  const scores = {
    eligible: true,
    pool,
    skill: wholeOf(line[TALLY_AT.skill]!) / MICRO,
    board_interval:
      line[TALLY_AT.lower] === NULL
        ? null
        : { lower: wholeOf(line[TALLY_AT.lower]!) / MICRO, upper: wholeOf(line[TALLY_AT.upper]!) / MICRO },
  }
  return { isRetired, scores }
}

function stored({ population, pools }: KindTally): z.infer<typeof kind> {
  return { population, pools: Object.fromEntries(pools) }
}

/** Stores the tally. Returns its SHA-256, by which `readTally` finds it. */
export async function storeTally(
  store: Store,
  release: number,
  voice_rule: VoiceRule,
  input: Input,
): Promise<string> {
  const kinds = { agent: new BoardCounts(), forecaster: new BoardCounts() }
  for await (const lines of linesIn(input, TALLY_LINES)) {
    for (const line of lines) {
      kinds[entityTypeOf(line[TALLY_AT.entity_type]!)].take(rankedOf(line), wholeOf(line[TALLY_AT.count]!))
    }
  }
  const { agent, forecaster } = kinds
  const tally = { voice_rule, kinds: { agent: stored(agent.tally), forecaster: stored(forecaster.tally) } }
  const sha256 = sha256Hex(canonical(tally))
  const path = tallyPath(release, sha256)
  await putExactly(store, path, recordBytes(path, tally))
  return sha256
}

/**
 * @throws ServiceError `notFound` if there is none: publishing the release deletes it.
 */
export async function readTally(store: Store, release: number, sha256: string): Promise<FieldOfRelease> {
  const path = tallyPath(release, sha256)
  const found = await recordAt(store, path, field).get()
  if (!found) throw new ServiceError('notFound', `${path} is not in the store`)
  const tallyIn = ({ population, pools }: z.infer<typeof kind>): KindTally => ({
    population,
    pools: new Map(Object.entries(pools)),
  })
  const { voice_rule: voiceRule, kinds } = found
  return { voiceRule, tallies: { agent: tallyIn(kinds.agent), forecaster: tallyIn(kinds.forecaster) } }
}

/** @throws ServiceError `invalid` for anything but a kind of entity. */
export function entityTypeOf(text: string): EntityType {
  const found = ENTITY_TYPES.find((name) => name === text)
  if (found) return found
  throw new ServiceError('invalid', `${JSON.stringify(text)} is no kind of entity`)
}

/**
 * Returns the range of entities in a shard, given its number through all kinds; undefined beyond the last
 * shard.
 */
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

/** Deletes the tally of a release that is published, because no stage needs it. */
export function deleteTally(store: Store, release: number, sha256: string): Promise<void> {
  return store.delete(tallyPath(release, sha256))
}
