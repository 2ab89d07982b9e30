// The one error class of the service. Its kind says what the caller should do; branch on the kind, never on the text.

/**
 * - `invalid`: the input is wrong; change it.
 * - `unauthorized`: no key, or an unknown one. `forbidden`: a good key, but not for this.
 * - `notFound`: it does not exist (yet).
 * - `conflict`: it cannot be done in the current state.
 * - `limited`: too often; wait `retryAfterS`.
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
   * Whether the message is meant for callers of the API. Messages of dependencies and of corrupt data name paths and
   * hosts, so by default those of `unavailable` and `corrupt` are not.
   */
  readonly expose: boolean
  readonly faults: readonly Fault[]
  readonly retryAfterS: number | undefined
  /** The quota policy that a `limited` call exceeded, by its public name. */
  readonly policy: string | undefined

  constructor(
    kind: ErrorKind,
    message: string,
    options: {
      expose?: boolean
      faults?: readonly Fault[]
      retryAfterS?: number
      policy?: string
      cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServiceError'
    this.kind = kind
    this.expose = options.expose ?? (kind !== 'unavailable' && kind !== 'corrupt')
    this.faults = options.faults ?? []
    this.retryAfterS = options.retryAfterS
    this.policy = options.policy
  }
}
