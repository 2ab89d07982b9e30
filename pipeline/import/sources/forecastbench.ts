// ForecastBench: its question sets, resolution sets and forecast sets (CC BY-SA 4.0).
import { type ImportSource, dayBegins, dayEnds, instant } from '../source.ts'

/** The sources whose questions are markets: each is one question, and the others one for each date. */
const IS_MARKET = `r.source IN ('infer', 'manifold', 'metaculus', 'polymarket', 'rfi')`
const idOf = (day: string) => `concat_ws('/', r.source, r.id, r.due, if(${IS_MARKET}, NULL, ${day}))`
const ENTITY = `r.organization || '/' || r.model`
const presentText = (text: string) => `nullif(trim(${text}), 'N/A')`
const filled = (text: string) =>
  `replace(replace(${text}, '{resolution_date}', coalesce(d.day, '')), '{forecast_due_date}', r.due)`
/** The forecaster whose forecasts are what the markets said when the questions were frozen. */
const FREEZE_VALUE = `'freeze-value'`
const COMBINATION = ['a combination of questions', `starts_with(r.id, '[')`] as const

export const forecastbench: ImportSource = {
  name: 'forecastbench',
  // The version 5 UUID of forecastbench.org in the namespace of domain names.
  namespace: 'a7ac5605-8ac6-5d2b-b0c4-ec1f67e04d9c',
  terms: 'ForecastBench gives its data sets under CC BY-SA 4.0: name it as their source',
  notes: [
    'a question opens on the due date of its set, and a forecast counts as made at 23:59:59 UTC of that day',
    'a question about data is one of ours for each resolution date, all of them one event',
  ],
  forms: {
    question_set: {
      required: {
        due: 'forecast_due_date',
        id: 'id',
        source: 'source',
        question: 'question',
        criteria: 'resolution_criteria',
        closes: 'market_info_close_datetime',
        days: 'resolution_dates',
      },
      optional: {
        background: 'background',
        market_criteria: 'market_info_resolution_criteria',
        url: 'url',
        frozen_at: 'freeze_datetime',
        frozen: 'freeze_datetime_value',
      },
      nested: ['id', 'days'],
    },
    resolution_set: {
      required: {
        due: 'forecast_due_date',
        id: 'id',
        source: 'source',
        day: 'resolution_date',
        resolved_to: 'resolved_to',
        resolved: 'resolved',
      },
      nested: ['id'],
    },
    forecast_set: {
      required: {
        organization: 'organization',
        model: 'model',
        due: 'forecast_due_date',
        id: 'id',
        source: 'source',
        forecast: 'forecast',
        day: 'resolution_date',
      },
      nested: ['id'],
    },
  },
  rows: [
    {
      kind: 'questions',
      form: 'question_set',
      rest: `CROSS JOIN LATERAL (SELECT unnest(if(starts_with(r.days, '['), from_json(r.days, '["VARCHAR"]'), [NULL::VARCHAR])) AS day) d`,
      columns: {
        question_id: idOf('d.day'),
        title: `regexp_extract(${filled('r.question')}, '^[^\\r\\n]+')`,
        resolution_criteria: `concat_ws(chr(10) || chr(10), nullif(trim(regexp_replace(${filled('r.question')}, '^[^\\r\\n]+', ''), chr(13) || chr(10)), ''),
          ${presentText(filled('r.criteria'))}, ${presentText('r.market_criteria')})`,
        background: presentText(filled('r.background')),
        category: 'r.source',
        url: presentText('r.url'),
        event_id: `concat_ws('/', 'forecastbench', r.source, r.id)`,
        source: `'forecastbench'`,
        source_id: idOf('d.day'),
        opened_at: dayBegins('r.due'),
        closes_at: `if(${IS_MARKET}, ${instant('r.closes')}, ${dayEnds('d.day')})`,
      },
      leftOut: [COMBINATION],
    },
    {
      kind: 'resolutions',
      form: 'resolution_set',
      columns: {
        question_id: idOf('r.day'),
        outcome: `CASE try_cast(r.resolved_to AS DOUBLE) WHEN 1 THEN 'yes' WHEN 0 THEN 'no' END`,
        resolved_at: dayEnds('r.day'),
      },
      leftOut: [
        COMBINATION,
        ['not resolved: resolved_to is the price of a market', `r.resolved IS DISTINCT FROM 'true'`],
        ['resolved to a fraction', 'try_cast(r.resolved_to AS DOUBLE) NOT IN (0, 1)'],
      ],
    },
    {
      kind: 'forecasters',
      form: 'forecast_set',
      columns: { user_id: ENTITY, display_name: `r.model || ' (' || r.organization || ')'` },
    },
    {
      kind: 'forecasts',
      form: 'forecast_set',
      columns: {
        entity_id: ENTITY,
        question_id: idOf('r.day'),
        probability: 'r.forecast',
        forecast_at: `${dayBegins('r.due')} + INTERVAL 86399 SECOND`,
      },
      leftOut: [COMBINATION],
    },
  ],
  freezeRows: [
    {
      kind: 'forecasters',
      form: 'question_set',
      label: 'freeze-value',
      rest: `WHERE ${IS_MARKET} QUALIFY row_number() OVER (ORDER BY r.file, r.record) = 1`,
      columns: { user_id: FREEZE_VALUE, display_name: `'Freeze value (ForecastBench)'` },
    },
    {
      kind: 'forecasts',
      form: 'question_set',
      label: 'freeze values',
      columns: {
        entity_id: FREEZE_VALUE,
        question_id: idOf('NULL'),
        probability: 'r.frozen',
        forecast_at: instant('r.frozen_at'),
      },
      leftOut: [
        COMBINATION,
        ['a question about data, whose freeze value is no probability', `NOT coalesce(${IS_MARKET}, false)`],
      ],
    },
  ],
}
