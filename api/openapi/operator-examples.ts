// Examples of the operator's calls for the OpenAPI document.
import type { ImportedTable } from '../../schemas/tables.ts'
import type { ProblemText } from '../http/route.ts'
import { QUESTION_ID, USER_ID } from './examples.ts'

/** Another question than that of the other examples, whose outcome is never said. */
export const CHANGED_QUESTION_ID = '5f0b6f4e-8f5e-4d0a-9c58-1d1b0c6f7a22'
/** An event of that question. */
export const EVENT_ID = 'weather'

export const rowsTaken = (kind: ImportedTable) => ({
  kind,
  rows: 1,
  added: 1,
  changed: 0,
  changed_columns: {},
  unchanged: 0,
  repeats: 0,
  missing_words: {},
  texts_changed: {},
  unwanted: 0,
  withdrawals: 0,
  too_late: 0,
  made_void: { forecasts: 0, entities: 0 },
  import_id: `${kind}-17`,
})

export const forecastsTaken = {
  ...rowsTaken('forecasts'),
  import_id: null,
  forecasters_created: 0,
  results: [
    {
      forecast_id: '019ca92e-1a15-8a90-8b3e-6a7d5c4f3e21',
      user_id: USER_ID,
      question_id: QUESTION_ID,
      probability: 0.73,
      forecast_at: '2026-02-28T11:59:58.000Z',
      witnessed: true,
      receipt: null,
    },
  ],
}

const { import_id: _, ...effect } = rowsTaken('resolutions')

export const preview = {
  at: '2026-03-01T12:34:56.789Z',
  needs_reason: false,
  corrects: [{ question_id: QUESTION_ID, from: 'yes', to: 'no' }],
  parts: [
    {
      ...effect,
      added: 0,
      changed: 1,
      changed_columns: { outcome: 1 },
      made_void: { forecasts: 12, entities: 3 },
      bad: 0,
      errors: [],
    },
  ],
}

const agendaQuestion = {
  question_id: QUESTION_ID,
  title: 'Will the simulated coin show heads?',
  category: 'example',
  url: null,
  opened_at: '2026-01-01T00:00:00.000Z',
  closes_at: '2026-02-28T00:00:00.000Z',
}

export const agenda = {
  at: '2026-03-01T12:34:56.789Z',
  overdue: { count: 1, questions: [agendaQuestion] },
  closing: { count: 0, questions: [] },
  opening: { count: 0, questions: [] },
}

export const badRow = (call: string, list: string, detail: string): ProblemText => ({
  type: 'invalid-body',
  detail: `${call}: 1 bad row; nothing was imported`,
  errors: [{ pointer: `/${list}/0`, detail }],
})
