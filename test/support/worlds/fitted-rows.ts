// Random pairs to fit strengths to, of two pools, with questions that few or many answer.
import { METHODOLOGY } from '../../../pipeline/scoring/methodology.ts'
import { FITTED_COLUMNS, type FittedEntities, type FittedPairs } from '../../../pipeline/scoring/strength.ts'
import { isVoice } from '../../../pipeline/scoring/voices.ts'
import { choicesOf } from '../faults/seeded.ts'

export const ENTITIES = 120
export const QUESTIONS = 400
const NONE = -1

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

/** Two thirds are voices. Of the others every second one has an owner whose voice is the next entity. */
export const entities: FittedEntities = {
  voices: Int32Array.from(numbers(ENTITIES), (entity) => {
    if (entity % 3 > 0) return entity
    return entity % 6 === 0 ? entity + 1 : NONE
  }),
  // In another order than the numbers.
  ids: numbers(ENTITIES).map((entity) => `entity ${1000 + ((entity * 37) % ENTITIES)}`),
}

/** Voices answer the questions of one pool; the others answer any. */
function answers(entity: number, question: number): boolean {
  return entity % 3 === 0 || entity % 6 >= 4 === (question % 2 === 1)
}

export type FittedRow = Record<keyof typeof FITTED_COLUMNS, number>

export function randomRows(): FittedRow[] {
  const random = choicesOf(7).random
  const rows: Omit<FittedRow, 'own_weight' | 'contested'>[] = []
  for (let question = 0; question < QUESTIONS; question++) {
    const share = random() < 0.2 ? 0.02 : random() * 0.5
    const difficulty = random() * 4e8
    for (let entity = 0; entity < ENTITIES; entity++) {
      if (random() > share || !answers(entity, question)) continue
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
  const voices = Map.groupBy(
    rows.filter(({ entity }) => isVoice(entities.voices, entity)),
    ({ question }) => question,
  )
  return rows.map((row) => {
    const taking = voices.get(row.question) ?? []
    const own = taking.find(({ entity }) => entity === entities.voices[row.entity])
    const others = taking.length - (own ? 1 : 0)
    const contested = others >= METHODOLOGY.parameters.contest_voices ? 1 : 0
    return { ...row, own_weight: own?.weight ?? 0, contested }
  })
}

export function columnsOf(rows: readonly FittedRow[]): FittedPairs {
  const columns = Object.keys(FITTED_COLUMNS).map((name) => [
    name,
    Int32Array.from(rows, (row) => row[name as keyof FittedRow]),
  ])
  return { rowCount: rows.length, columns: Object.fromEntries(columns) as FittedPairs['columns'] }
}
