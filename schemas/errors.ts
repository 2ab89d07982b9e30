// The one error class of the service. Its kind says what the caller should do; branch on the kind, never on
// the text.
import type { Checks } from './answers.ts'
import type { ProblemName } from './problems.ts'

/**
 * - `invalid`: the input is wrong; change it.
 * - `unauthorized`: no API key, or an unknown one. `forbidden`: a valid API key that does not allow this.
 * - `notFound`: it does not exist (yet).
 * - `conflict`: it cannot be done in the current state.
 * - `limited`: too many calls; wait `retryAfterS`.
 * - `unavailable`: a dependency does not answer; the same call may succeed after `retryAfterS`.
 * - `corrupt`: stored data contradicts itself; an operator has to look.
 */
export type ErrorKind =
  'invalid' | 'unauthorized' | 'forbidden' | 'notFound' | 'conflict' | 'limited' | 'unavailable' | 'corrupt'

/** A wrong value in an input. `pointer` is a JSON Pointer (RFC 6901), or `line N` of a file. */
export interface Fault {
  pointer: string
  detail: string
}

export class ServiceError extends Error {
  readonly kind: ErrorKind
  /**
   * Whether callers of the API may see the message. By default they do not see messages of `unavailable` and
   * `corrupt`, which contain paths and hosts.
   */
  readonly expose: boolean
  readonly faults: readonly Fault[]
  readonly retryAfterS: number | undefined
  /** The node's last checks of its store, if the error says that the node is not ready. */
  readonly checks: Checks | undefined
  /** The type that callers of the API branch on, if the kind does not say enough. */
  readonly type: ProblemName | undefined
  /** The quota policy that a `limited` call exceeded, by its public name. */
  readonly policy: string | undefined

  constructor(
    kind: ErrorKind,
    message: string,
    options: Partial<
      Pick<ServiceError, 'expose' | 'faults' | 'retryAfterS' | 'checks' | 'type' | 'policy' | 'cause'>
    > = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.kind = kind
    this.expose = options.expose ?? (kind !== 'unavailable' && kind !== 'corrupt')
    this.faults = options.faults ?? []
    this.retryAfterS = options.retryAfterS
    this.checks = options.checks
    this.type = options.type
    this.policy = options.policy
  }
}
