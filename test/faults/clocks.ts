// Runs two nodes whose clocks are apart on one store, both of which release, and verifies the store.
import { fileURLToPath } from 'node:url'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { QuestionBook } from '../../api/questions/book.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { NO_FINDINGS, StoreCheck, countsOf } from '../support/faults/check-store.ts'
import { Fleet } from '../support/faults/fleet.ts'
import { Load } from '../support/faults/load.ts'
import type { Place } from '../support/worlds/places.ts'
import { type ProcessOptions, fvs } from '../support/process.ts'
import { type Choices, report } from '../support/faults/seeded.ts'
import { Client, testComponents } from '../support/http/service.ts'
import {
  SHORT_TIMES,
  batchOf,
  explained,
  importBatch,
  releaseNow,
  succeeded,
} from '../support/faults/trouble.ts'

const AHEAD = fileURLToPath(new URL('../support/faults/clock-ahead.ts', import.meta.url))
export const TEN_MINUTES_MS = 600_000

/** Variables with which a process and all that it starts have a clock that is ahead, or behind. */
const clockAhead = (ms: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=${AHEAD}`,
  CLOCK_AHEAD_MS: String(ms),
})

interface Apart {
  /** How far the clock of the second node is ahead. */
  aheadMs: number
  /** Whether it may take forecasts and make releases. */
  takesForecasts: boolean
}

export async function expectKeptApart(
  name: string,
  { store, options: own }: Place,
  choices: Choices,
  { aheadMs, takesForecasts }: Apart,
): Promise<void> {
  const options = { folder: own.folder, env: { ...own.env, ...SHORT_TIMES } }
  const ahead = { folder: own.folder, env: { ...options.env, ...clockAhead(aheadMs) } }
  const check = new StoreCheck(store, own.folder)
  const [load, second] = [new Load(check.promised, choices), new Load(check.promised, choices)]
  for (const batch of [0, 1]) await importBatch(options, batch)
  const right = new Fleet(options, ['releases'])
  const wrong = new Fleet(ahead, ['releases'])
  await Promise.all([right.start(), wrong.start()])
  const commands = { made: 0, refused: 0 }
  await Promise.all([
    load.runFor(5_000, right.urls, batchOf(0), ({ acknowledged }) => acknowledged > 0),
    second.runFor(
      5_000,
      wrong.urls,
      batchOf(1),
      ({ acknowledged, unanswered }) => (takesForecasts ? acknowledged : unanswered) > 0,
    ),
    ...[options, ahead].map(async (each) => {
      const made = explained('release', await fvs(['release'], each))
      commands[made ? 'made' : 'refused'] += 1
    }),
  ])
  const ready = await new Client(wrong.urlOf(0)).get('/readyz?for=forecasts')
  await Promise.all([right.stopAll(), wrong.stopAll()])
  const counted = await outcomeAfterCorrection(options, ahead, store)
  // No release goes back before the last one, so that the clock that is ahead makes it if it may make any.
  await releaseNow(takesForecasts ? ahead : options)
  const findings = await check.run({ everything: true })
  report(name, choices.seed, {
    clock_ahead_ms: aheadMs,
    releases_made_by_commands: commands.made,
    releases_refused: commands.refused,
    acknowledged: load.counts.acknowledged + second.counts.acknowledged,
    acknowledged_by_the_clock_ahead: second.counts.acknowledged,
    refused_by_the_clock_ahead: second.counts.unanswered,
    ...check.extent,
    ...countsOf(findings),
  })
  expect(findings).toEqual(NO_FINDINGS)
  expect([...load.wrong, ...second.wrong]).toEqual([])
  expect(load.counts.acknowledged).toBeGreaterThan(0)
  expect(ready.status).toBe(takesForecasts ? 200 : 503)
  if (takesForecasts) expect(second.counts.acknowledged).toBeGreaterThan(0)
  else {
    expect(ready.text).toContain('at most 60 s are allowed')
    expect(commands.refused).toBeGreaterThan(0)
    expect(second.counts.acknowledged).toBe(0)
    expect(second.counts.unanswered).toBeGreaterThan(0)
  }
  expect(counted).toBe('no')
}

/**
 * Imports an outcome under the clock that is ahead, then another one under the right clock, and says which
 * counts.
 */
async function outcomeAfterCorrection(
  right: ProcessOptions,
  ahead: ProcessOptions,
  store: Store,
): Promise<string | null> {
  const [question] = batchOf(0)
  const resolvedAt = new Date(Date.now() - TEN_MINUTES_MS).toISOString()
  const path = join(right.folder, 'correction.csv')
  let behindMs = 0
  for (const [outcome, options] of [['yes', ahead] as const, ['no', right] as const]) {
    await writeFile(path, `question_id,outcome,resolved_at\n${question},${outcome},${resolvedAt}\n`)
    const { stdout } = await succeeded(fvs(['import', 'resolutions', path, '--json'], options))
    behindMs = (JSON.parse(stdout) as { clock_behind_ms: number }).clock_behind_ms
  }
  expect(behindMs).toBeGreaterThan(0)
  const components = await testComponents({ store, folder: right.folder })
  const book = new QuestionBook({ ...components, now: components.now })
  await book.refresh()
  return (await book.find(question!)).outcome
}
