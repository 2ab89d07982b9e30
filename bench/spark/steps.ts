// What each step of a job on Spark took, from the log of events that Spark writes and from what its filters
// report.
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { z } from 'zod'

export interface Step {
  name: string
  /** From the beginning of its first piece of work to the end of its last. */
  seconds: number
  /** Of Spark's tasks, and of the filters in them. */
  taskCpuS: number
  filterCpuS: number
  shuffleBytes: number
  spilledBytes: number
  /** The most that a task held for sorting and grouping, and the most that a filter held. */
  taskPeakBytes: number
  filterPeakBytes: number
}

const event = z.looseObject({ Event: z.string() })
const jobStart = z.object({
  'Stage IDs': z.array(z.number()),
  'Submission Time': z.number(),
  Properties: z.looseObject({ 'spark.job.description': z.string().default('other') }),
})
const taskEnd = z.object({
  'Stage ID': z.number(),
  'Task Info': z.object({ 'Finish Time': z.number() }),
  'Task Metrics': z
    .object({
      'Executor CPU Time': z.number(),
      'Peak Execution Memory': z.number(),
      'Disk Bytes Spilled': z.number(),
      'Shuffle Write Metrics': z.object({ 'Shuffle Bytes Written': z.number() }),
    })
    .optional(),
})
const filterUse = z.object({ cpuS: z.number(), mib: z.number() })

/**
 * The steps in order. `filters` has a line for each filter: its words, and what `bench/usage.ts` reports of
 * it.
 */
export async function stepsOf(events: string, filters: string): Promise<Step[]> {
  const steps = new Map<string, Step & { from: number }>()
  const stepOf = new Map<number, string>()
  const step = (name: string, from = 0) => {
    const known = steps.get(name)
    if (known) return known
    const sizes = { shuffleBytes: 0, spilledBytes: 0, taskPeakBytes: 0, filterPeakBytes: 0 }
    const made = { name, from, seconds: 0, taskCpuS: 0, filterCpuS: 0, ...sizes }
    steps.set(name, made)
    return made
  }
  for await (const line of createInterface({ input: createReadStream(events) })) {
    const found = event.parse(JSON.parse(line))
    if (found.Event === 'SparkListenerJobStart') {
      const { Properties, 'Stage IDs': stages, 'Submission Time': at } = jobStart.parse(found)
      const { name } = step(nameOf(Properties['spark.job.description']), at)
      for (const stage of stages) if (!stepOf.has(stage)) stepOf.set(stage, name)
    }
    if (found.Event !== 'SparkListenerTaskEnd') continue
    const { 'Stage ID': stage, 'Task Info': task, 'Task Metrics': metrics } = taskEnd.parse(found)
    const own = step(stepOf.get(stage) ?? 'other', task['Finish Time'])
    own.seconds = Math.max(own.seconds, (task['Finish Time'] - own.from) / 1000)
    if (!metrics) continue
    own.taskCpuS += metrics['Executor CPU Time'] / 1e9
    own.shuffleBytes += metrics['Shuffle Write Metrics']['Shuffle Bytes Written']
    own.spilledBytes += metrics['Disk Bytes Spilled']
    own.taskPeakBytes = Math.max(own.taskPeakBytes, metrics['Peak Execution Memory'])
  }
  for (const line of (await readFile(filters, 'utf8')).trimEnd().split('\n')) {
    const brace = line.indexOf('{')
    const { cpuS, mib } = filterUse.parse(JSON.parse(line.slice(brace)))
    const own = step(stepRunning(line.slice(0, brace).trim()))
    own.filterCpuS += cpuS
    own.filterPeakBytes = Math.max(own.filterPeakBytes, mib * 2 ** 20)
  }
  return [...steps.values()]
}

/** Delta Lake adds to the name of the step for which it reads a log. */
function nameOf(description: string): string {
  return description.replace(/^(Delta: )+/, '').split(':')[0]!
}

const STEPS: Record<string, string> = { sweep: 'swept', score: 'scored', parts: 'part', tally: 'tally' }

/** The step in which a filter runs, by its words, such as `publish shards`. */
function stepRunning(words: string): string {
  const [stage, files] = words.split(' ') as [string, string?]
  return STEPS[stage] ?? `${files}_published`
}
