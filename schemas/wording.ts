// Words the fault of a value as a predicate for its name, in place of the validator's own words.
import type { z } from 'zod'

/** The most characters of a wrong value in a message. */
export const SHOWN_LENGTH = 100

/**
 * Options for `safeParse`: word every issue that its schema does not word, and keep the value for
 * `wasMissing`.
 */
export const WORDED = { error: wordingOf, reportInput: true } as const

/** Whether an issue is a missing value. */
export function wasMissing({ code, input }: z.core.$ZodIssue): boolean {
  return input === undefined && code !== 'custom'
}

const NOUNS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
  null: 'null',
}

function wordingOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'int' && typeof issue.input === 'number') return 'must be a whole number'
      return `must be ${NOUNS[issue.expected] ?? 'another value'}, not ${nounOf(issue.input)}`
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `must ${amount(issue.origin, issue.inclusive ? 'at least' : 'more than', issue.minimum)}`
    case 'too_big':
      return `must ${amount(issue.origin, issue.inclusive ? 'at most' : 'less than', issue.maximum)}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    default:
      return 'does not have the right form'
  }
}

function amount(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'string') return `have ${bound} ${limit} characters`
  if (origin === 'array' || origin === 'set') return `have ${bound} ${limit} items`
  return `be ${bound} ${limit}`
}

/** Names the kind of a value. */
function nounOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a JSON object'
  if (typeof value === 'number' && !Number.isFinite(value)) return 'one that is too large'
  return NOUNS[typeof value] ?? 'what was sent'
}
