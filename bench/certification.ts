// How often is an agent without skill certified, and how soon one with skill? Simulated worlds, decided by
// the service's own code. Deterministic; prints a Markdown table, and fails if a false certificate is
// likelier than promised. Run: npm run certification [-- --quick]
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Estimate } from './certification/estimate.ts'
import { ROWS, type Row } from './certification/rows.ts'
import { SCENARIOS, type Values } from './certification/scenarios.ts'
import type { Done, Task } from './certification/worker.ts'

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    threads: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
  },
})

const names = Object.keys(SCENARIOS).filter((name) => name.startsWith(flags.only))
const tasks: Task[] = names.flatMap((name) => {
  const { worlds, quick } = SCENARIOS[name]!
  return Array.from({ length: flags.quick ? quick : worlds }, (_, world) => ({ name, world }))
})

/** The values of every world, in the order of their numbers, whichever thread simulated them. */
async function simulateAll(): Promise<Map<string, Values[]>> {
  const results = new Map(names.map((name): [string, Values[]] => [name, []]))
  let next = 0
  const threads = Array.from({ length: Number(flags.threads) }, async () => {
    const worker = new Worker(new URL('./certification/worker.ts', import.meta.url))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const send = () => {
      const task = tasks[next++]
      if (task === undefined) resolve()
      else worker.postMessage(task)
    }
    worker.on('error', reject)
    worker.on('message', ({ name, world, values }: Done) => {
      results.get(name)![world] = values
      send()
    })
    send()
    try {
      await promise
    } finally {
      await worker.terminate()
    }
  })
  await Promise.all(threads)
  return results
}

function written({ value, lower, upper }: Estimate, shown: Row['shown']): string {
  const write = {
    'per cent': (x: number) => (100 * x).toFixed(1),
    decimals: (x: number) => x.toFixed(3).replace('-', '−'),
    questions: (x: number) => (x === Infinity ? 'more than 1,200' : String(x)),
  }[shown]
  return `${write(value)}${shown === 'per cent' ? ' %' : ''} (${write(lower)} to ${write(upper)})`
}

const results = await simulateAll()
console.log('| measured | result | worlds |')
console.log('| --- | --- | --- |')
for (const row of ROWS) {
  const worlds = results.get(row.scenario)
  if (worlds === undefined) continue
  const estimate = row.estimate(worlds.map((values) => values[row.value]!))
  console.log(`| ${row.about} | ${written(estimate, row.shown)} | ${worlds.length} |`)
  if (row.limit !== undefined && estimate.lower > row.limit) {
    console.error(`${row.about}: above ${100 * row.limit} % beyond its interval`)
    process.exitCode = 1
  }
}
