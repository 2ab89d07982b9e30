// The rules of imported rows: what is wrong with a row, and what its author may have meant. A rule refuses a
// row, or, in an import of a platform's files, leaves it out.
import { idFault, nameFault, proseFault } from '../../schemas/names.ts'
import { OUTCOMES } from '../../schemas/tables.ts'
import { literal } from '../duckdb.ts'
import { normal } from './cells.ts'
import { type ImportColumn, isText } from './columns.ts'
import type { ImportOptions } from './options.ts'
import { instantText } from '../tables/columns.ts'
import { isErased } from '../tables/left-out.ts'
import { RESOLVED } from '../tables/views.ts'
import { isVoid, keptOf, valueOf } from './row.ts'
import { LOCAL, isWithdrawal, localOf, numberOf } from './values.ts'

/** A rule about one row of `parsed`. */
export interface Rule {
  /** An SQL condition that is true for a bad row. */
  fails: string
  /** How a row is refused; undefined for a rule that only leaves rows out. */
  refusal?: Refusal
  /** The reason to leave a row of a platform's files out; undefined for a rule that refuses it too. */
  leftOut?: string
}

interface Refusal {
  /** The fault, without the value. Rows are counted by it. */
  summary: string
  /** The SQL of the fault, with the value and a hint. */
  reason: string
}

const ID_FAULT = 'id_fault'
const NAME_FAULT = 'name_fault'
const PROSE_FAULT = 'prose_fault'

/** Functions that the rules call. */
export const RULE_FUNCTIONS = { [ID_FAULT]: idFault, [NAME_FAULT]: nameFault, [PROSE_FAULT]: proseFault }

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

const refusing = (fails: string, summary: string, reason: string): Rule => ({
  fails,
  refusal: { summary, reason },
})

const plain = (fails: string, summary: string) => refusing(fails, summary, literal(summary))

/** A rule whose reason shows the value. */
const wrong = (column: string, fails: string, what: string, ending = '') =>
  refusing(
    fails,
    `${column} is ${what}`,
    `'${column} is ' || ${shown(column)} || ${literal(`, ${what}`)}${ending}`,
  )

/** The same rule in an import that leaves rows out. */
const leaving = (rule: Rule, leftOut: string | undefined): Rule =>
  leftOut === undefined ? rule : { ...rule, leftOut }

/** In an operator's file no probability withdraws a forecast. */
const missing = ({ name, holds, ifMissing }: ImportColumn): Rule =>
  holds === 'probability'
    ? leaving({ fails: `${name} IS NULL` }, ifMissing)
    : leaving(plain(`${name} IS NULL`, `${name} is missing`), ifMissing)

const wordForMissing = ({ name }: ImportColumn) => wrong(name, isVoid(name), 'a word for a missing value')

const longest = (column: string, characters: number) =>
  plain(
    `coalesce(length(${column}) > ${characters}, false)`,
    `${column} has more than ${characters} characters`,
  )

/** A rule of schemas/names.ts, which registrations follow too: `fault` is the function that says it. */
const ruled = (column: string, fault: string, what: string, fails = `${fault}(${column}) IS NOT NULL`) =>
  refusing(fails, `${column} breaks the rule for ${what}`, `'${column} ' || ${fault}(${column})`)

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
 * Two ids that look the same must be the same. Most are plain ASCII, which needs no call of a function.
 */
const textId = (column: string): Rule[] => [
  longest(column, ID_CHARACTERS),
  ruled(
    column,
    ID_FAULT,
    'ids',
    `CASE WHEN regexp_full_match(${column}, '[ -~]*') THEN false ELSE ${ID_FAULT}(${column}) IS NOT NULL END`,
  ),
]

const oneOf = (column: string, values: readonly string[], ending: string) =>
  wrong(
    column,
    `${valueOf(column)} NOT IN (${values.map(literal).join(', ')})`,
    `not one of ${values.join(', ')}`,
    ending,
  )

/** A row that withdraws nothing has probably the id of a wrong question. */
const withdrawsNothing = (column: string) =>
  refusing(
    `${valueOf(column)} = 'open' AND ${valueOf('question_id')} NOT IN (SELECT question_id FROM resolutions)`,
    `${column} is open, but there is no resolution to withdraw`,
    `'${column} is ' || ${shown(column)} || ', but question_id ' || ${shown('question_id')}
      || ' has no resolution to withdraw; leave the row out'`,
  )

/** A file of an agent's forecasts can be written when the outcomes are known; a call of its API cannot. */
const ofAgent = (column: string) =>
  refusing(
    `${column} = 'agent'`,
    `${column} is agent, whose forecasts come by its own API alone`,
    literal(
      `${column} is "agent", whose forecasts come by its own API alone; import a bot's history as the forecasts of a forecaster`,
    ),
  )

