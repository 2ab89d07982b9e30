// FiveThirtyEight: games with the probability of a model, `<league>_games.csv` of checking-our-work-data
// (CC BY 4.0). The league is in the name of the file alone.
import { type ImportSource, dayBegins, dayEnds } from '../source.ts'

const LEAGUE = `regexp_extract(r.file_name, '([^/]+)_games\\.csv', 1)`
/** The number of a game among those of its teams on its day; NULL for the only one. */
const DOUBLE_HEADER = `if(try_cast(r.double_header AS DOUBLE) = 0, NULL, r.double_header)`
const GAME = `concat_ws('/', ${LEAGUE}, r.date, r.team1, r.team2, ${DOUBLE_HEADER})`
const NO_LEAGUE = ['the name of the file is not LEAGUE_games.csv', `${LEAGUE} = ''`] as const

export const fivethirtyeight: ImportSource = {
  name: 'fivethirtyeight',
  // The version 5 UUID of fivethirtyeight.com in the namespace of domain names.
  namespace: '4c5419f2-38b5-53b8-998b-73e59f9b37f7',
  notes: [
    'a game is open on its day, from 00:00 UTC, when the forecast counts as made, to 23:59:59.999 UTC',
    'a tie is annulled; each league has one forecaster, its model',
  ],
  forms: {
    games: {
      required: {
        date: 'date',
        team1: 'team1',
        team2: 'team2',
        prob1: 'prob1',
        outcome1: 'prob1_outcome',
      },
      optional: { double_header: 'dh' },
    },
  },
  rows: [
    {
      kind: 'questions',
      form: 'games',
      columns: {
        question_id: GAME,
        title: `'Will ' || r.team1 || ' beat ' || r.team2 || ' on ' || r.date || '? (' || ${LEAGUE} || coalesce(', double-header ' || ${DOUBLE_HEADER}, '') || ')'`,
        category: LEAGUE,
        source: `'fivethirtyeight'`,
        source_id: GAME,
        opened_at: dayBegins('r.date'),
        closes_at: dayEnds('r.date'),
      },
      leftOut: [NO_LEAGUE],
    },
    {
      kind: 'resolutions',
      form: 'games',
      columns: {
        question_id: GAME,
        outcome: `CASE try_cast(r.outcome1 AS DOUBLE) WHEN 1 THEN 'yes' WHEN 0 THEN 'no' WHEN 0.5 THEN 'annulled' END`,
        resolved_at: dayEnds('r.date'),
      },
      leftOut: [NO_LEAGUE, ['the game has no outcome', 'r.outcome1 IS NULL']],
    },
    {
      kind: 'forecasters',
      form: 'games',
      columns: { user_id: LEAGUE, display_name: `'FiveThirtyEight ' || ${LEAGUE}` },
      leftOut: [NO_LEAGUE],
    },
    {
      kind: 'forecasts',
      form: 'games',
      columns: {
        entity_id: LEAGUE,
        question_id: GAME,
        probability: 'r.prob1',
        forecast_at: dayBegins('r.date'),
      },
      leftOut: [NO_LEAGUE, ['the game has no probability', 'r.prob1 IS NULL']],
    },
  ],
}
