// Writes the rows of a simulated world to the tables, in the way of an operator's import.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../pipeline/duckdb.ts'
import type { ImportKind } from '../../pipeline/import/columns.ts'
import { importFile } from '../../pipeline/import/import.ts'
import type { Components } from '../components/components.ts'
import type { SimulatedForecast, SimulatedForecaster, SimulatedQuestion } from './world.ts'

export interface SimulatedRows {
  forecasters: readonly SimulatedForecaster[]
  /** Questions to ask. */
  questions: readonly SimulatedQuestion[]
  forecasts: readonly SimulatedForecast[]
  /** Questions whose outcomes are known. */
  resolved: readonly SimulatedQuestion[]
}

/** The numbers of new rows. */
export interface Added {
  asked: number
  forecasts: number
  resolved: number
}

export const NOTHING_ADDED: Added = { asked: 0, forecasts: 0, resolved: 0 }

export function sumOf(one: Added, other: Added): Added {
  return {
    asked: one.asked + other.asked,
    forecasts: one.forecasts + other.forecasts,
    resolved: one.resolved + other.resolved,
  }
}

/**
 * Imports rows. With `onlyUnknown` it leaves out rows about known subjects. Outcomes come last, so that a run
 * that is cut off loses nothing: a later step looks again at each question without an outcome.
 */
export async function addRows(
  components: Components,
  database: Database,
  { forecasters = [], questions = [], forecasts = [], resolved = [] }: Partial<SimulatedRows>,
  { onlyUnknown = false } = {},
): Promise<Added> {
  /** Imports rows of one kind, and returns the number of new ones. Without rows it touches nothing. */
  const add = async (kind: ImportKind, rows: readonly object[]): Promise<number> => {
    if (rows.length === 0) return 0
    const file = join(components.directory, `simulated-${kind}-${components.newId()}.ndjson`)
    try {
      await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      return (await importFile({ ...components, database, onlyUnknown }, kind, file)).added
    } finally {
      await rm(file, { force: true })
    }
  }
  await add(
    'forecasters',
    forecasters.map(({ userId, name }) => ({ user_id: userId, display_name: name })),
  )
  // Bring the rows into the form of files.
  const questionRows = questions.map((question) => ({
    question_id: question.questionId,
    title: question.title,
    resolution_criteria: question.resolutionCriteria,
    background: question.background,
    category: question.category,
    event_id: question.eventId,
    source: question.source,
    source_id: question.sourceId,
    opened_at: question.openedAt,
    closes_at: question.closesAt,
  }))
  const forecastRows = forecasts.map(({ userId, questionId, probability, forecastAt }) => ({
    entity_type: 'forecaster',
    entity_id: userId,
    question_id: questionId,
    probability,
    forecast_at: forecastAt,
  }))
  const outcomes = resolved.map(({ questionId, outcome, closesAt }) => ({
    question_id: questionId,
    outcome,
    resolved_at: closesAt,
  }))
  // Import in an order in which no row refers to a later one.
  return {
    asked: await add('questions', questionRows),
    forecasts: await add('forecasts', forecastRows),
    resolved: await add('resolutions', outcomes),
  }
}
