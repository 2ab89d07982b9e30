// Polymarket: markets as the API answers them (`GET /markets` of Gamma), and a researcher's table of markets.
// A price is nobody's forecast, so none is taken.
import { type ImportSource, instant } from '../source.ts'

const NOT_YES_OR_NO = 'the market is not about yes and no'
const UNRESOLVED = 'the market is not resolved'
const OTHER_MARKET = [NOT_YES_OR_NO, `lower(r.outcome) NOT IN ('yes', 'no')`] as const

/** The items of a list of JSON, which Gamma gives as a text. */
const items = (list: string) => `if(json_valid(${list}), from_json(${list}, '["VARCHAR"]'), NULL)`
const OTHER_API_MARKET = [
  NOT_YES_OR_NO,
  `list_transform(${items('r.outcomes')}, lambda name: lower(name)) IS DISTINCT FROM ['yes', 'no']`,
] as const
/** The prices of yes and no: those of a resolved market are what a share was paid. */
const PRICES = `list_transform(${items('r.prices')}, lambda price: try_cast(price AS DOUBLE))`

export const polymarket: ImportSource = {
  name: 'polymarket',
  // The version 5 UUID of polymarket.com in the namespace of domain names.
  namespace: '24023d40-9642-5871-b4b6-7e2aa3c20d1d',
  notes: [
    'resolved_at is the settlement, which may be later than the event',
    'prices are no forecasts of anyone',
  ],
  forms: {
    api_markets: {
      required: {
        id: 'id',
        question: 'question',
        ends: 'endDate',
        outcomes: 'outcomes',
        prices: 'outcomePrices',
        closed: 'closed',
      },
      optional: {
        starts: 'startDate',
        created: 'createdAt',
        settled: 'closedTime',
        status: 'umaResolutionStatus',
        criteria: 'description',
        slug: 'slug',
        category: 'category',
        events: 'events',
      },
      nested: ['outcomes', 'prices', 'events'],
    },
    markets: {
      required: {
        id: 'market_id',
        question: 'market_question',
        starts: 'start_date',
        ends: 'end_date',
        outcome: 'resolved_outcome',
        settled: 'closed_time',
      },
      optional: { event: 'event_id', category: 'category' },
    },
  },
  rows: [
    {
      kind: 'questions',
      form: 'api_markets',
      columns: {
        question_id: 'r.id',
        title: 'r.question',
        resolution_criteria: 'r.criteria',
        category: 'r.category',
        url: `'https://polymarket.com/market/' || r.slug`,
        event_id: `'polymarket/' || (r.events ->> '/0/id')`,
        source: `'polymarket'`,
        source_id: 'r.id',
        opened_at: `coalesce(${instant('r.starts')}, ${instant('r.created')})`,
        closes_at: instant('r.ends'),
      },
      leftOut: [OTHER_API_MARKET],
    },
    {
      kind: 'questions',
      form: 'markets',
      columns: {
        question_id: 'r.id',
        title: 'r.question',
        category: 'r.category',
        event_id: `'polymarket/' || r.event`,
        source: `'polymarket'`,
        source_id: 'r.id',
        opened_at: instant('r.starts'),
        closes_at: instant('r.ends'),
      },
      leftOut: [OTHER_MARKET],
    },
    {
      kind: 'resolutions',
      form: 'api_markets',
      columns: {
        question_id: 'r.id',
        outcome: `CASE ${PRICES} WHEN [1, 0] THEN 'yes' WHEN [0, 1] THEN 'no' WHEN [0.5, 0.5] THEN 'annulled' END`,
        resolved_at: instant('r.settled'),
      },
      leftOut: [
        OTHER_API_MARKET,
        [UNRESOLVED, `r.closed IS DISTINCT FROM 'true' OR coalesce(r.status, 'resolved') <> 'resolved'`],
        // An old market has no status: its prices may be those of the last trade.
        [
          'nothing says that the market is resolved, and its prices are halves',
          `r.status IS NULL AND ${PRICES} = [0.5, 0.5]`,
        ],
      ],
    },
    {
      kind: 'resolutions',
      form: 'markets',
      columns: { question_id: 'r.id', outcome: 'lower(r.outcome)', resolved_at: instant('r.settled') },
      leftOut: [OTHER_MARKET, [UNRESOLVED, 'r.outcome IS NULL']],
    },
  ],
}
