// The errors of a client, besides `NoAnswer`.
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

/** A text and its proof, so that anyone can check it again. */
export interface Evidence {
  /** The path of the record, or of the call that submitted. */
  path: string
  /** The release that the record names; undefined for a submission. */
  release?: number | undefined
  /** The text that failed, exactly as it came. */
  body: string
  /** Its proof, or its receipt in Base64; undefined without one. */
  proof?: string | undefined
}

/** A record or receipt fails under the keys of the log. */
export class NotVerified extends Error {
  override name = 'NotVerified'
  /** The check that failed. */
  readonly reason: string
  readonly evidence: Evidence

  constructor(reason: string, evidence: Evidence, options?: ErrorOptions) {
    const { path, release } = evidence
    const what =
      release === undefined
        ? `${path}: the service says that it took a forecast whose receipt does not stand`
        : `${path} of release ${release} does not stand`
    super(printable(`${what}: ${reason}`), options)
    this.reason = printable(reason)
    this.evidence = evidence
  }
}

export function refusalOf(status: number, text: string): Refusal {
  try {
    const problem = JSON.parse(text) as Problem
    if (typeof problem.type === 'string' && typeof problem.detail === 'string')
      return new Refusal(status, problem)
  } catch {
    // The body is not an answer of the service.
  }
  // A browser shows a redirect as an answer of the status 0.
  const isRedirect = status === 0 || (status >= 300 && status < 400)
  const said = isRedirect ? 'with a redirect, which is not followed' : `${status}, and did not say why`
  return new Refusal(status, { type: 'about:blank', detail: `the service answered ${said}` })
}
