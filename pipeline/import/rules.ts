// The rules of imported rows: what is wrong with a row, and what its author may have meant. A rule refuses a
// row, or, in an import of a platform's files, leaves it out.
import { idFault, nameFault, proseFault } from '../../schemas/names.ts'
import { EVENT_KINDS, OUTCOMES } from '../../schemas/tables.ts'
import { type Database, literal } from '../duckdb.ts'
import { normal } from './cells.ts'
import { type ImportColumn, isText } from './columns.ts'
import type { ImportOptions } from './options.ts'
import { instantText } from '../tables/columns.ts'
import { isErased } from '../tables/left-out.ts'
import { RESOLVED } from '../tables/views.ts'
import { isVoid, keptOf, valueOf } from './row.ts'
import {
  type Hint,
  type LeavingRule,
  type RefusingRule,
  type Rule,
  hint,
  leaves,
  refuses,
  rule,
  shown,
} from './rule.ts'
import { timeRules } from './time-rules.ts'
import { isWithdrawal, numberOf } from './values.ts'

const ID_FAULT = 'id_fault'
const NAME_FAULT = 'name_fault'
const PROSE_FAULT = 'prose_fault'

/** Defines the functions that the rules call. */
export function defineRules(database: Database): void {
  database.define(ID_FAULT, idFault)
  database.define(NAME_FAULT, nameFault)
  database.define(PROSE_FAULT, proseFault)
}

/** In an operator's file no probability withdraws a forecast. */
const missing = ({ name, holds, ifMissing }: ImportColumn): Rule =>
  holds === 'probability'
    ? { fails: `${name} IS NULL`, ...(ifMissing !== undefined && { leftOut: ifMissing }) }
    : rule(`${name} IS NULL`, `${name} is missing`, { leftOut: ifMissing })

const wordForMissing = ({ name }: ImportColumn) =>
  rule(isVoid(name), `${name} is {${name}}, a word for a missing value`)

const longest = (column: string, characters: number) =>
  rule(
    `coalesce(length(${column}) > ${characters}, false)`,
    `${column} has more than ${characters} characters`,
  )

/** A rule of schemas/names.ts, which registrations follow too: `fault` is the function that says it. */
const ruled = (column: string, fault: string, what: string, fails = `${fault}(${column}) IS NOT NULL`) =>
  rule(fails, `${column} `, {
    ending: `${fault}(${column})`,
    summary: `${column} breaks the rule for ${what}`,
  })

const hasControls = (column: string) =>
  rule(
    `coalesce(regexp_matches(${column}, '[\\x00-\\x1f\\x7f]'), false)`,
    `${column} has a control character`,
  )

/** The value is the text in lower case. */
const uuid = (column: string) =>
  rule(
    `NOT coalesce(try_cast(${column} AS UUID)::VARCHAR = ${valueOf(column)}, false)`,
    `${column} is {${column}}, not a UUID; an id of your own? see --ids`,
  )

/** The most characters of an id that may be any text. */
const ID_CHARACTERS = 500

/**
 * Two ids that look the same must be the same. Most are plain ASCII, which needs no call of a function.
 */
const textId = (column: string): Rule[] => {
  const fails = `CASE WHEN regexp_full_match(${column}, '[ -~]*') THEN false ELSE ${ID_FAULT}(${column}) IS NOT NULL END`
  return [longest(column, ID_CHARACTERS), ruled(column, ID_FAULT, 'ids', fails)]
}

const oneOf = (column: string, values: readonly string[], ending = '') =>
  rule(
    `${valueOf(column)} NOT IN (${values.map(literal).join(', ')})`,
    `${column} is {${column}}, not one of ${values.join(', ')}${ending}`,
  )

/** A row that withdraws nothing has probably the id of a wrong question. */
const withdrawsNothing = rule(
  `${valueOf('outcome')} = 'open' AND ${valueOf('question_id')} NOT IN (SELECT question_id FROM resolutions)`,
  'outcome is {outcome}, but question_id {question_id} has no resolution to withdraw; leave the row out',
  { summary: 'outcome is open, but there is no resolution to withdraw' },
)

