// The messages between the workers of a serving process and their primary.
import type { CounterAnswer, CounterCall } from '../../../api/limits/counter-table.ts'
import type { CountedAttempt } from '../../../api/limits/mirrored-counters.ts'
import type { Measured } from '../../../api/http/metrics.ts'
import type { WrittenForecast } from '../../../api/current-forecasts/current-forecasts.ts'
import { type ErrorKind, type Fault, ServiceError } from '../../../schemas/errors.ts'
import type { Environment } from '../../../schemas/values.ts'

/** An object of forecasts that one worker has written, which all others must know at once. */
export interface News {
  environment: Environment
  path: string
  forecasts: readonly SentForecast[]
}

type SentForecast = Omit<WrittenForecast, 'forecast_at'> & { atMs: number }

/** A worker that serves. */
export interface ServingWorker {
  url: string
  release: number
}

/** The reason why a worker could not start: a foreseen failure, or the stack of any other one. */
export type Failure = { kind: ErrorKind; message: string; faults: readonly Fault[] } | { stack: string }

interface Answer {
  kind: 'answer'
  id: number
  answer: unknown
}

/** A message with an `id` is answered. */
export type ToPrimary =
  | Answer
  | ({ kind: 'ready' } & ServingWorker)
  | { kind: 'failed'; failure: Failure }
  | { kind: 'count'; id: number; calls: readonly CounterCall[] }
  | { kind: 'attempt'; attempt: CountedAttempt }
  /** Answered once all earlier news are sent to this worker. */
  | { kind: 'latest'; id: number }
  | { kind: 'news'; id: number; news: News }
  | { kind: 'measurements'; id: number }

export type ToWorker =
  | Answer
  | { kind: 'stop' }
  | { kind: 'attempt'; attempt: CountedAttempt }
  | { kind: 'recall'; id: number; name: string; caller: string }
  | { kind: 'news'; news: News }
  | { kind: 'measure'; id: number }

/** The answers to the questions in messages. */
export interface Answers {
  count: readonly CounterAnswer[]
  latest: null
  news: null
  measurements: string
  measure: Measured
  recall: number
}

/** The questions of a process that have no answer yet. */
export class Questions {
  #lastId = 0
  readonly #open = new Map<number, (answer: unknown) => void>()

  /** Sends a question, and resolves to its answer; undefined if there will be none. */
  ask<K extends keyof Answers>(send: (id: number) => void): Promise<Answers[K] | undefined> {
    const id = (this.#lastId += 1)
    return new Promise((resolve) => {
      this.#open.set(id, (answer) => {
        resolve(answer as Answers[K] | undefined)
      })
      send(id)
    })
  }

  settle({ id, answer }: Pick<Answer, 'id' | 'answer'>): void {
    this.#open.get(id)?.(answer)
    this.#open.delete(id)
  }

  /** Settles all questions without an answer, because the other process is gone. */
  giveUp(): void {
    for (const id of this.#open.keys()) this.settle({ id, answer: undefined })
  }
}

export function sentForecast(forecast: WrittenForecast): SentForecast {
  const { entity_type, entity_id, question_id, forecast_id, probability, forecast_at } = forecast
  return { entity_type, entity_id, question_id, forecast_id, probability, atMs: forecast_at.getTime() }
}

export function receivedForecast({ atMs, ...forecast }: SentForecast): WrittenForecast {
  return { ...forecast, forecast_at: new Date(atMs) }
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ServiceError) {
    const { kind, message, faults } = error
    return { kind, message, faults }
  }
  return { stack: (error instanceof Error ? error.stack : undefined) ?? String(error) }
}

export function errorOf(failure: Failure): Error {
  if ('kind' in failure) {
    const { kind, message, faults } = failure
    return new ServiceError(kind, message, { faults })
  }
  const error = new Error('a worker could not start')
  error.stack = failure.stack
  return error
}
