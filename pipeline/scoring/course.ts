// The course of the voices' average over the life of one question, at equally distant instants.
import { PPM } from './logarithm.ts'
import { roundHalfEven } from './round.ts'

/** The first instant is the opening, the last is the close. The close has the average from just before it. */
export const COURSE_POINTS = 60

/** No voice's forecast stands. */
export const NOBODY = -1

/** The voices whose forecasts stand, and the sum of their errors in parts per million. */
export interface Standing {
  readonly voices: number
  readonly errors: number
}

export class Course {
  /** The average probability of yes at each instant in parts per million, rounded half to even. */
  readonly ppm = new Int32Array(COURSE_POINTS)
  #openedAtMs = 0
  #lifeMs = 0
  #outcome: 0 | 1 = 0
  #next = 0
  #nextMs = 0

  begin(openedAtMs: number, closeMs: number, outcome: 0 | 1): void {
    this.#openedAtMs = openedAtMs
    this.#lifeMs = Math.max(0, closeMs - openedAtMs)
    this.#outcome = outcome
    this.#next = 0
    this.#nextMs = openedAtMs
  }

  /** Fills the instants before `untilMs` with the average of `standing`. */
  advance(untilMs: number, standing: Standing): void {
    while (this.#nextMs < untilMs && this.#next < COURSE_POINTS) this.#fill(standing)
  }

  /** Fills the rest with the average at the close. */
  end(standing: Standing): void {
    while (this.#next < COURSE_POINTS) this.#fill(standing)
  }

  /** Whether the average ever changed. A line of an average that never did says nothing. */
  get isMoving(): boolean {
    const first = this.ppm.find((ppm) => ppm !== NOBODY)
    return this.ppm.some((ppm) => ppm !== NOBODY && ppm !== first)
  }

  #fill({ voices, errors }: Standing): void {
    const sum = this.#outcome === 1 ? voices * PPM - errors : errors
    this.ppm[this.#next] = voices === 0 ? NOBODY : roundHalfEven(sum / voices)
    this.#next += 1
    this.#nextMs = this.#openedAtMs + Math.floor((this.#lifeMs * this.#next) / (COURSE_POINTS - 1))
  }
}
