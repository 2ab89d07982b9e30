// What the tests of faults share: short times, batches of questions to submit to, and commands that must
// succeed.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Findings } from './check-store.ts'
import { type Finished, type ProcessOptions, fvs } from '../process.ts'
import { uuidOf } from '../worlds/world.ts'

const QUESTIONS_PER_BATCH = 3
const DAY_MS = 86_400_000

/** Short, so that a call that a dead node has left can soon be repeated: a claim is left alone for 7 s. */
export const SHORT_TIMES = {
  STORE_TIMEOUT_MS: '1500',
  COMMIT_TIMEOUT_MS: '500',
  REFRESH_MS: '200',
  USAGE_FLUSH_MS: '300',
}

/** Makes the questions of a batch known. */
export async function importBatch(options: ProcessOptions, batch: number): Promise<void> {
  await succeeded(fvs(['import', 'questions', await questionsFile(options.folder, batch)], options))
}

export const isSound = (findings: Findings): boolean =>
  Object.values(findings).every((list) => list.length === 0)

export async function succeeded(command: Promise<Finished>): Promise<Finished> {
  const finished = await command
  if (finished.code === 0) return finished
  throw new Error(`a command that was not cut off ended with ${finished.code}: ${finished.stderr}`)
}

/**
 * Whether a command did its work. One that did not must say why in words of its own, and not as a program
 * that broke.
 */
export function explained(command: string, { code, stderr }: Finished): boolean {
  if (code === 0) return true
  if (code === 1 && /^fvs: (?!unexpected failure)/m.test(stderr)) return false
  throw new Error(`fvs ${command} ended with ${code}: ${stderr}`)
}

/**
 * Makes a release that holds everything acknowledged so far: one that another run has published might not.
 */
export async function releaseNow(options: ProcessOptions): Promise<void> {
  for (;;) {
    const { stdout } = await succeeded(fvs(['release', '--json'], options))
    if ((JSON.parse(stdout) as { made: boolean }).made) return
  }
}

/** The questions of a batch, by its number. */
export const batchOf = (batch: number): string[] =>
  Array.from({ length: QUESTIONS_PER_BATCH }, (_, index) => uuidOf(7, batch * QUESTIONS_PER_BATCH + index))

export const outcomeOf = (questionId: string): string =>
  parseInt(questionId.at(-1)!, 16) % 2 === 0 ? 'yes' : 'no'

const daysFromNow = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

export async function questionsFile(folder: string, batch: number): Promise<string> {
  const lines = batchOf(batch).map(
    (id) => `${id},Batch ${batch}?,kills,,${daysFromNow(-1)},${daysFromNow(30)}`,
  )
  const path = join(folder, `questions-${batch}.csv`)
  await writeFile(path, ['question_id,title,category,url,opened_at,closes_at', ...lines, ''].join('\n'))
  return path
}

export async function outcomesFile(folder: string, batch: number): Promise<string> {
  const lines = batchOf(batch).map((id) => `${id},${outcomeOf(id)},${daysFromNow(0)}`)
  const path = join(folder, `outcomes-${batch}.csv`)
  await writeFile(path, ['question_id,outcome,resolved_at', ...lines, ''].join('\n'))
  return path
}
