// The failures that a client tells of, besides that no answer came.
import type { Fault, Problem } from './api.ts'
import { printable } from './caller.ts'

/** A refusal of the service, in its own words. Branch on `type`. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly status: number
  /** The last part of the type of the problem, such as `question-closed`. */
  readonly type: string
  readonly errors: readonly Fault[]

  constructor(
    status: number,
    { type, detail, errors = [] }: Pick<Problem, 'detail' | 'errors'> & { type: string },
  ) {
    super([detail, ...errors.map((fault) => `${fault.pointer}: ${fault.detail}`)].map(printable).join('\n'))
    this.status = status
    this.type = type.split('/').at(-1)!
    this.errors = errors
  }
}

/** Something that was read does not stand under the keys of the log. */
export class NotVerified extends Error {
  override name = 'NotVerified'
}

export function refusalOf(status: number, text: string): Refusal {
  try {
    const problem = JSON.parse(text) as Problem
    if (typeof problem.type === 'string' && typeof problem.detail === 'string')
      return new Refusal(status, problem)
  } catch {
    // It is no answer of the service.
  }
  // A browser shows a redirect as an answer of the status 0.
  const isRedirect = status === 0 || (status >= 300 && status < 400)
  const said = isRedirect ? 'with a redirect, which is not followed' : `${status}, and did not say why`
  return new Refusal(status, { type: 'about:blank', detail: `the service answered ${said}` })
}