/** A file of an agent's forecasts can be written when the outcomes are known; a call of its API cannot. */
const ofAgent = rule(
  `entity_type = 'agent'`,
  `entity_type is {entity_type}, whose forecasts come by its own API alone; import a bot's history as the forecasts of a forecaster`,
  { summary: 'entity_type is agent, whose forecasts come by its own API alone' },
)

/** A row that says whether it withdraws must not contradict its probability. */
const contradicts = (says: string, fails: string, what: string, ending = '') =>
  rule(`${valueOf('withdrawn')} = '${says}' AND ${fails}`, 'withdrawn is {withdrawn}, but probability is ', {
    ending: `coalesce(${shown('probability')}, 'empty') || ${literal(ending)}`,
    summary: `withdrawn is ${says}, but probability ${what}`,
  })

const DECIMAL_COMMA: Hint = ['[-+]?\\d*,\\d+\\s*%?', 'a decimal comma? write a point']
const PERCENTAGE: Hint = [
  '\\+?(\\d{1,2}(\\.\\d*)?|100(\\.0*)?)(\\s*%)?|\\.\\d+\\s*%',
  'a percentage? see --percent',
]

function probability(options: ImportOptions): Rule {
  const most = options.percent ? 100 : 1
  const number = numberOf('probability', options)
  return rule(
    `NOT ${isWithdrawal('probability')}
      AND (contains(probability, '_') OR NOT coalesce(${number} BETWEEN 0 AND ${most}, false))`,
    `probability is {probability}, not a ${options.percent ? 'percentage' : 'number'} from 0 to ${most}`,
    {
      ending: hint('probability', options.percent ? [DECIMAL_COMMA] : [DECIMAL_COMMA, PERCENTAGE]),
      leftOut: 'the probability is not a number from 0 to 1',
    },
  )
}

function valueRules(column: ImportColumn, options: ImportOptions): Rule[] {
  const { name, holds } = column
  switch (holds) {
    case 'id':
      return options.namespace === undefined ? [uuid(name)] : textId(name)
    case 'entityType':
      return [ofAgent, rule(`${name} <> 'forecaster'`, `${name} is {${name}}, not forecaster`)]
    case 'eventKind':
      return [oneOf(name, EVENT_KINDS)]
    case 'position':
      return [
        rule(
          `${name} IS NOT NULL AND ${valueOf(name)} IS NULL`,
          `${name} is {${name}}, not a whole number such as 3`,
        ),
      ]
    case 'outcome':
      return [oneOf(name, OUTCOMES, '; see --outcomes'), withdrawsNothing]
    case 'probability':
      return [probability(options)]
    case 'withdrawal':
      return [
        oneOf(name, ['true', 'false']),
        contradicts('true', 'probability IS NOT NULL', 'is not empty', '; leave it empty'),
        contradicts('false', isWithdrawal('probability'), 'is none'),
      ]
    case 'plan':
    case 'event':
      return timeRules(column, options)
    case 'name':
    case 'key':
    case 'group':
      return [{ ...ruled(name, NAME_FAULT, 'names'), ...(column.ifNoName && { leftOut: column.ifNoName }) }]
    case 'text':
      return [hasControls(name)]
    case 'prose':
      return [ruled(name, PROSE_FAULT, 'texts')]
  }
}

/** A row of a person whose forecasts are erased would count for nothing, and keep what must go. */
const ofErased = (column: string) =>
  rule(
    isErased(valueOf(column)),
    `${column} {${column}} is of a person whose forecasts were erased; leave the row out`,
    { leftOut: 'the forecasts of the forecaster were erased' },
  )

/**
 * The questions of the files that are imported by the same command, and whether they are taken. Grain: one
 * row per question.
 */
export const ASKED_QUESTIONS = 'asked_questions'

