// `fvs stage score`: reads the pairs of entities in order, and prints their scores.
import { Rows } from '../../engine/rows.ts'
import { publishedForm } from '../payloads.ts'
import { listingOf } from '../../scoring/categories.ts'
import { type EntityScores, scoreEntity } from '../../scoring/entity.ts'
import type { Methodology } from '../../scoring/methodology.ts'
import { QUESTION_COLUMNS, SCORED_COLUMNS } from '../../scoring/pairs.ts'
import { MICRO, ratio, roundHalfEven } from '../../scoring/round.ts'
import {
  type Fields,
  type Input,
  NULL,
  formatOf,
  isSet,
  lineOf,
  linesIn,
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
const PAIRS = formatOf('an entity and a question', [...FACTS, 'place', ...PAIR], {
  entity: 'number',
  place: 'number',
})
const AT = PAIRS.at
const NUMBERS = PAIR.map((name) => ({ name, place: AT[name] }))

/** Yields a line for each entity. */
export async function* scoreLines(methodology: Methodology, input: Input): AsyncIterable<string> {
  const pairs = new Rows(SCORED_COLUMNS)
  let facts: Fields | undefined
  const end = (): string => {
    if (!facts) return ''
    const text = (name: (typeof FACTS)[number]) => facts![AT[name]]!
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
    const line = lineOf([text('entity'), pairs.rowCount, ...boardFields(scores), ...numbers])
    pairs.clear()
    return line
  }
  for await (const rows of linesIn(input, PAIRS)) {
    let lines = ''
    for (const row of rows) {
      if (facts?.[AT.entity] !== row[AT.entity]) lines += end()
      facts = row
      if (row[AT.place] !== NULL) take(pairs, row)
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
