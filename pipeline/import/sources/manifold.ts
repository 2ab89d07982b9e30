// Manifold: markets and bets, as its API and its dumps give them, or as tables of these.
import { type ImportSource, epochMs, formTable } from '../source.ts'

const FIRST_LINE = `regexp_extract(trim(r.description), '^[^\\r\\n]+')`
/** A description may be a document of an editor, whose first line says nothing. */
const IS_TEXT = `NOT starts_with(r.description, '{')`
const OTHER_MARKET = ['not a market of yes and no', `r.outcome_type <> 'BINARY'`] as const
const NO_OPINION = [
  ['a redemption, which is no trade of its own', `lower(r.is_redemption) = 'true'`],
  ['about one answer of several', 'r.answer_id IS NOT NULL'],
  ['an order that was not filled', 'try_cast(r.amount AS DOUBLE) = 0'],
] as const

/**
 * The price after the last of a bettor's fills in one millisecond: their prices form a chain, and its end is
 * the price to which they move once more often than away from it. NULL if there is no such price, or several.
 */
const FILLS = `LEFT JOIN (
  WITH trades AS (
    SELECT DISTINCT bettor, contract, created, bet, try_cast(before AS DOUBLE) AS before, try_cast(after AS DOUBLE) AS after
    FROM ${formTable('bets')} r WHERE ${NO_OPINION.map(([, fails]) => `NOT coalesce(${fails}, false)`).join(' AND ')}),
  moves AS (
    SELECT bettor, contract, created, unnest([after, before]) AS price, unnest([1, -1]) AS move FROM trades),
  ends AS (
    SELECT bettor, contract, created, price FROM moves
    GROUP BY bettor, contract, created, price HAVING sum(move) = 1)
  SELECT bettor, contract, created, prices, last FROM (
    SELECT bettor, contract, created, count(DISTINCT after) AS prices FROM trades GROUP BY ALL)
  LEFT JOIN (
    SELECT bettor, contract, created, any_value(price) AS last FROM ends GROUP BY ALL HAVING count(*) = 1)
  USING (bettor, contract, created)) fills
  ON fills.bettor = r.bettor AND fills.contract = r.contract AND fills.created = r.created AND fills.prices > 1`

export const manifold: ImportSource = {
  name: 'manifold',
  // The version 5 UUID of manifold.markets in the namespace of domain names.
  namespace: '3c9a21b3-12d8-557d-ba6a-dd4195c51e45',
  terms: `Manifold gives its data for purposes that are not commercial; for others ask Manifold for a licence`,
  notes: [
    `a forecast is the price after the forecaster's own trade, which a bet moves and does not state`,
    'closes_at is the last known close: after an early end it is that end, and the horizon is shorter than planned',
    'CANCEL and MKT are annulled; a market without a question is named by the first line of its description',
  ],
  forms: {
    markets: {
      required: { id: 'id', created: 'createdTime', closes: 'closeTime' },
      optional: {
        question: 'question',
        url: 'url',
        outcome_type: 'outcomeType',
        resolution: 'resolution',
        resolved: 'resolutionTime',
        description: 'description',
        plain_description: 'textDescription',
      },
      nested: ['description'],
    },
    bets: {
      required: { bettor: 'userId', contract: 'contractId', created: 'createdTime', after: 'probAfter' },
      optional: {
        amount: 'amount',
        answer_id: 'answerId',
        is_redemption: 'isRedemption',
        bet: 'id',
        before: 'probBefore',
      },
    },
  },
  rows: [
    {
      kind: 'questions',
      form: 'markets',
      columns: {
        question_id: 'r.id',
        title: `coalesce(r.question, if(${IS_TEXT}, ${FIRST_LINE}, NULL), 'Manifold market ' || r.id)`,
        background: `coalesce(r.plain_description, if(${IS_TEXT}, r.description, NULL))`,
        url: 'r.url',
        source: `'manifold'`,
        source_id: 'r.id',
        opened_at: epochMs('r.created'),
        closes_at: epochMs('r.closes'),
      },
      leftOut: [OTHER_MARKET],
    },
    {
      kind: 'resolutions',
      form: 'markets',
      columns: {
        question_id: 'r.id',
        outcome: `CASE r.resolution WHEN 'YES' THEN 'yes' WHEN 'NO' THEN 'no' WHEN 'CANCEL' THEN 'annulled' WHEN 'MKT' THEN 'annulled' END`,
        resolved_at: epochMs('r.resolved'),
      },
      leftOut: [OTHER_MARKET, ['the market is not resolved', 'r.resolution IS NULL']],
    },
    { kind: 'forecasters', form: 'bets', columns: { user_id: 'r.bettor' }, leftOut: NO_OPINION },
    {
      kind: 'forecasts',
      form: 'bets',
      rest: FILLS,
      columns: {
        entity_id: 'r.bettor',
        question_id: 'r.contract',
        probability: 'r.after',
        forecast_at: epochMs('r.created'),
      },
      leftOut: [
        ...NO_OPINION,
        ['a fill before the last one of its millisecond', 'try_cast(r.after AS DOUBLE) <> fills.last'],
        [
          'one of several fills of a millisecond, and their prices do not say which was the last',
          'fills.prices > 1 AND fills.last IS NULL',
        ],
      ],
    },
  ],
}
