// Polymarket: tables of markets. A price is nobody's forecast, so none is taken.
import { type ImportSource, instant } from '../source.ts'

const OTHER_MARKET = ['the market is not about yes and no', `lower(r.outcome) NOT IN ('yes', 'no')`] as const

export const polymarket: ImportSource = {
  name: 'polymarket',
  // The version 5 UUID of polymarket.com in the namespace of domain names.
  namespace: '24023d40-9642-5871-b4b6-7e2aa3c20d1d',
  notes: [
    'resolved_at is the settlement, which may be later than the event',
    'prices are no forecasts of anyone',
  ],
  forms: {
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
      form: 'markets',
      columns: { question_id: 'r.id', outcome: 'lower(r.outcome)', resolved_at: instant('r.settled') },
      leftOut: [OTHER_MARKET, ['the market is not resolved', 'r.outcome IS NULL']],
    },
  ],
}
