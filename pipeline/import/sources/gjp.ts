// The Good Judgment Project: its questions (`ifps.csv`) and its survey of forecasts, from its Dataverse.
import type { ImportSource } from '../source.ts'

const ZONE = `'America/New_York'`
/** A day as month, day and year, at its first instant in New York. */
const day = (text: string) =>
  `(date_trunc('day', try_strptime(${text}, ['%m/%d/%y %H:%M', '%m/%d/%y', '%Y-%m-%d %H:%M:%S', '%Y-%m-%d'])))`
const begins = (text: string) => `(${day(text)} AT TIME ZONE ${ZONE})`
/** The last millisecond of a day in New York. */
const ends = (text: string) =>
  `((${day(text)} + INTERVAL 1 DAY - INTERVAL 1 MILLISECOND) AT TIME ZONE ${ZONE})`
const OTHER_QUESTION = ['not a question of yes and no', `trim(r.options) <> '(a) Yes, (b) No'`] as const
/** Such a day is an error of the file: forecasts went on for weeks. */
const CLOSES_AS_IT_OPENS = [
  'the question closes on the day of its opening',
  `${day('r.closes')} <= ${day('r.starts')}`,
] as const
const CONDITIONAL = ['a conditional question', `r.type BETWEEN '1' AND '5'`] as const

export const gjp: ImportSource = {
  name: 'gjp',
  // The version 5 UUID of goodjudgment.com in the namespace of domain names.
  namespace: '283a045b-cb3e-5bb2-a3ce-af1706dd8319',
  notes: [
    'a day begins as an opening, and ends as a close, an outcome or a forecast, in America/New_York',
    'characters that the file had lost before are as the file has them',
  ],
  forms: {
    ifps: {
      required: {
        id: 'ifp_id',
        type: 'q_type',
        question: 'q_text',
        status: 'q_status',
        starts: 'date_start',
        closes: 'date_to_close',
        closed: 'date_closed',
        outcome: 'outcome',
        options: 'options',
      },
      optional: { criteria: 'q_desc', suspends: 'date_suspend' },
      encoding: 'windows-1252',
    },
    survey: {
      required: { ifp: 'ifp_id', forecaster: 'user_id', option: 'answer_option', value: 'value' },
      optional: { made: 'timestamp', made_on: 'fcast_date' },
      encoding: 'windows-1252',
    },
  },
  rows: [
    {
      kind: 'questions',
      form: 'ifps',
      columns: {
        question_id: 'r.id',
        title: 'r.question',
        resolution_criteria: 'r.criteria',
        source: `'gjp'`,
        source_id: 'r.id',
        opened_at: begins('r.starts'),
        closes_at: ends('r.closes'),
      },
      leftOut: [CONDITIONAL, OTHER_QUESTION, CLOSES_AS_IT_OPENS],
    },
    {
      kind: 'resolutions',
      form: 'ifps',
      columns: {
        question_id: 'r.id',
        outcome: `CASE WHEN r.status = 'voided' THEN 'annulled' WHEN r.outcome = 'a' THEN 'yes' WHEN r.outcome = 'b' THEN 'no' END`,
        resolved_at: `coalesce(${ends('r.closed')}, ${ends('r.suspends')}, ${ends('r.closes')})`,
      },
      leftOut: [CONDITIONAL, OTHER_QUESTION],
    },
    { kind: 'forecasters', form: 'survey', columns: { user_id: 'r.forecaster' } },
    {
      kind: 'forecasts',
      form: 'survey',
      columns: {
        entity_id: 'r.forecaster',
        question_id: 'r.ifp',
        probability: 'r.value',
        forecast_at: `coalesce(try_strptime(r.made, ['%Y-%m-%d %H:%M:%S', '%m/%d/%y %H:%M']) AT TIME ZONE ${ZONE}, ${ends('r.made_on')})`,
      },
      leftOut: [['about another option than a', `r.option <> 'a'`]],
    },
  ],
}
