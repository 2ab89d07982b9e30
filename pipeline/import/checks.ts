// Checks the rows of an operator's file, and says what is wrong with a row and what its author may have
// meant.
import { idFault, nameFault, proseFault } from '../../schemas/names.ts'
import { OUTCOMES } from '../../schemas/tables.ts'
import { literal } from '../duckdb.ts'
import { isVoid, normal } from './cells.ts'
import { type ImportColumn, isText } from './columns.ts'
import type { ImportOptions } from './options.ts'
import { instantText } from '../tables/columns.ts'
import { isErased } from '../tables/left-out.ts'
import { RESOLVED } from '../tables/views.ts'
import { LOCAL, isWithdrawal, keptOf, localOf, numberOf, valueOf } from './values.ts'

/** A check of one row of `parsed`. */
export interface Check {
  /** An SQL condition that is true for a bad row. */
  fails: string
  /** The fault, without the value. Rows are counted by it. */
  summary: string
  /** The SQL of the fault, with the value and a hint. */
  reason: string
}

const ID_FAULT = 'id_fault'
const NAME_FAULT = 'name_fault'
const PROSE_FAULT = 'prose_fault'

/** Functions that the checks call. */
export const CHECK_FUNCTIONS = { [ID_FAULT]: idFault, [NAME_FAULT]: nameFault, [PROSE_FAULT]: proseFault }

const SHOWN_CHARACTERS = 80
const shown = (column: string) =>
  `'"' || CASE WHEN length(${column}) > ${SHOWN_CHARACTERS} THEN left(${column}, ${SHOWN_CHARACTERS}) || '…' ELSE ${column} END || '"'`

/**
 * Returns the end of a reason: what the author may have meant, by the first pattern that the value matches.
 */
function hint(column: string, hints: readonly (readonly [pattern: string, text: string])[]): string {
  const cases = hints.map(
    ([pattern, text]) =>
      `WHEN regexp_full_match(${column}, ${literal(pattern)}) THEN ${literal(`; ${text}`)}`,
  )
  return cases.length === 0 ? '' : ` || CASE ${cases.join(' ')} ELSE '' END`
}

const plain = (fails: string, summary: string): Check => ({ fails, summary, reason: literal(summary) })

/** A check whose reason shows the value. */
const wrong = (column: string, fails: string, what: string, ending = ''): Check => ({
  fails,
  summary: `${column} is ${what}`,
  reason: `'${column} is ' || ${shown(column)} || ${literal(`, ${what}`)}${ending}`,
})

const missing = ({ name }: ImportColumn) => plain(`${name} IS NULL`, `${name} is missing`)

const wordForMissing = ({ name }: ImportColumn) => wrong(name, isVoid(name), 'a word for a missing value')

const longest = (column: string, characters: number) =>
  plain(
    `coalesce(length(${column}) > ${characters}, false)`,
    `${column} has more than ${characters} characters`,
  )

/** The rule of schemas/names.ts, which registrations follow too. */
const named = (column: string): Check => ({
  fails: `${NAME_FAULT}(${column}) IS NOT NULL`,
  summary: `${column} breaks the rule for names`,
  reason: `'${column} ' || ${NAME_FAULT}(${column})`,
})

/** The rule of schemas/names.ts for texts of many lines. */
const prose = (column: string): Check => ({
  fails: `${PROSE_FAULT}(${column}) IS NOT NULL`,
  summary: `${column} breaks the rule for texts`,
  reason: `'${column} ' || ${PROSE_FAULT}(${column})`,
})

const hasControls = (column: string) =>
  plain(
    `coalesce(regexp_matches(${column}, '[\\x00-\\x1f\\x7f]'), false)`,
    `${column} has a control character`,
  )

/** The value is the text in lower case. */
const uuid = (column: string) =>
  wrong(
    column,
    `NOT coalesce(try_cast(${column} AS UUID)::VARCHAR = ${valueOf(column)}, false)`,
    'not a UUID',
    ` || '; an id of your own? see --ids'`,
  )

/** The most characters of an id that may be any text. */
const ID_CHARACTERS = 500

/**
 * Checks an id that may be any text: two ids that look the same must be the same. Most are plain ASCII, which
 * needs no call of a function.
 */
const textId = (column: string): Check[] => [
  longest(column, ID_CHARACTERS),
  {
    fails: `CASE WHEN regexp_full_match(${column}, '[ -~]*') THEN false ELSE ${ID_FAULT}(${column}) IS NOT NULL END`,
    summary: `${column} breaks the rule for ids`,
    reason: `'${column} ' || ${ID_FAULT}(${column})`,
  },
]

