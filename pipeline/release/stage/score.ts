// `fvs stage score`: reads the pairs of entities in order, and prints their scores.
import { Rows } from '../../engine/rows.ts'
import { publishedForm } from '../payloads.ts'
import { listingOf } from '../../scoring/categories.ts'
import { type EntityScores, scoreEntity } from '../../scoring/entity.ts'
import type { Methodology } from '../../scoring/methodology.ts'
import { PAIR_METRIC_NAMES, QUESTION_COLUMNS, SCORED_COLUMNS } from '../../scoring/pairs.ts'
import { MICRO, ratio, roundHalfEven } from '../../scoring/round.ts'
import {
  type Fields,
  type Input,
  NULL,
  formatOf,
  isSet,
  lineOfFields,
  linesIn,
  wholeOf,
  wholeOrNull,
} from './lines.ts'

const ENTITY_FACTS = [
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
const PAIR = [
  ...(Object.keys(QUESTION_COLUMNS) as (keyof typeof QUESTION_COLUMNS)[]),
  ...PAIR_METRIC_NAMES,
] as const
const PAIR_LINES = formatOf('an entity and a question', [...ENTITY_FACTS, 'place', ...PAIR], {
  entity: 'number',
  place: 'number',
})
const PAIR_AT = PAIR_LINES.at
const NUMBERS = PAIR.map((name) => ({ name, place: PAIR_AT[name] }))

/** Yields a line for each entity. */
export async function* scoreLines(methodology: Methodology, input: Input): AsyncIterable<string> {
  const pairs = new Rows(SCORED_COLUMNS)
  let facts: Fields | undefined
  const end = (): string => {
    if (!facts) return ''
    const text = (name: (typeof ENTITY_FACTS)[number]) => facts![PAIR_AT[name]]!
    const offered_questions = wholeOf(text('offered'))
    const circumstances = {
      voice: isSet(text('voice')),
      pool: text('pool') === NULL ? null : text('pool'),
      pool_size: wholeOrNull(text('pool_size')),
      owner_agents: wholeOrNull(text('owner_agents')),
      attempt: wholeOrNull(text('attempt')),
      offered_questions,
      answered_share: ratio(wholeOf(text('answered')), offered_questions),
      isRetired: isSet(text('retired')),
    }
    const scores = publishedForm(scoreEntity(methodology, pairs, circumstances))
    const listing = publishedForm(listingOf(methodology, pairs))
    const numbers = [scores, listing].map((each) => JSON.stringify(each))
    const line = lineOfFields([text('entity'), pairs.rowCount, ...boardFields(scores), ...numbers])
    pairs.clear()
    return line
  }
  for await (const rows of linesIn(input, PAIR_LINES)) {
    let lines = ''
    for (const row of rows) {
      if (facts?.[PAIR_AT.entity] !== row[PAIR_AT.entity]) lines += end()
      facts = row
      if (row[PAIR_AT.place] !== NULL) take(pairs, row)
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
  for (const { name, place } of NUMBERS) columns[name][at] = wholeOf(row[place]!)
  pairs.next()
}
