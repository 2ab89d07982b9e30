// The rules of times, and what the author of a wrong one may have meant.
import type { ImportColumn } from './columns.ts'
import type { ImportOptions } from './options.ts'
import { valueOf } from './row.ts'
import { type Hint, type Rule, hint, rule } from './rule.ts'
import { LOCAL, localOf } from './values.ts'

const DAY = '\\d{4}-\\d{2}-\\d{2}'
const WRITE = 'write 2026-01-31T12:00:00Z'
/** The possible meanings of a wrong time, from the most to the least particular. */
const TIME_HINTS: readonly Hint[] = [
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
]

/** Returns the rules of a time. */
export function timeRules(column: ImportColumn, options: ImportOptions): Rule[] {
  const rules = writtenTimeRules(column, options)
  if (column.required) return rules
  // A row may leave an optional time out.
  return rules.map((each) => ({ ...each, fails: `${column.name} IS NOT NULL AND (${each.fails})` }))
}

function writtenTimeRules({ name, holds, ifLate }: ImportColumn, { timezone }: ImportOptions): Rule[] {
  const value = valueOf(name)
  const outOfRange = `coalesce(${value} NOT BETWEEN 0 AND ${Date.UTC(2200, 0, 1) - 1}, true)`
  const local = `regexp_full_match(${name}, ${LOCAL})`
  const noZone = `CASE WHEN ${local} AND ${localOf(name)} IS NOT NULL THEN '; no zone? see --timezone' ELSE '' END`
  const hints = hint(name, TIME_HINTS)
  // The patterns are compared for times without a value only.
  const isNone = `CASE WHEN ${value} IS NULL THEN NOT ${local} OR ${localOf(name)} IS NULL ELSE false END`
  const is = `${name} is {${name}}`
  const rules =
    timezone === undefined
      ? [
          rule(outOfRange, `${is}, not a time with an offset such as 2026-01-31T12:00:00Z`, {
            ending: `${noZone} || ${hints}`,
            leftOut: 'a time is before 1970 or after 2199',
          }),
        ]
      : [
          rule(isNone, `${is}, not a time such as 2026-01-31 12:00:00`, { ending: hints }),
          rule(
            `${value} IS NULL`,
            `${is}, a time that the clocks of ${timezone} skip; write it with an offset`,
          ),
          rule(
            `${local} AND comes_twice(${localOf(name)})`,
            `${is}, a time that the clocks of ${timezone} show twice; write it with an offset`,
          ),
          rule(outOfRange, `${is}, not between 1970 and 2199`),
        ]
  if (holds === 'plan') return rules
  const isLate = `${value} > epoch_ms(getvariable('now'))`
  return [...rules, rule(isLate, `${is}, later than now`, { leftOut: ifLate })]
}