const oneOf = (column: string, values: readonly string[], ending: string) =>
  wrong(
    column,
    `${valueOf(column)} NOT IN (${values.map(literal).join(', ')})`,
    `not one of ${values.join(', ')}`,
    ending,
  )

/** A row that withdraws nothing has probably the id of a wrong question. */
const withdrawsNothing = (column: string): Check => ({
  fails: `${valueOf(column)} = 'open' AND ${valueOf('question_id')} NOT IN (SELECT question_id FROM resolutions)`,
  summary: `${column} is open, but there is no resolution to withdraw`,
  reason: `'${column} is ' || ${shown(column)} || ', but question_id ' || ${shown('question_id')}
    || ' has no resolution to withdraw; leave the row out'`,
})

/** A file of an agent's forecasts can be written when the outcomes are known; a call of its API cannot. */
const ofAgent = (column: string): Check => ({
  fails: `${column} = 'agent'`,
  summary: `${column} is agent, whose forecasts come by its own API alone`,
  reason: literal(
    `${column} is "agent", whose forecasts come by its own API alone; import a bot's history as the forecasts of a forecaster`,
  ),
})

/** Checks a row that says whether it withdraws against its probability. */
const contradicts = (column: string, says: string, fails: string, what: string, ending = ''): Check => ({
  fails: `${valueOf(column)} = '${says}' AND ${fails}`,
  summary: `${column} is ${says}, but probability ${what}`,
  reason: `'${column} is ' || ${shown(column)} || ', but probability is ' || coalesce(${shown('probability')}, 'empty')${ending}`,
})

function probability(column: string, options: ImportOptions): Check {
  const most = options.percent ? 100 : 1
  const number = numberOf(column, options)
  const comma = ['[-+]?\\d*,\\d+\\s*%?', 'a decimal comma? write a point'] as const
  const percent = [
    '\\+?(\\d{1,2}(\\.\\d*)?|100(\\.0*)?)(\\s*%)?|\\.\\d+\\s*%',
    'a percentage? see --percent',
  ] as const
  return wrong(
    column,
    `NOT ${isWithdrawal(column)}
      AND (contains(${column}, '_') OR NOT coalesce(${number} BETWEEN 0 AND ${most}, false))`,
    options.percent ? 'not a percentage from 0 to 100' : 'not a number from 0 to 1',
    hint(column, options.percent ? [comma] : [comma, percent]),
  )
}

const DAY = '\\d{4}-\\d{2}-\\d{2}'
const WRITE = 'write 2026-01-31T12:00:00Z'
/** The possible meanings of a wrong time, from the most to the least particular. */
const TIME_HINTS = [
  [DAY, 'a day? see --days, or write which time of it'],
  ['[2-7]\\d{4}([.,]\\d+)?', "Excel's number of a day? format the column as yyyy-mm-dd hh:mm:ss"],
  ['\\d{9,10}([.,]\\d*)?|1\\.\\d+[eE]\\+?0?9', 'seconds since 1970? see --epoch s'],
  ['\\d{12,13}([.,]\\d*)?|1\\.\\d+[eE]\\+?12', 'milliseconds since 1970? see --epoch ms'],
  ['\\d{15,16}([.,]\\d*)?|1\\.\\d+[eE]\\+?15', 'microseconds since 1970? see --epoch us'],
  ['\\d{18,19}([.,]\\d*)?|1\\.\\d+[eE]\\+?18', `nanoseconds since 1970? ${WRITE}`],
  [
    '(?i).*\\d[ \\x{a0}\\x{202f}]?[ap]\\.?m\\.?( .*)?',
    'a clock of twelve hours? write 2026-01-31T16:34:00Z for 4:34 PM',
  ],
  ['\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}.*', 'day and month may be either? write 2026-01-31'],
  [`${DAY}.*:\\d{2}.* ?[A-Za-z]{2,}.*`, 'the name of a zone? write Z for UTC, or an offset'],
] as const

