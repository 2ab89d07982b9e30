// Runs nodes, releases and imports through a store that answers wrongly, and verifies the store itself after
// each round.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Findings, NO_FINDINGS, StoreCheck, countsOf } from '../support/faults/check-store.ts'
import { Fleet } from '../support/faults/fleet.ts'
import { Load } from '../support/faults/load.ts'
import type { Place } from '../support/worlds/places.ts'
import { fvs } from '../support/process.ts'
import { type Choices, report } from '../support/faults/seeded.ts'
import type { ToxicProxy } from './toxic-proxy.ts'
import {
  SHORT_TIMES,
  batchOf,
  explained,
  importBatch,
  isSound,
  outcomeOf,
  outcomesFile,
  questionsFile,
  releaseNow,
  succeeded,
} from '../support/faults/trouble.ts'

const SETTLE_MS = 20_000

interface Extent {
  rounds: number
  /** How long the store answers wrongly in each round, at least. */
  roundMs: number
}

/** Runs the rounds, prints what they did, and fails unless everything was kept. */
export async function expectKeptThrough(
  name: string,
  { store, options: own }: Place,
  proxy: ToxicProxy,
  choices: Choices,
  { rounds, roundMs }: Extent,
): Promise<void> {
  const options = { folder: own.folder, env: { ...own.env, ...SHORT_TIMES, S3_ENDPOINT: proxy.endpoint } }
  const check = new StoreCheck(store, own.folder)
  const load = new Load(check.promised, choices)
  // Where the store does not find an agent, a key or a question, a node does not know it.
  load.explained = [401, 404]
  const fleet = new Fleet(options, ['releases', 'serves'])
  const done = { release: 0, import: 0 }
  const refused = { release: 0, import: 0 }
  const run = async (command: 'release' | 'import', ...args: string[]): Promise<boolean> => {
    const isDone = explained(command, await fvs([command, ...args], options))
    ;(isDone ? done : refused)[command] += 1
    return isDone
  }
  const releaseUntil = async (signal: AbortSignal) => {
    while (!signal.aborted) await run('release')
  }

  let findings: Findings = NO_FINDINGS
  for (const batch of [0, 1]) await importBatch(options, batch)
  await fleet.start()
  for (let round = 1; round <= rounds && isSound(findings) && load.wrong.length === 0; round++) {
    const stop = new AbortController()
    const imports = [['questions', await questionsFile(own.folder, round + 1)]]
    if (round > 1) imports.push(['resolutions', await outcomesFile(own.folder, round - 2)])
    proxy.share = choices.pick([0.02, 0.05, 0.1])
    // Nodes have known the batch before for a round. The batch before that gets its outcomes.
    const loading = load.run(fleet.urls, batchOf(round - 1), stop.signal)
    const releasing = releaseUntil(stop.signal)
    const importing = imports.map((args) => run('import', ...args))
    const node = choices.whole(0, 1)
    const restarted = pause(roundMs / 3)
      .then(() => fleet.stop(node))
      .then(() => fleet.begin(node))
    const [imported] = await Promise.all([Promise.all(importing), restarted, pause(roundMs)])
    stop.abort()
    await Promise.all([loading, releasing])
    await proxy.calm()
    // What was reported as imported is not imported again: it must be there.
    for (const [index, args] of imports.entries()) {
      if (!imported[index]) await succeeded(fvs(['import', ...args], options))
    }
    if (round > 1) batchOf(round - 2).forEach((id) => check.promised.outcomes.set(id, outcomeOf(id)))
    await fleet.start()
    await releaseNow(options)
    findings = await check.run()
  }
  const soundSoFar = isSound(findings)
  const unsettled = await load.settle(fleet.urlOf(1), soundSoFar ? SETTLE_MS : 0)
  await fleet.stopAll()
  if (soundSoFar) {
    await releaseNow(options)
    findings = await check.run({ everything: true })
  }
  report(name, choices.seed, {
    injected: proxy.total,
    ...proxy.counts,
    requests: proxy.requests,
    rounds,
    releases_made: done.release,
    releases_refused: refused.release,
    imports_done: done.import,
    imports_refused: refused.import,
    nodes_refused: fleet.refusals,
    ...load.counts,
    ...check.extent,
    ...countsOf(findings),
  })
  expect(findings).toEqual(NO_FINDINGS)
  expect(load.wrong).toEqual([])
  expect(unsettled).toBe(0)
  expect(proxy.total).toBeGreaterThan(0)
  expect(load.counts.acknowledged).toBeGreaterThan(0)
}
