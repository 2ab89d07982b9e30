// `fvs stage score`: reads the pairs of entities in order, and prints their scores.
import { Rows } from '../engine/rows.ts'
import { publishedForm } from '../release/payloads.ts'
import { listingOf } from '../scoring/categories.ts'
import { type EntityScores, scoreEntity } from '../scoring/entity.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { SCORED_COLUMNS } from '../scoring/pairs.ts'
import { roundHalfEven } from '../scoring/round.ts'
import { UNIT } from '../scoring/strength.ts'
import {
  type Fields,
  type Format,
  type Input,
  NULL,
  inOrderOf,
  isSet,
  lineOf,
  linesIn,
  strictly,
  wholeOf,
  wholeOrNull,
} from './lines.ts'
import { METRICS } from './sweep.ts'

const FACTS = ['entity', 'voice', 'strength', 'pool', 'pool_size', 'owner_agents', 'attempt'] as const
const PAIR = [
  'outcome',
  'settled',
  'cluster_number',
  'category_number',
  'standard',
  'standard_other',
  ...METRICS,
] as const
const COLUMNS = [...FACTS, 'place', ...PAIR]
const PLACE = FACTS.length
const PAIRS: Format = {
  of: 'an entity and a question',
  columns: COLUMNS,
  compare: strictly(inOrderOf(COLUMNS, { entity: 'number', place: 'number' })),
}
const SCORED_NAMES = [
  'outcome',
  'settled',
  'cluster',
  'category',
  'standard',
  'standard_other',
  ...METRICS,
] as const

/** Yields a line for each entity. */
export async function* scoreLines(methodology: Methodology, input: Input): AsyncIterable<string> {
  const pairs = new Rows(SCORED_COLUMNS)
  let facts: Fields | undefined
  const end = (): string => {
    if (!facts) return ''
    const [entity, voice, strength, pool, pool_size, owner_agents, attempt] = facts
    const circumstances = {
      voice: isSet(voice!),
      strength: wholeOf(strength!),
      pool: pool === NULL ? null : pool!,
      pool_size: wholeOrNull(pool_size!),
      owner_agents: wholeOrNull(owner_agents!),
      attempt: wholeOrNull(attempt!),
    }
    const scores = publishedForm(scoreEntity(methodology, pairs, circumstances))
    const listing = publishedForm(listingOf(methodology, pairs))
    const numbers = [scores, listing].map((each) => JSON.stringify(each))
    const line = lineOf([entity!, pairs.rowCount, ...boardFields(scores), ...numbers])
    pairs.clear()
    return line
  }
  for await (const rows of linesIn(input, PAIRS)) {
    let lines = ''
    for (const row of rows) {
      if (facts?.[0] !== row[0]) lines += end()
      facts = row
      if (row[PLACE] !== NULL) take(pairs, row)
    }
    if (lines !== '') yield lines
  }
  yield end()
}

/**
 * The fields that rank an entity: its pool, whether it is a voice, its skill and the ends of its board
 * interval. All are null for an entity that is not eligible.
 */
function boardFields({ eligible, pool, voice, skill, board_interval }: EntityScores) {
  if (!eligible) return [null, null, null, null, null]
  const whole = (value: number | undefined) => (value === undefined ? null : roundHalfEven(value * UNIT))
  return [pool, voice ? 1 : 0, whole(skill!), whole(board_interval?.lower), whole(board_interval?.upper)]
}

function take(pairs: Rows<typeof SCORED_COLUMNS>, row: Fields): void {
  const { columns, row: at } = pairs
  for (const [index, name] of SCORED_NAMES.entries()) columns[name][at] = wholeOf(row[PLACE + 1 + index]!)
  pairs.next()
}