function times({ name, holds }: ImportColumn, { timezone }: ImportOptions): Check[] {
  const value = valueOf(name)
  const outOfRange = `coalesce(${value} NOT BETWEEN 0 AND ${Date.UTC(2200, 0, 1) - 1}, true)`
  const local = `regexp_full_match(${name}, ${LOCAL})`
  const noZone = `CASE WHEN ${local} AND ${localOf(name)} IS NOT NULL THEN '; no zone? see --timezone' ELSE '' END`
  // The patterns are compared for times without a value only.
  const isNone = `CASE WHEN ${value} IS NULL THEN NOT ${local} OR ${localOf(name)} IS NULL ELSE false END`
  const checks =
    timezone === undefined
      ? [
          wrong(
            name,
            outOfRange,
            'not a time with an offset such as 2026-01-31T12:00:00Z',
            ` || ${noZone}${hint(name, TIME_HINTS)}`,
          ),
        ]
      : [
          wrong(name, isNone, 'not a time such as 2026-01-31 12:00:00', hint(name, TIME_HINTS)),
          wrong(
            name,
            `${value} IS NULL`,
            `a time that the clocks of ${timezone} skip`,
            ` || '; write it with an offset'`,
          ),
          wrong(
            name,
            `${local} AND comes_twice(${localOf(name)})`,
            `a time that the clocks of ${timezone} show twice`,
            ` || '; write it with an offset'`,
          ),
          wrong(name, outOfRange, 'not between 1970 and 2199'),
        ]
  return holds === 'plan'
    ? checks
    : [...checks, wrong(name, `${value} > epoch_ms(getvariable('now'))`, 'later than now')]
}

function checksOf(column: ImportColumn, options: ImportOptions): Check[] {
  const { name, holds } = column
  switch (holds) {
    case 'id':
      return options.namespace === undefined ? [uuid(name)] : textId(name)
    case 'entityType':
      return [ofAgent(name), wrong(name, `${name} <> 'forecaster'`, 'not forecaster')]
    case 'outcome':
      return [oneOf(name, OUTCOMES, ` || '; see --outcomes'`), withdrawsNothing(name)]
    case 'probability':
      return [probability(name, options)]
    case 'withdrawal':
      return [
        oneOf(name, ['true', 'false'], ''),
        contradicts(name, 'true', 'probability IS NOT NULL', 'is not empty', ` || '; leave it empty'`),
        contradicts(name, 'false', isWithdrawal('probability'), 'is none'),
      ]
    case 'plan':
    case 'event':
      return times(column, options)
    case 'name':
    case 'key':
    case 'group':
      return [named(name)]
    case 'text':
      return [hasControls(name)]
    case 'prose':
      return [prose(name)]
  }
}

/** A row of a person whose forecasts are erased would count for nothing, and keep what must go. */
const ofErased = (column: string): Check => ({
  fails: isErased(valueOf(column)),
  summary: `${column} is of a person whose forecasts were erased`,
  reason: `'${column} ' || ${shown(column)} || ' is of a person whose forecasts were erased; leave the row out'`,
})

/** Returns the checks of a row against the other rows of the file and against the tables. */
function relations({ name, known, unique }: ImportColumn): Check[] {
  const value = valueOf(name)
  const checks: Check[] = []
  if (known) {
    checks.push({
      fails: `${value} NOT IN (SELECT question_id FROM questions)`,
      summary: `${name} is not a known question`,
      reason: `'${name} ' || ${shown(name)} || ' is not a known question; import the question first'`,
    })
  }
  if (unique) {
    checks.push({
      fails: `record > (SELECT min(record) FROM parsed earlier WHERE earlier.${value} = parsed.${value})`,
      summary: `${name} appears a second time`,
      reason: `'${name} ' || ${shown(name)} || ' appears a second time'`,
    })
  }
  return checks
}

const closesAfterOpening: Check = {
  fails: `${valueOf('opened_at')} >= ${valueOf('closes_at')}`,
  summary: 'closes_at is not after opened_at',
  reason: `'closes_at is ' || ${shown('closes_at')} || ', not after opened_at ' || ${shown('opened_at')}`,
}

/** A column of the current row of a table about the question of a row. */
const ofQuestion = (column: string, rows: string) =>
  `(SELECT min(known.${column}) FROM ${rows} known WHERE known.question_id = ${valueOf('question_id')})`

const openedAt = ofQuestion('opened_at', 'current_questions')
/** An outcome that was known before a question opened voids every forecast on it. */
const resolvedAfterOpening: Check = {
  fails: `${valueOf('outcome')} <> 'open' AND ${valueOf('resolved_at')} < epoch_ms(${openedAt})
    AND ${valueOf('resolved_at')} IS DISTINCT FROM epoch_ms(${ofQuestion('resolved_at', 'standing')})`,
  summary: 'resolved_at is before the question opened',
  reason: `'resolved_at is ' || ${shown('resolved_at')} || ', before the question opened at ' || ${instantText(openedAt)}`,
}

