// Correlated questions: an agent that is lucky with an event once is lucky many times.
import type { Random } from '../../../jobs/sandbox/random.ts'
import { type Asking, Event, aboutEvents, inEvents, tens } from '../events.ts'
import { PROMISED, type Study } from '../study.ts'

const MOST = 200

/** The numbers of questions of the events have a Pareto tail with the exponent 1.1. */
function pareto(random: Random): Asking {
  let [event, number, left] = [new Event(random), 0, 0]
  return () => {
    if (left === 0) {
      event = new Event(random)
      number += 1
      left = Math.min(MOST, Math.floor((1 - random()) ** (-1 / 1.1)))
    }
    left -= 1
    return event.ask(number)
  }
}

const half = (question: number) => (question % 2 === 0 ? -1 : question)

export const studies: Record<string, Study> = {
  half: aboutEvents('correlated: one event of half of all questions', inEvents(half, half), PROMISED),
  pareto: aboutEvents('correlated: Pareto sizes of events', pareto, PROMISED),
  rare: aboutEvents(
    'correlated: rare events in tens, overconfident',
    inEvents(tens, tens, -3, 1.5),
    PROMISED,
  ),
}
