// The forecasts that the sweep gets from DuckDB when the order of forecast_ids matters: METHODOLOGY §1 on
// real tables.
import { expect, test } from 'vitest'
import { orderEveryone } from '../../pipeline/engine/duckdb-engine.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { type Row, SCORED_TABLES } from '../../schemas/tables.ts'
import { testFolder } from '../support/folder.ts'
import { openWorker, send } from '../support/tables.ts'

const OPENED = new Date('2026-01-01T00:00:00.000Z')
const MADE = new Date('2026-01-02T00:00:00.000Z')
const CLOSES = new Date('2026-01-11T00:00:00.000Z')
const RECORDED = new Date('2026-01-12T00:00:00.000Z')
const LATER = new Date('2026-01-13T00:00:00.000Z')

const id = (kind: number, n: number) => `00000000-0000-4000-800${kind}-${String(n).padStart(12, '0')}`
const [UNTIED, TIED, REPEATED] = [0, 1, 2]

function forecast(n: number, question: number, person: number, probability: number, changes: Row = {}): Row {
  return {
    forecast_id: id(3, n),
    entity_type: 'forecaster',
    entity_id: id(2, person),
    question_id: id(1, question),
    probability,
    forecast_at: MADE,
    recorded_at: RECORDED,
    source: 'import',
    ...changes,
  }
}

/** Scores forecasts of two people on three questions, and returns these columns in order. */
async function scoresOf(forecasts: Row[], columns: string): Promise<object[]> {
  const folder = await testFolder()
  const store = new MemoryStore()
  using worker = await openWorker(store, folder)
  const questions = [UNTIED, TIED, REPEATED].map((n) => id(1, n))
  await send(
    store,
    'questions',
    'a',
    questions.map((question_id) => ({
      question_id,
      title: 'Will it?',
      category: null,
      url: null,
      event_id: null,
      opened_at: OPENED,
      closes_at: CLOSES,
      recorded_at: RECORDED,
    })),
  )
  await send(
    store,
    'resolutions',
    'a',
    questions.map((question_id) => ({
      question_id,
      outcome: 'yes',
      resolved_at: CLOSES,
      recorded_at: RECORDED,
    })),
  )
  const people = [0, 1].map((person) => ({
    user_id: id(2, person),
    recorded_at: RECORDED,
  }))
  await send(store, 'forecasters', 'a', people)
  await send(store, 'forecasts', 'a', forecasts)
  for (const table of SCORED_TABLES) await compact(worker, table)

  const { pairs, writeScores } = await orderEveryone(
    { ...worker, methodology: METHODOLOGY },
    await currentVersions(store),
    LATER,
  )
  const path = `${folder}/scores.parquet`
  await writeScores(path, 0, pairs, { release: 1, as_of: '2026-01-01T00:00:00.000Z' })
  return await worker.database.rows(
    `SELECT question_id, entity_id, ${columns} FROM '${path}' ORDER BY question_id, entity_id`,
  )
}

test(
  'in one millisecond the forecast with the greatest id stands, and of one id the row recorded first counts',
  { tags: ['slow'] },
  async () => {
    const rows = await scoresOf(
      [
        forecast(1, UNTIED, 0, 0.1),
        forecast(2, UNTIED, 1, 0.2),
        // Neither the order of rows nor that of probabilities is the order of ids.
        forecast(14, TIED, 0, 0.3),
        forecast(19, TIED, 0, 0.25),
        forecast(12, TIED, 0, 0.9),
        forecast(15, TIED, 1, 0.4),
        forecast(21, REPEATED, 0, 0.8, { recorded_at: LATER }),
        forecast(21, REPEATED, 0, 0.6),
        forecast(22, REPEATED, 1, 0.7),
      ],
      'forecasts, closing_probability',
    )
    const scored = (question: number, person: number, forecasts: number, closing_probability: number) => ({
      question_id: id(1, question),
      entity_id: id(2, person),
      forecasts,
      closing_probability,
    })
    expect(rows).toEqual([
      scored(UNTIED, 0, 1, 0.1),
      scored(UNTIED, 1, 1, 0.2),
      // Those that stood at no instant do not count.
      scored(TIED, 0, 1, 0.25),
      scored(TIED, 1, 1, 0.4),
      scored(REPEATED, 0, 1, 0.6),
      scored(REPEATED, 1, 1, 0.7),
    ])
  },
)

test(
  'a forecast is witnessed if it came by the API within ten minutes and before the close',
  { tags: ['slow'] },
  async () => {
    const came = (n: number, question: number, person: number, forecast_at: Date, recorded_at: string) =>
      forecast(n, question, person, 0.5, { forecast_at, recorded_at: new Date(recorded_at), source: 'api' })
    const last = new Date('2026-01-10T23:55:00.000Z')
    const rows = await scoresOf(
      [
        came(1, 0, 0, MADE, '2026-01-02T00:10:00.000Z'),
        came(2, 0, 1, MADE, '2026-01-02T00:10:00.001Z'),
        came(3, 1, 0, last, '2026-01-10T23:59:59.999Z'),
        came(4, 1, 1, last, '2026-01-11T00:00:00.000Z'),
        forecast(5, 2, 0, 0.5, { recorded_at: MADE }),
      ],
      'witnessed',
    )
    expect(rows.map((row) => (row as { witnessed: boolean }).witnessed)).toEqual([
      true,
      false,
      true,
      false,
      false,
    ])
  },
)
