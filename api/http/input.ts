// Parses a part of a request strictly, and says where each wrong value is and what to send instead.
import type { z } from 'zod'
import { type Fault, ServiceError } from '../../schemas/errors.ts'
import { SHOWN_LENGTH, WORDED, wasMissing } from '../../schemas/wording.ts'

export type InputPart = 'path' | 'query' | 'body'

/** This limit keeps an answer from being much larger than its request. */
const MOST_FAULTS = 100

/** @throws ServiceError `invalid` that names the wrong values by JSON Pointer. */
export function parseInput(schema: z.ZodType, input: unknown, part: InputPart): unknown {
  const { data, error } = schema.safeParse(input, WORDED)
  if (!error) return data
  throw invalidInput(
    part,
    error.issues.slice(0, MOST_FAULTS).flatMap((issue) => faultsOf(issue, part)),
  )
}

export function invalidInput(part: InputPart, faults: readonly Fault[]): ServiceError {
  const first = faults[0] ? `: ${faults[0].detail}` : ''
  return new ServiceError('invalid', `the ${part} is not valid${first}`, {
    type: `invalid-${part}`,
    faults: faults.slice(0, MOST_FAULTS),
  })
}

function faultsOf(issue: z.core.$ZodIssue, part: InputPart): Fault[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MOST_FAULTS).map((key) => faultAt([...path, key], 'is not known here', part))
  }
  return [faultAt(path, wasMissing(issue) ? 'is required' : issue.message, part)]
}

/** Returns a fault as a whole sentence, which begins with the name of the value. */
export function faultAt(path: readonly string[], predicate: string, part: InputPart): Fault {
  const at = pointer(path)
  const subject = at.length > SHOWN_LENGTH ? `${at.slice(1, SHOWN_LENGTH).toWellFormed()}…` : at.slice(1)
  return { pointer: at, detail: `${at === '' ? `the ${part}` : subject} ${predicate}` }
}

/**
 * Returns a JSON Pointer (RFC 6901). A lone surrogate, which JSON allows in a field's name, becomes U+FFFD.
 */
function pointer(path: readonly string[]): string {
  return path.map((name) => `/${name.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
