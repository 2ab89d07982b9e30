// How often is an agent without skill certified, and how soon one with skill? Simulated worlds, decided by
// the service's own code. Deterministic; prints Markdown tables, and fails if a share leaves its range
// likelier than promised. Run: npm run certification [-- --quick]
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { type Estimate, meanWithInterval, quantileOf, shareOf } from './certification/estimate.ts'
import { STUDIES } from './certification/studies.ts'
import type { Range, Values } from './certification/study.ts'
import type { Done, Task } from './certification/worker.ts'

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    threads: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
  },
})

const studies = [...STUDIES].filter(([name]) => name.startsWith(flags.only))
const tasks: Task[] = studies.flatMap(([name, { worlds, quick }]) =>
  Array.from({ length: flags.quick ? quick : worlds }, (_, world) => ({ name, world })),
)

const results = new Map(studies.map(([name]): [string, Values[]] => [name, []]))
const finished = new Map(studies.map(([name]) => [name, Promise.withResolvers<void>()]))
const left = new Map(
  Array.from(
    Map.groupBy(tasks, ({ name }) => name),
    ([name, own]) => [name, own.length],
  ),
)

/** Simulates in a thread of its own until no task is left. */
function simulateWithOthers(): void {
  const worker = new Worker(new URL('./certification/worker.ts', import.meta.url))
  const send = () => {
    const task = tasks.shift()
    if (task === undefined) void worker.terminate()
    else worker.postMessage(task)
  }
  worker.on('error', (error) => {
    throw error
  })
  worker.on('message', ({ name, world, values }: Done) => {
    results.get(name)![world] = values
    left.set(name, left.get(name)! - 1)
    if (left.get(name) === 0) finished.get(name)!.resolve()
    send()
  })
  send()
}

const perCent = (x: number) => (100 * x).toFixed(1)
const written = ({ value, lower, upper }: Estimate, shown: 'share' | 'number') => {
  const write = shown === 'share' ? perCent : (x: number) => x.toFixed(3).replace('-', '−')
  return `${write(value)}${shown === 'share' ? ' %' : ''} (${write(lower)} to ${write(upper)})`
}
const rangeOf = ({ least, most, open }: Range) =>
  `${100 * least} to ${100 * most} %${open === undefined ? '' : `, open: ${open}`}`

for (let thread = 0; thread < Number(flags.threads); thread++) simulateWithOthers()
console.log('| how | range | certified | median questions | worlds |')
console.log('| --- | --- | --- | --- | --- |')
for (const [name, { titles }] of studies) {
  await finished.get(name)!.promise
  const worlds = results.get(name)!
  for (const { how, value, range } of titles) {
    const needed = worlds.map((values) => values[value]!)
    const rate = shareOf(needed.map((questions) => (questions < Infinity ? 1 : 0)))
    const median = quantileOf(needed, 0.5).value
    const questions = median === Infinity ? '–' : String(median)
    console.log(
      `| ${how} | ${rangeOf(range)} | ${written(rate, 'share')} | ${questions} | ${worlds.length} |`,
    )
    if (rate.lower > range.most || rate.upper < range.least) {
      console.error(`${how}: ${written(rate, 'share')}, not in ${rangeOf(range)}`)
      process.exitCode = 1
    }
  }
}
console.log('\n| measured | result | worlds |')
console.log('| --- | --- | --- |')
for (const [name, { measures = [] }] of studies) {
  const worlds = results.get(name)!
  for (const { about, value, shown } of measures) {
    const values = worlds.map((world) => world[value]!)
    const estimate = shown === 'share' ? shareOf(values) : meanWithInterval(values)
    console.log(`| ${about} | ${written(estimate, shown)} | ${worlds.length} |`)
  }
}
console.log('\n| study | why nobody is better than the average of the others |')
console.log('| --- | --- |')
for (const [name, { withoutSkill }] of studies) {
  if (withoutSkill !== undefined) console.log(`| ${name} | ${withoutSkill} |`)
}
