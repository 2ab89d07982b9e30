// Random pairs to fit strengths to, with questions that few or many answer.
import { FITTED_COLUMNS, type FittedPairs } from '../../../pipeline/scoring/strength.ts'
import { choicesOf } from '../faults/seeded.ts'

export const ENTITIES = 120
export const QUESTIONS = 400
/** Two thirds are voices. */
export const voices = Uint8Array.from({ length: ENTITIES }, (_, entity) => (entity % 3 === 0 ? 0 : 1))

export type FittedRow = Record<keyof typeof FITTED_COLUMNS, number>

export function randomRows(): FittedRow[] {
  const random = choicesOf(7).random
  const rows: Omit<FittedRow, 'voices'>[] = []
  for (let question = 0; question < QUESTIONS; question++) {
    const share = random() < 0.2 ? 0.02 : random() * 0.5
    const difficulty = random() * 4e8
    for (let entity = 0; entity < ENTITIES; entity++) {
      if (random() > share) continue
      const weight = Math.max(1, Math.round(random() * 10_000))
      const part = (x: number) => Math.min(1e9, Math.round((x * weight) / 10_000))
      rows.push({
        question,
        entity,
        weight,
        brier: part(difficulty * (0.02 + (entity / ENTITIES) * 3 * random())),
        reference: part(difficulty * (0.5 + random())),
      })
    }
  }
  const taking = Map.groupBy(
    rows.filter(({ entity }) => voices[entity] === 1),
    ({ question }) => question,
  )
  return rows.map((row) => ({
    ...row,
    voices: (taking.get(row.question)?.length ?? 0) - (voices[row.entity] === 1 ? 1 : 0),
  }))
}

export function columnsOf(rows: readonly FittedRow[]): FittedPairs {
  const columns = Object.keys(FITTED_COLUMNS).map((name) => [
    name,
    Int32Array.from(rows, (row) => row[name as keyof FittedRow]),
  ])
  return { rowCount: rows.length, columns: Object.fromEntries(columns) as FittedPairs['columns'] }
}
