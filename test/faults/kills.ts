// Kills serving nodes, releases and imports at random moments while agents register and submit, and verifies
// the store after every round.
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Findings, NO_FINDINGS, StoreCheck, countsOf } from '../support/faults/check-store.ts'
import { Load } from '../support/faults/load.ts'
import type { Place } from '../support/worlds/places.ts'
import { type Running, fvs, startFvs } from '../support/process.ts'
import { type Choices, report } from '../support/faults/seeded.ts'
import {
  SHORT_TIMES,
  batchOf,
  importBatch,
  isSound,
  outcomeOf,
  outcomesFile,
  questionsFile,
  releaseNow,
  succeeded,
} from '../support/faults/trouble.ts'

const SETTLE_MS = 20_000
/** The first node makes releases of its own, every other second. */
const NODES: [args: string[], env: Record<string, string>][] = [
  [['serve'], { RELEASE_SCHEDULE: '*/2 * * * * *', SANDBOX_RELEASE_SCHEDULE: '0 0 1 1 *' }],
  [['serve', '--no-scheduler'], {}],
]

interface StormResult {
  counts: Record<string, number>
  findings: Findings
  /** Answers that no kill explains. */
  wrong: string[]
  unsettled: number
}

interface Node {
  running: Running
  /** Undefined until it serves. */
  url: string | undefined
}

/** Ends at the first round after which something is wrong. */
async function killStorm(
  { store, options: own }: Place,
  choices: Choices,
  kills: number,
): Promise<StormResult> {
  const options = { folder: own.folder, env: { ...own.env, ...SHORT_TIMES } }
  const check = new StoreCheck(store, own.folder)
  const load = new Load(check.promised, choices)
  const killed = { serve: 0, release: 0, import: 0 }
  const nodes: (Node | undefined)[] = [undefined, undefined]
  const urls = () => nodes.flatMap((node) => node?.url ?? [])
  const total = () => killed.serve + killed.release + killed.import

  const start = (slot: number) => {
    const [args, env] = NODES[slot]!
    const running = startFvs(args, { ...options, env: { ...options.env, ...env } })
    const node: Node = { running, url: undefined }
    nodes[slot] = node
    const serving = running.logged(/^\{.*"msg":"serving"\}$/).then((line) => {
      node.url = (JSON.parse(line) as { url: string }).url
    })
    // A node that is killed before it serves never says so.
    serving.catch(() => undefined)
    return serving
  }
  const killNode = async (slot: number) => {
    const node = nodes[slot]
    if (!node) return
    nodes[slot] = undefined
    node.running.child.kill('SIGKILL')
    if ((await node.running.finished).signal === 'SIGKILL') killed.serve += 1
  }
  /** Runs a command and kills it after this time, unless it has ended before. */
  const cutOff = async (command: 'release' | 'import', args: string[], afterMs: number) => {
    const running = startFvs([command, ...args], options)
    const timer = setTimeout(() => running.child.kill('SIGKILL'), afterMs)
    const { signal } = await running.finished
    clearTimeout(timer)
    if (signal === 'SIGKILL') killed[command] += 1
  }

  let findings = NO_FINDINGS
  let rounds = 0
  for (const batch of [0, 1]) await importBatch(options, batch)
  await Promise.all([start(0), start(1)])
  const isDone = () => total() >= kills && load.counts.acknowledged > 0
  while (!isDone() && isSound(findings) && load.wrong.length === 0) {
    rounds += 1
    const victim = choices.whole(0, 1)
    nodes.forEach((node, slot) => void (node ?? start(slot)))
    const stop = new AbortController()
    // Nodes have known the batch before for a round. The batch before that gets its outcomes.
    const loading = load.run(urls, batchOf(rounds - 1), stop.signal)
    const imports = [['questions', await questionsFile(own.folder, rounds + 1)]]
    if (rounds > 1) imports.push(['resolutions', await outcomesFile(own.folder, rounds - 2)])
    await Promise.all([
      pause(choices.whole(0, 1200)).then(() => killNode(victim)),
      ...[150, 500].map((leastMs) => cutOff('release', [], choices.whole(leastMs, leastMs + 700))),
      ...imports.map((args) => cutOff('import', args, choices.whole(150, 700))),
    ])
    // Sometimes everything dies at once, as in a power cut.
    if (choices.chance(0.15)) await killNode(1 - victim)
    stop.abort()
    await loading
    for (const args of imports) await succeeded(fvs(['import', ...args], options))
    if (rounds > 1) batchOf(rounds - 2).forEach((id) => check.promised.outcomes.set(id, outcomeOf(id)))
    await releaseNow(options)
    findings = await check.run()
  }
  const soundSoFar = isSound(findings)
  if (!nodes[1]) await start(1)
  const unsettled = await load.settle(nodes[1]!.url ?? urls()[0]!, soundSoFar ? SETTLE_MS : 0)
  for (const node of nodes) {
    node?.running.child.kill('SIGKILL')
    await node?.running.finished
  }
  if (soundSoFar) {
    await releaseNow(options)
    findings = await check.run({ everything: true })
  }
  return {
    counts: {
      kills: total(),
      killed_nodes: killed.serve,
      killed_releases: killed.release,
      killed_imports: killed.import,
      rounds,
      ...load.counts,
      ...check.extent,
      ...countsOf(findings),
    },
    findings,
    wrong: load.wrong,
    unsettled,
  }
}

/** Runs a storm, prints what it did, and fails unless everything was kept. */
export async function expectKept(name: string, place: Place, choices: Choices, kills: number): Promise<void> {
  const { counts, findings, wrong, unsettled } = await killStorm(place, choices, kills)
  report(name, choices.seed, counts)
  expect(findings).toEqual(NO_FINDINGS)
  expect(wrong).toEqual([])
  expect(unsettled).toBe(0)
  expect(counts['kills']).toBeGreaterThanOrEqual(kills)
  expect(counts['acknowledged']).toBeGreaterThan(0)
}
