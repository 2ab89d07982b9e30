// The benchmarks of growth, in lines: ratios are of figures of the same turn, the median and the least and
// the most.
import type { Timed } from '../process.ts'
import { median, spread } from '../spread.ts'
import type { PublishingFigures } from './publishing.ts'
import type { StartFigures } from './start.ts'
import type { Volume } from './volume.ts'

export interface GrowthFigures {
  start: StartFigures
  publishing: PublishingFigures
  volume: Record<'tenth' | 'whole', Volume>[]
}

const whole = (number: number) => Math.round(number).toLocaleString('en')

export function growthReport({ start, publishing, volume }: GrowthFigures): string[] {
  const node = start.turns.map((turn) => turn.node)
  const few = start.turns.map((turn) => turn.few)
  const many = start.turns.map((turn) => turn.many)
  const published = publishing.turns.map((turn) => turn.published)
  const copied = publishing.turns.map((turn) => turn.copied)
  const tenth = volume.map((turn) => turn.tenth)
  const all = volume.map((turn) => turn.whole)
  return [
    '',
    'Start of a process to its first answer, a verification',
    line('node -e 0', node),
    line('the service on a store with 1 release', few),
    line(`with ${whole(start.manyReleases)} releases`, many),
    ...ratios('with 1 release to node -e 0', few, node),
    ...ratios('with many releases to node -e 0', many, node),
    '',
    `Publishing ${whole(publishing.entities)} entities: ${whole(publishing.files)} files of ${whole(publishing.bytes / 2 ** 20)} MiB in all`,
    line('made, signed, hashed and stored, each durable', published),
    line('peer: cp -r of the same files, then sync', copied),
    ...ratios('to cp -r', published, copied),
    '',
    `Releases of ${whole(all[0]!.forecasts)} forecasts and of ${whole(tenth[0]!.forecasts)}`,
    line('of a tenth', tenth),
    line('of all', all),
    ...ratios('for each forecast', perForecast(all), perForecast(tenth)),
    `   most memory: ${whole(Math.max(...tenth.map(inMiB)))} MiB, and ${whole(Math.max(...all.map(inMiB)))} MiB of all`,
  ]
}

function inMiB({ peakBytes }: Volume): number {
  return peakBytes / 2 ** 20
}

function perForecast(all: readonly Volume[]): Timed[] {
  return all.map(({ forecasts, seconds, cpuSeconds }) => {
    return { seconds: seconds / forecasts, cpuSeconds: cpuSeconds / forecasts }
  })
}

function line(what: string, all: readonly Timed[]): string {
  const [seconds, cpuSeconds] = (['seconds', 'cpuSeconds'] as const).map((unit) =>
    median(all.map((one) => one[unit]))
      .toFixed(3)
      .padStart(9),
  )
  return ` ${seconds} s ${cpuSeconds} CPU s  ${what}`
}

function ratios(what: string, ours: readonly Timed[], theirs: readonly Timed[]): string[] {
  return [
    `   wall time ${what}: ${spread(ours.map((one, turn) => one.seconds / theirs[turn]!.seconds))}`,
    `   CPU ${what}: ${spread(ours.map((one, turn) => one.cpuSeconds / theirs[turn]!.cpuSeconds))}`,
  ]
}
