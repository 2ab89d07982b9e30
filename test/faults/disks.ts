// Runs a node on a disk that fails, and verifies that it answers 503, that commands refuse, that both go on
// by themselves once the cause is gone, and that the store has kept everything.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { NO_FINDINGS, StoreCheck, countsOf } from '../support/faults/check-store.ts'
import { Fleet } from '../support/faults/fleet.ts'
import { Load } from '../support/faults/load.ts'
import type { Place } from '../support/worlds/places.ts'
import { fvs } from '../support/process.ts'
import { type Choices, report } from '../support/faults/seeded.ts'
import { Client } from '../support/http/service.ts'
import {
  SHORT_TIMES,
  batchOf,
  explained,
  importBatch,
  questionsFile,
  releaseNow,
} from '../support/faults/trouble.ts'

const FAILING_MS = 1_000
const RECOVERS_WITHIN_MS = 20_000

/** How a disk is made to fail. */
export interface Failure {
  name: string
  /** Makes it fail for the node with this process id, and returns what ends the failure. */
  begin: (pid: number) => Promise<() => Promise<void>>
  /** What `/readyz?for=forecasts` says meanwhile. */
  says: RegExp
  /**
   * The commands that meet the failure too, and refuse. An import would begin a store where there is none.
   */
  refuses: ('release' | 'import')[]
}

/** Runs a failure, prints what it did, and fails unless everything was kept. */
export async function expectKeptOn(
  { store, options: own }: Place,
  choices: Choices,
  { name, begin, says, refuses }: Failure,
): Promise<void> {
  const options = { ...own, env: { ...own.env, ...SHORT_TIMES, PROBE_MS: '200' } }
  const check = new StoreCheck(store, own.folder)
  const load = new Load(check.promised, choices)
  const fleet = new Fleet(options, ['releases'])
  for (const batch of [0, 1]) await importBatch(options, batch)
  await fleet.start()
  await load.runFor(1_000, fleet.urls, batchOf(0))
  const before = { ...load.counts }
  const client = new Client(fleet.urlOf(0))
  const readiness = async () => client.get('/readyz?for=forecasts')
  const isReady = () =>
    expect.poll(async () => (await readiness()).status, { timeout: RECOVERS_WITHIN_MS }).toBe(200)
  await isReady()

  const end = await begin(fleet.pidOf(0))
  const stop = new AbortController()
  const loading = load.run(fleet.urls, batchOf(0), stop.signal)
  await expect.poll(readiness, { timeout: RECOVERS_WITHIN_MS }).toMatchObject({ status: 503 })
  const said = (await readiness()).text
  const file = { release: [], import: ['questions', await questionsFile(own.folder, 2)] }
  const refused: string[] = []
  for (const command of refuses) {
    if (!explained(command, await fvs([command, ...file[command]], options))) refused.push(command)
  }
  await pause(FAILING_MS)
  await end()
  await isReady()
  const failed = load.counts.unanswered - before.unanswered
  const acknowledged = load.counts.acknowledged
  await load.runFor(1_000, fleet.urls, batchOf(1))
  stop.abort()
  await loading
  const recovered = load.counts.acknowledged - acknowledged
  const unsettled = await load.settle(fleet.urlOf(0), RECOVERS_WITHIN_MS)
  await fleet.stopAll()
  await releaseNow(options)
  const findings = await check.run({ everything: true })
  report(name, choices.seed, {
    calls_failed: failed,
    commands_refused: refused.length,
    ...load.counts,
    acknowledged_after: recovered,
    ...check.extent,
    ...countsOf(findings),
  })
  expect(said).toMatch(says)
  expect(refused).toEqual(refuses)
  expect(failed).toBeGreaterThan(0)
  expect(recovered).toBeGreaterThan(0)
  expect(load.wrong).toEqual([])
  expect(unsettled).toBe(0)
  expect(findings).toEqual(NO_FINDINGS)
}