const resolvedAt = ofQuestion('resolved_at', RESOLVED)
const opensBeforeOutcome: Check = {
  fails: `${valueOf('opened_at')} > epoch_ms(${resolvedAt})
    AND ${valueOf('opened_at')} IS DISTINCT FROM epoch_ms(${ofQuestion('opened_at', 'standing')})`,
  summary: 'opened_at is after the outcome became known',
  reason: `'opened_at is ' || ${shown('opened_at')} || ', after the outcome became known at ' || ${instantText(resolvedAt)}`,
}

const without = (column: string, other: string): Check =>
  plain(
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

const takenSource = (fails: string, other: string): Check => ({
  fails,
  summary: 'source_id is that of another question',
  reason: `'source_id ' || ${shown(valueOf('source_id'))} || ' of source ' || ${shown(valueOf('source'))} || ' is that of question ' || ${other}
    || ': import it under that question_id, or give it another source_id'`,
})

/** Ids of two platforms may be the same text, and must not replace each other's questions. */
const otherSource: Check = {
  fails: `source <> ${normal(keptOf('source'))}`,
  summary: 'source is not that of the known question',
  reason: `'source is ' || ${shown('source')} || ', but question_id ' || ${shown('question_id')} || ' is a question of '
    || ${shown(keptOf('source'))} || ': import it under another question_id or --namespace; if the known source is wrong, first import the question without source and source_id, as empty cells'`,
}

/** Checks that a question that was asked elsewhere is here only once, and stays the same question. */
const SOURCE_CHECKS: readonly Check[] = [
  otherSource,
  without('source', 'source_id'),
  without('source_id', 'source'),
  takenSource(`record > ${firstOfSource('record')}`, firstOfSource('question_id')),
  takenSource(`${knownOfSource} IS NOT NULL`, knownOfSource),
]

/** Finds the header in the middle, as in a file that was joined from several. */
function isHeader(columns: readonly ImportColumn[], map: ReadonlyMap<string, string>): Check {
  const same = columns
    .filter(({ required }) => required)
    .map(({ name }) => `coalesce(${name} = ${literal(map.get(name) ?? name)}, false)`)
  return plain(same.join(' AND '), 'the header a second time')
}

/** Returns the checks of a row. The first one that fails is the reason of a bad row. */
export function rowChecks(columns: readonly ImportColumn[], options: ImportOptions): Check[] {
  const opens = columns.some(({ name }) => name === 'opened_at')
  return [
    isHeader(columns, options.map),
    ...columns.filter(({ required, holds }) => required && holds !== 'probability').map(missing),
    ...columns
      .filter((column) => column.required && isText(column, options.namespace !== undefined))
      .map(wordForMissing),
    ...columns.flatMap((column) => [
      ...(column.longest === undefined ? [] : [longest(column.name, column.longest)]),
      ...checksOf(column, options),
      ...(column.name === 'user_id' || column.name === 'entity_id' ? [ofErased(column.name)] : []),
      ...relations({ ...column, unique: false }),
    ]),
    ...(opens ? [closesAfterOpening, opensBeforeOutcome] : []),
    ...(columns.some(({ name }) => name === 'resolved_at') ? [resolvedAfterOpening] : []),
    ...columns.flatMap((column) => relations({ ...column, known: false })),
    ...(columns.some(({ name }) => name === 'source_id') ? SOURCE_CHECKS : []),
  ]
}

/**
 * Grain: one row per bad row, with its record number (from 0) and the index of the first check that fails.
 * The index is computed for bad rows only, because that takes longer than finding out whether a row is bad.
 */
export function faultsQuery(checks: readonly Check[]): string {
  const any = checks.map(({ fails }) => `(${fails})`).join('\n OR ')
  const cases = checks.map(({ fails }, index) => `WHEN ${fails} THEN ${index}`).join('\n')
  return `SELECT record, CASE ${cases} END AS failed FROM (SELECT * FROM parsed WHERE ${any}) parsed`
}

/** The reasons of the first bad rows of the table `fault`. Grain: one row per bad row. */
export function reasonsQuery(checks: readonly Check[], most: number): string {
  const cases = checks.map(({ reason }, index) => `WHEN ${index} THEN ${reason}`).join('\n')
  return `SELECT record, CASE failed ${cases} END AS reason
    FROM (FROM fault ORDER BY record LIMIT ${most}) JOIN parsed USING (record) ORDER BY record`
}
