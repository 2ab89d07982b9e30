// A small world of human forecasters as files for `fvs import`, the same every time.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ImportKind } from '../../../pipeline/import/columns.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 1)
const QUESTIONS = 60
const FORECASTERS = 12

/** Writes the world into a folder and returns its files in the order in which they must be imported. */
export async function writeSmallWorld(folder: string): Promise<[ImportKind, string][]> {
  const random = randomNumbers(20260101)
  const questions = ['question_id,title,category,url,opened_at,closes_at']
  const resolutions = ['question_id,outcome,resolved_at']
  const forecasts = ['entity_type,entity_id,question_id,probability,forecast_at']
  for (let q = 0; q < QUESTIONS; q++) {
    const truth = random()
    const openedMs = START_MS + Math.floor(random() * 20) * DAY_MS
    const closesMs = openedMs + 10 * DAY_MS
    const outcome = q % 20 === 7 ? 'annulled' : random() < truth ? 'yes' : 'no'
    questions.push(`${id(1, q)},"Will it be so, ""${q}""?",simulated,,${iso(openedMs)},${iso(closesMs)}`)
    resolutions.push(`${id(1, q)},${outcome},${iso(closesMs - (q % 3) * DAY_MS)}`)
    for (let f = 0; f < FORECASTERS; f++) {
      const updates = Math.floor(random() * 4)
      for (let u = 0; u < updates; u++) {
        const noise = (random() - 0.5) * (0.1 + f / FORECASTERS)
        const probability = Math.min(1, Math.max(0, truth + noise)).toFixed(6)
        const atMs = openedMs - DAY_MS + Math.floor(random() * 11 * DAY_MS)
        forecasts.push(`forecaster,${id(2, f)},${id(1, q)},${probability},${iso(atMs)}`)
      }
    }
  }
  await mkdir(folder, { recursive: true })
  const files: [ImportKind, string[]][] = [
    ['questions', questions],
    ['resolutions', resolutions],
    ['forecasts', forecasts],
  ]
  return Promise.all(
    files.map(async ([kind, lines]): Promise<[ImportKind, string]> => {
      const path = join(folder, `${kind}.csv`)
      await writeFile(path, `${lines.join('\n')}\n`)
      return [kind, path]
    }),
  )
}

const iso = (ms: number) => new Date(ms).toISOString()
const id = (kind: number, n: number) => `00000000-0000-4000-800${kind}-${n.toString(16).padStart(12, '0')}`

/** mulberry32 of Tommy Ettinger, public domain: random enough for a test world. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