/** A row that says whether it withdraws must not contradict its probability. */
const contradicts = (column: string, says: string, fails: string, what: string, ending = '') =>
  refusing(
    `${valueOf(column)} = '${says}' AND ${fails}`,
    `${column} is ${says}, but probability ${what}`,
    `'${column} is ' || ${shown(column)} || ', but probability is ' || coalesce(${shown('probability')}, 'empty')${ending}`,
  )

function probability(column: string, options: ImportOptions): Rule {
  const most = options.percent ? 100 : 1
  const number = numberOf(column, options)
  const comma = ['[-+]?\\d*,\\d+\\s*%?', 'a decimal comma? write a point'] as const
  const percent = [
    '\\+?(\\d{1,2}(\\.\\d*)?|100(\\.0*)?)(\\s*%)?|\\.\\d+\\s*%',
    'a percentage? see --percent',
  ] as const
  const rule = wrong(
    column,
    `NOT ${isWithdrawal(column)}
      AND (contains(${column}, '_') OR NOT coalesce(${number} BETWEEN 0 AND ${most}, false))`,
    options.percent ? 'not a percentage from 0 to 100' : 'not a number from 0 to 1',
    hint(column, options.percent ? [comma] : [comma, percent]),
  )
  return leaving(rule, 'the probability is not a number from 0 to 1')
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

function times({ name, holds, ifLate }: ImportColumn, { timezone }: ImportOptions): Rule[] {
  const value = valueOf(name)
  const outOfRange = `coalesce(${value} NOT BETWEEN 0 AND ${Date.UTC(2200, 0, 1) - 1}, true)`
  const local = `regexp_full_match(${name}, ${LOCAL})`
  const noZone = `CASE WHEN ${local} AND ${localOf(name)} IS NOT NULL THEN '; no zone? see --timezone' ELSE '' END`
  // The patterns are compared for times without a value only.
  const isNone = `CASE WHEN ${value} IS NULL THEN NOT ${local} OR ${localOf(name)} IS NULL ELSE false END`
  const rules =
    timezone === undefined
      ? [
          leaving(
            wrong(
              name,
              outOfRange,
              'not a time with an offset such as 2026-01-31T12:00:00Z',
              ` || ${noZone}${hint(name, TIME_HINTS)}`,
            ),
            'a time is before 1970 or after 2199',
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
  if (holds === 'plan') return rules
  return [...rules, leaving(wrong(name, `${value} > epoch_ms(getvariable('now'))`, 'later than now'), ifLate)]
}

function valueRules(column: ImportColumn, options: ImportOptions): Rule[] {
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
      return [leaving(ruled(name, NAME_FAULT, 'names'), column.ifNoName)]
    case 'text':
      return [hasControls(name)]
    case 'prose':
      return [ruled(name, PROSE_FAULT, 'texts')]
  }
}

/** A row of a person whose forecasts are erased would count for nothing, and keep what must go. */
const ofErased = (column: string) =>
  leaving(
    refusing(
      isErased(valueOf(column)),
      `${column} is of a person whose forecasts were erased`,
      `'${column} ' || ${shown(column)} || ' is of a person whose forecasts were erased; leave the row out'`,
    ),
    'the forecasts of the forecaster were erased',
  )

/**
 * The questions of the files that are imported by the same command, and whether they are taken. Grain: one
 * row per question.
 */
export const ASKED = 'asked_questions'

/** A question must be known. In a platform's files it may be one of the same command. */
function known(column: string): Rule[] {
  const value = valueOf(column)
  const isUnknown = `${value} NOT IN (SELECT question_id FROM questions)`
  return [
    {
      fails: `${isUnknown} AND ${value} NOT IN (SELECT question_id FROM ${ASKED})`,
      leftOut: 'its question is in none of the files and not known',
    },
    {
      fails: `${isUnknown} AND ${value} IN (SELECT question_id FROM ${ASKED} WHERE NOT is_taken)`,
      leftOut: 'its question was left out',
    },
    refusing(
      isUnknown,
      `${column} is not a known question`,
      `'${column} ' || ${shown(column)} || ' is not a known question; import the question first'`,
    ),
  ]
}

const unique = (column: string) =>
  refusing(
    `record > (SELECT min(record) FROM parsed earlier WHERE earlier.${valueOf(column)} = parsed.${valueOf(column)})`,
    `${column} appears a second time`,
    `'${column} ' || ${shown(column)} || ' appears a second time'`,
  )

const closesAfterOpening = leaving(
  refusing(
    `${valueOf('opened_at')} >= ${valueOf('closes_at')}`,
    'closes_at is not after opened_at',
    `'closes_at is ' || ${shown('closes_at')} || ', not after opened_at ' || ${shown('opened_at')}`,
  ),
  'the question closes before it opens, or as it does',
)

/** A column of the current row of a table about the question of a row. */
const ofQuestion = (column: string, rows: string) =>
  `(SELECT min(known.${column}) FROM ${rows} known WHERE known.question_id = ${valueOf('question_id')})`

const openedAt = ofQuestion('opened_at', 'current_questions')
/** An outcome that was known before a question opened voids every forecast on it. */
const resolvedAfterOpening = leaving(
  refusing(
    `${valueOf('outcome')} <> 'open' AND ${valueOf('resolved_at')} < epoch_ms(${openedAt})
      AND ${valueOf('resolved_at')} IS DISTINCT FROM epoch_ms(${ofQuestion('resolved_at', 'standing')})`,
    'resolved_at is before the question opened',
    `'resolved_at is ' || ${shown('resolved_at')} || ', before the question opened at ' || ${instantText(openedAt)}`,
  ),
  'the outcome was known before the question opened',
)

const resolvedAt = ofQuestion('resolved_at', RESOLVED)
const opensBeforeOutcome = refusing(
  `${valueOf('opened_at')} > epoch_ms(${resolvedAt})
    AND ${valueOf('opened_at')} IS DISTINCT FROM epoch_ms(${ofQuestion('opened_at', 'standing')})`,
  'opened_at is after the outcome became known',
  `'opened_at is ' || ${shown('opened_at')} || ', after the outcome became known at ' || ${instantText(resolvedAt)}`,
)

const without = (column: string, other: string) =>
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

const takenSource = (fails: string, other: string) =>
  refusing(
    fails,
    'source_id is that of another question',
    `'source_id ' || ${shown(valueOf('source_id'))} || ' of source ' || ${shown(valueOf('source'))} || ' is that of question ' || ${other}
      || ': import it under that question_id, or give it another source_id'`,
  )

/** Ids of two platforms may be the same text, and must not replace each other's questions. */
const otherSource = refusing(
  `source <> ${normal(keptOf('source'))}`,
  'source is not that of the known question',
  `'source is ' || ${shown('source')} || ', but question_id ' || ${shown('question_id')} || ' is a question of '
    || ${shown(keptOf('source'))} || ': import it under another question_id or --namespace; if the known source is wrong, first import the question without source and source_id, as empty cells'`,
)

/** A question that was asked elsewhere is here only once, and stays the same question. */
const SOURCE_RULES: readonly Rule[] = [
  otherSource,
  without('source', 'source_id'),
  without('source_id', 'source'),
  takenSource(`record > ${firstOfSource('record')}`, firstOfSource('question_id')),
  takenSource(`${knownOfSource} IS NOT NULL`, knownOfSource),
]

/** Finds the header in the middle, as in a file that was joined from several. */
function isHeader(columns: readonly ImportColumn[], map: ReadonlyMap<string, string>): Rule {
  const same = columns
    .filter(({ required }) => required)
    .map(({ name }) => `coalesce(${name} = ${literal(map.get(name) ?? name)}, false)`)
  return plain(same.join(' AND '), 'the header a second time')
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
  ...(columns.some(({ name }) => name === 'resolved_at') ? [resolvedAfterOpening] : []),
]

type RefusingRule = Rule & { refusal: Refusal }
const refuses = (rule: Rule): rule is RefusingRule => rule.refusal !== undefined

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
    ...(columns.some(({ name }) => name === 'source_id') ? SOURCE_RULES : []),
  ].filter(refuses)
}

type LeavingRule = Rule & { leftOut: string }
const leaves = (rule: Rule): rule is LeavingRule => rule.leftOut !== undefined

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

/**
 * Grain: one row per bad row, with its record number (from 0) and the index of the first rule that fails. The
 * index is computed for bad rows only, because that takes longer than finding out whether a row is bad.
 */
export function faultsQuery(rules: readonly Rule[]): string {
  const any = rules.map(({ fails }) => `(${fails})`).join('\n OR ')
  const cases = rules.map(({ fails }, index) => `WHEN ${fails} THEN ${index}`).join('\n')
  return `SELECT record, CASE ${cases} END AS failed FROM (SELECT * FROM parsed WHERE ${any}) parsed`
}

/** The reasons of the first bad rows of the table `fault`. Grain: one row per bad row. */
export function reasonsQuery(rules: readonly RefusingRule[], most: number): string {
  const cases = rules.map(({ refusal }, index) => `WHEN ${index} THEN ${refusal.reason}`).join('\n')
  return `SELECT record, CASE failed ${cases} END AS reason
    FROM (FROM fault ORDER BY record LIMIT ${most}) JOIN parsed USING (record) ORDER BY record`
}
