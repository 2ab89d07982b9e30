// Unmarked events: ten correlated questions without an `event_id` close on different days, so that the week
// of their close is the cluster.
import { aboutEvents, inEvents, tens } from '../events.ts'
import { PROMISED, QUESTIONS_A_DAY, type Study } from '../study.ts'

const A_WEEK = 7 * QUESTIONS_A_DAY
const week = (question: number) => Math.floor(question / A_WEEK)
/** As many events at a time as a week has questions, each with one in each of ten weeks. */
const overTenWeeks = (question: number) => tens(week(question)) * A_WEEK + (question % A_WEEK)

export const studies: Record<string, Study> = {
  days: aboutEvents('unmarked events of ten on five days in a row', inEvents(tens, week), PROMISED),
  weeks: aboutEvents('unmarked events of ten, one question a week', inEvents(overTenWeeks, week), {
    open: 'a week is a cluster, which is not always safe',
  }),
}
