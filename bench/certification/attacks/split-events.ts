// Split events: each of ten correlated questions has an `event_id` of its own.
import { aboutEvents, inEvents, tens } from '../events.ts'
import { PROMISED, type Study } from '../study.ts'

export const studies: Record<string, Study> = {
  '': aboutEvents(
    'events of ten, each question with an event_id of its own',
    inEvents(tens, (question) => question),
    PROMISED,
  ),
}