/** A question must be known. In a platform's files it may be one of the same command. */
function known(column: string): Rule[] {
  const value = valueOf(column)
  const isUnknown = `${value} NOT IN (SELECT question_id FROM questions)`
  return [
    {
      fails: `${isUnknown} AND ${value} NOT IN (SELECT question_id FROM ${ASKED_QUESTIONS})`,
      leftOut: 'its question is in none of the files and not known',
    },
    {
      fails: `${isUnknown} AND ${value} IN (SELECT question_id FROM ${ASKED_QUESTIONS} WHERE NOT is_taken)`,
      leftOut: 'its question was left out',
    },
    rule(isUnknown, `${column} {${column}} is not a known question; import the question first`),
  ]
}

const unique = (column: string) =>
  rule(
    `record > (SELECT min(record) FROM parsed earlier WHERE earlier.${valueOf(column)} = parsed.${valueOf(column)})`,
    `${column} {${column}} appears a second time`,
  )

const closesAfterOpening = rule(
  `${valueOf('opened_at')} >= ${valueOf('closes_at')}`,
  'closes_at is {closes_at}, not after opened_at {opened_at}',
  { leftOut: 'the question closes before it opens, or as it does' },
)

/** A column of the current row of a table about the question of a row. */
const ofQuestion = (column: string, rows: string) =>
  `(SELECT min(known.${column}) FROM ${rows} known WHERE known.question_id = ${valueOf('question_id')})`

const openedAt = ofQuestion('opened_at', 'current_questions')
/** An outcome that was known before a question opened voids every forecast on it. */
const resolvedAfterOpening = rule(
  `${valueOf('outcome')} <> 'open' AND ${valueOf('resolved_at')} < epoch_ms(${openedAt})
    AND ${valueOf('resolved_at')} IS DISTINCT FROM epoch_ms(${ofQuestion('resolved_at', 'standing')})`,
  'resolved_at is {resolved_at}, before the question opened',
  {
    ending: `' at ' || ${instantText(openedAt)}`,
    leftOut: 'the outcome was known before the question opened',
  },
)

const knownAfterOpening = rule(
  `known_at IS NOT NULL AND ${valueOf('outcome')} <> 'open' AND ${valueOf('known_at')} < epoch_ms(${openedAt})`,
  'known_at is {known_at}, before the question opened',
  {
    ending: `' at ' || ${instantText(openedAt)}`,
    leftOut: 'the outcome was known before the question opened',
  },
)

const resolvedAt = ofQuestion('resolved_at', RESOLVED)
const opensBeforeOutcome = rule(
  `${valueOf('opened_at')} > epoch_ms(${resolvedAt})
    AND ${valueOf('opened_at')} IS DISTINCT FROM epoch_ms(${ofQuestion('opened_at', 'standing')})`,
  'opened_at is {opened_at}, after the outcome became known',
  { ending: `' at ' || ${instantText(resolvedAt)}` },
)

const without = (column: string, other: string) =>
  rule(
    `${valueOf(column)} IS NULL AND ${valueOf(other)} IS NOT NULL`,
    `${column} is missing, although there is a ${other}: a question has both or neither`,
  )

/** The value of a column in the first row of the file that has the same source and `source_id`. */
const firstOfSource = (column: string) => `(SELECT arg_min(first.${column}, first.record) FROM parsed first
  WHERE first.${valueOf('source')} = parsed.${valueOf('source')} AND first.${valueOf('source_id')} = parsed.${valueOf('source_id')})`
/** The known question with the same source and `source_id`, unless the file has a row for it. */
const knownOfSource = `(SELECT min(k.question_id) FROM current_questions k
  WHERE ${normal('k.source')} = ${valueOf('source')} AND ${normal('k.source_id')} = ${valueOf('source_id')}
  AND k.question_id NOT IN (SELECT ${valueOf('question_id')} FROM parsed WHERE question_id IS NOT NULL))`

const takenSource = (fails: string, other: string) =>
  rule(fails, `source_id {${valueOf('source_id')}} of source {${valueOf('source')}} is that of question `, {
    ending: `${other} || ': import it under that question_id, or give it another source_id'`,
    summary: 'source_id is that of another question',
  })

