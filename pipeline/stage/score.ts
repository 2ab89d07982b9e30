// `fvs stage score`: reads the pairs of entities in order, and prints their scores.
import { Rows } from '../engine/rows.ts'
import { publishedForm } from '../release/payloads.ts'
import { listingOf } from '../scoring/categories.ts'
import { type EntityScores, scoreEntity } from '../scoring/entity.ts'
import type { Methodology } from '../scoring/methodology.ts'
import { QUESTION_COLUMNS, SCORED_COLUMNS } from '../scoring/pairs.ts'
import { MICRO, ratio, roundHalfEven } from '../scoring/round.ts'
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

const FACTS = [
  'entity',
  'voice',
  'pool',
  'pool_size',
  'owner_agents',
  'attempt',
  'offered',
  'answered',
  'retired',
] as const
const PAIR = [...(Object.keys(QUESTION_COLUMNS) as (keyof typeof QUESTION_COLUMNS)[]), ...METRICS] as const
const COLUMNS = [...FACTS, 'place', ...PAIR]
const PLACE = FACTS.length
const PAIRS: Format = {
  of: 'an entity and a question',
  columns: COLUMNS,
  compare: strictly(inOrderOf(COLUMNS, { entity: 'number', place: 'number' })),
}
/** Yields a line for each entity. */
export async function* scoreLines(methodology: Methodology, input: Input): AsyncIterable<string> {
  const pairs = new Rows(SCORED_COLUMNS)
  let facts: Fields | undefined
  const end = (): string => {
    if (!facts) return ''
    const [entity, voice, pool, pool_size, owner_agents, attempt, offered, answered, retired] = facts
    const offered_questions = wholeOf(offered!)
    const circumstances = {
      voice: isSet(voice!),
      pool: pool === NULL ? null : pool!,
      pool_size: wholeOrNull(pool_size!),
      owner_agents: wholeOrNull(owner_agents!),
      attempt: wholeOrNull(attempt!),
      offered_questions,
      answered_share: ratio(wholeOf(answered!), offered_questions),
      isRetired: isSet(retired!),
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
 * The fields that rank an entity: its pool, its skill and the ends of its board interval. All are null for an
 * entity that is not eligible.
 */
function boardFields({ eligible, pool, skill, board_interval }: EntityScores) {
  if (!eligible) return [null, null, null, null]
  const whole = (value: number | undefined) => (value === undefined ? null : roundHalfEven(value * MICRO))
  return [pool, whole(skill!), whole(board_interval?.lower), whole(board_interval?.upper)]
}

function take(pairs: Rows<typeof SCORED_COLUMNS>, row: Fields): void {
  const { columns, row: at } = pairs
  for (const [index, name] of PAIR.entries()) columns[name][at] = wholeOf(row[PLACE + 1 + index]!)
  pairs.next()
}
