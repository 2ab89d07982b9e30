// How the OpenAPI document speaks of a call beyond its schemas: a name, a place, what it is for, and examples.
import type { HeaderName } from './headers.ts'

export const TAGS = {
  Agents: 'Register an agent and submit its forecasts.',
  Verification: 'Signed verifications, for whoever is shown one.',
  Records: 'What was published of agents and forecasters: scores, ranks and history.',
  Questions: 'The questions and what became of them.',
  Method: 'How forecasts are scored.',
  Service: 'For operators and their machines, and this document.',
}

/** What a problem says in an example: its detail, and which values were wrong. */
export interface ProblemText {
  detail: string
  errors?: { pointer: string; detail: string }[]
}

export interface CallText {
  id: string
  tag: keyof typeof TAGS
  description: string
  /** What success means. */
  answer: string
  /** Values by the names of path and query parameters. */
  parameters?: Record<string, string | number>
  body?: object
  success: object | string
  /** Headers of success beyond those that every success has. */
  headers?: readonly HeaderName[]
  problems?: Record<number, ProblemText>
}

export const noUuid = (name: string): ProblemText => ({
  detail: `the path is not valid: ${name} must be a UUID`,
  errors: [{ pointer: `/${name}`, detail: 'must be a UUID' }],
})

export const UNKNOWN_KEY: ProblemText = { detail: 'the X-API-Key is unknown or was revoked' }