/** Ids of two platforms may be the same text, and must not replace each other's questions. */
const otherSource = rule(
  `source <> ${normal(keptOf('source'))}`,
  `source is {source}, but question_id {question_id} is a question of {${keptOf('source')}}: import it under another question_id or --namespace; if the known source is wrong, first import the question without source and source_id, as empty cells`,
  { summary: 'source is not that of the known question' },
)

/** A question that was asked elsewhere is here only once, and stays the same question. */
const SOURCE_RULES: readonly Rule[] = [
  otherSource,
  without('source', 'source_id'),
  without('source_id', 'source'),
  takenSource(`record > ${firstOfSource('record')}`, firstOfSource('question_id')),
  takenSource(`${knownOfSource} IS NOT NULL`, knownOfSource),
]

const otherMarket = (market: string) =>
  rule(
    `${valueOf('source')} <> ${market}`,
    'source is {source}, but the prices of question_id {question_id} are those of ',
    {
      ending: `${market} || '; one question has the prices of one market'`,
      summary: 'source is not the market that has the prices of the question',
    },
  )

/** A question has one market. */
const MARKET_RULES: readonly Rule[] = [
  otherMarket(ofQuestion('source', 'standing')),
  otherMarket(
    `(SELECT arg_min(first.${valueOf('source')}, first.record) FROM parsed first
      WHERE first.${valueOf('question_id')} = parsed.${valueOf('question_id')})`,
  ),
]

/** Finds the header in the middle, as in a file that was joined from several. */
function isHeader(columns: readonly ImportColumn[], map: ReadonlyMap<string, string>): Rule {
  const same = columns
    .filter(({ required }) => required)
    .map(({ name }) => `coalesce(${name} = ${literal(map.get(name) ?? name)}, false)`)
  return rule(same.join(' AND '), 'the header a second time')
}

/** The rules about the value of one column that is there. */
const columnRules = (column: ImportColumn, options: ImportOptions): Rule[] => [
  ...(column.longest === undefined ? [] : [longest(column.name, column.longest)]),
  ...valueRules(column, options),
  ...(column.name === 'user_id' || column.name === 'entity_id' ? [ofErased(column.name)] : []),
  ...(column.known ? known(column.name) : []),
]

/** The rules about several columns of a row. */
const rowRules = (columns: readonly ImportColumn[]): Rule[] => [
  ...(columns.some(({ name }) => name === 'opened_at') ? [closesAfterOpening, opensBeforeOutcome] : []),
  ...(columns.some(({ name }) => name === 'resolved_at') ? [resolvedAfterOpening, knownAfterOpening] : []),
]

/** Returns the rules by which rows are refused. The first one that fails is the reason. */
export function refusingRules(columns: readonly ImportColumn[], options: ImportOptions): RefusingRule[] {
  const required = columns.filter((column) => column.required)
  return [
    isHeader(columns, options.map),
    ...required.map(missing),
    ...required.filter((column) => isText(column, options.namespace !== undefined)).map(wordForMissing),
    ...columns.flatMap((column) => columnRules(column, options)),
    ...rowRules(columns),
    ...columns.filter((column) => column.unique).map(({ name }) => unique(name)),
    ...(['question_id', 'source_id'].every((name) => columns.some((column) => column.name === name))
      ? SOURCE_RULES
      : []),
    ...(columns.some(({ name }) => name === 'priced_at') ? MARKET_RULES : []),
  ].filter(refuses)
}

/**
 * Returns the rules by which rows of a platform's files are left out. The first one that fails is the reason:
 * a row of a question that is left out says so before anything else.
 */
export function leavingRules(columns: readonly ImportColumn[], options: ImportOptions): LeavingRule[] {
  const ofQuestions = columns.filter((column) => column.known)
  return [
    ...[...ofQuestions, ...columns.filter((column) => !column.known)].flatMap((column) => [
      missing(column),
      ...columnRules(column, options),
    ]),
    ...rowRules(columns),
  ].filter(leaves)
}
