// Metaculus: the files of a download (`question_data.csv`, `forecast_data.csv`, `score_data.csv`), and dumps
// of a project's forecasts with their questions in the same rows.
import { type ImportSource, instant } from '../source.ts'

const OTHER_TYPE = ['not a binary question', `lower(r.type) <> 'binary'`] as const
const OUTCOME = `CASE lower(r.resolution) WHEN 'yes' THEN 'yes' WHEN 'no' THEN 'no' WHEN 'annulled' THEN 'annulled' WHEN 'ambiguous' THEN 'annulled' END`
const UNRESOLVED = ['the question is not resolved', 'r.resolution IS NULL'] as const
/** The outcome was known when the question closed early, or else when it was resolved. */
const KNOWN = `least(${instant('r.known')}, if(${instant('r.closed')} < ${instant('r.closes')}, ${instant('r.closed')}, NULL))`
const EVENT = `'metaculus/post/' || r.post`

/** An anonymised download has a hash of the id, or the name of an aggregation in the same column. */
const PERSON = `coalesce(r.forecaster, if(regexp_full_match(r.anonymous, '[0-9a-f]{64}'), r.anonymous, NULL))`
const AGGREGATE = ['an aggregate, not a person', `${PERSON} IS NULL`] as const
const ENDS = `date_trunc('millisecond', ${instant('r.ends')})`
const STARTS = `date_trunc('millisecond', ${instant('r.starts')})`

const SCORE = `CASE lower(r.type) WHEN 'peer' THEN 'peer_score' WHEN 'baseline' THEN 'baseline_score' END`

const DUMP_PERSON = 'coalesce(r.author, r.forecaster)'

export const metaculus: ImportSource = {
  name: 'metaculus',
  // The version 5 UUID of metaculus.com in the namespace of domain names.
  namespace: '0338e61f-f166-5129-a02a-65b850704507',
  notes: [
    'bots are forecasters here: the forecasts of agents come by their own API alone',
    'a dump has no time of opening: its questions open when they were published',
  ],
  forms: {
    question_data: {
      required: {
        id: 'Question ID',
        title: 'Question Title',
        type: 'Question Type',
        opens: 'Open Time',
        closes: 'Scheduled Close Time',
        resolution: 'Resolution',
      },
      optional: {
        url: 'Question URL',
        post: 'Post ID',
        categories: 'Categories',
        label: 'Label',
        closed: 'Actual Close Time',
        known: 'Resolution Known Time',
      },
    },
    forecast_data: {
      required: { question: 'Question ID', starts: 'Start Time', probability: 'Probability Yes' },
      optional: {
        forecaster: 'Forecaster ID',
        username: 'Forecaster Username',
        anonymous: 'Forecaster (Anonymized)',
        ends: 'End Time',
      },
    },
    score_data: {
      required: { question: 'Question ID', type: 'Score Type', score: 'Score' },
      optional: { forecaster: 'User ID', anonymous: 'User (Anonymized)' },
    },
    dump: {
      required: {
        question: 'question_id',
        title: 'question_title',
        type: 'type',
        closes: 'scheduled_close_time',
        resolution: 'resolution',
        forecaster: 'forecaster',
        probability: 'probability_yes',
        made: 'forecast_timestamp',
        published: 'published_at',
      },
      optional: {
        author: 'author_id',
        post: 'post_id',
        closed: 'actual_close_time',
        known: 'actual_resolve_time',
      },
    },
    dump_scores: {
      required: { question: 'question_id', type: 'score_type', score: 'score', forecaster: 'forecaster' },
      optional: { author: 'user_id' },
    },
  },
  rows: [
    {
      kind: 'questions',
      form: 'question_data',
      columns: {
        question_id: 'r.id',
        title: `r.title || coalesce(' (' || r.label || ')', '')`,
        category: `nullif(regexp_extract(r.categories, '^\\[[''"]([^''"]+)', 1), '')`,
        url: 'r.url',
        event_id: EVENT,
        source: `'metaculus'`,
        source_id: 'r.id',
        opened_at: instant('r.opens'),
        closes_at: instant('r.closes'),
      },
      leftOut: [OTHER_TYPE],
    },
    {
      kind: 'questions',
      form: 'dump',
      columns: {
        question_id: 'r.question',
        title: 'r.title',
        url: `'https://www.metaculus.com/questions/' || r.post || '/'`,
        event_id: EVENT,
        source: `'metaculus'`,
        source_id: 'r.question',
        opened_at: instant('r.published'),
        closes_at: instant('r.closes'),
      },
      leftOut: [OTHER_TYPE],
    },
    {
      kind: 'resolutions',
      form: 'question_data',
      columns: { question_id: 'r.id', outcome: OUTCOME, resolved_at: KNOWN },
      leftOut: [OTHER_TYPE, UNRESOLVED],
    },
    {
      kind: 'resolutions',
      form: 'dump',
      columns: { question_id: 'r.question', outcome: OUTCOME, resolved_at: KNOWN },
      leftOut: [OTHER_TYPE, UNRESOLVED],
    },
    {
      kind: 'forecasters',
      form: 'forecast_data',
      columns: { user_id: PERSON, display_name: 'r.username' },
      leftOut: [AGGREGATE],
    },
    {
      kind: 'forecasters',
      form: 'dump',
      columns: { user_id: DUMP_PERSON, display_name: 'r.forecaster' },
      leftOut: [OTHER_TYPE],
    },
    {
      kind: 'forecasts',
      form: 'forecast_data',
      columns: {
        entity_id: PERSON,
        question_id: 'r.question',
        probability: 'r.probability',
        forecast_at: instant('r.starts'),
      },
      leftOut: [AGGREGATE],
    },
    {
      kind: 'forecasts',
      form: 'forecast_data',
      label: 'withdrawals',
      rest: `QUALIFY ${PERSON} IS NOT NULL AND r.probability IS NOT NULL AND ${ENDS} <= getvariable('now')
        AND lead(${STARTS}) OVER (PARTITION BY r.question, ${PERSON} ORDER BY ${STARTS}) IS DISTINCT FROM ${ENDS}`,
      columns: {
        entity_id: PERSON,
        question_id: 'r.question',
        probability: `'withdrawn'`,
        forecast_at: instant('r.ends'),
      },
    },
    {
      kind: 'forecasts',
      form: 'dump',
      columns: {
        entity_id: DUMP_PERSON,
        question_id: 'r.question',
        probability: 'r.probability',
        forecast_at: instant('r.made'),
      },
      leftOut: [OTHER_TYPE],
    },
  ],
  scores: [
    {
      form: 'score_data',
      columns: { entity_id: PERSON, question_id: 'r.question', score: SCORE, value: 'r.score' },
    },
    {
      form: 'dump_scores',
      columns: { entity_id: DUMP_PERSON, question_id: 'r.question', score: SCORE, value: 'r.score' },
    },
  ],
}
