// What the benchmark of writes prints: each party's figures, and its ratios to the peer in the same turn with their spread.
import { spread } from './turns.ts'
import type { WriteFigures, Writes } from './writes.ts'

const NAMES: Record<string, string> = {
  service: 'the service',
  receipts: 'the service, with receipts',
  postgres: 'peer: INSERT and COMMIT in PostgreSQL 15',
  batch: 'a hundred in one call',
}

export function writesReport({ singles, batches }: Record<'singles' | 'batches', Writes[]>): string[] {
  const lines: string[] = []
  for (const [all, beside] of [
    [singles, 'postgres'],
    [batches, 'service'],
  ] as const) {
    for (const { connections, turns } of all) {
      lines.push(
        '',
        `Writes on ${connections} connections, durable before the answer; ${turns.length} turns, medians`,
      )
      for (const name of Object.keys(turns[0]!).toSorted() as (keyof (typeof turns)[number])[]) {
        const of = (member: keyof WriteFigures) => spread(turns.map((turn) => turn[name]![member]))
        lines.push(
          ` ${of('rowsPerSecond').middle.toFixed(0).padStart(7)} forecasts/s  ${of('cpuUs').middle.toFixed(0).padStart(4)} µs of CPU each  ` +
            `p50 ${of('p50Ms').middle.toFixed(1)} ms  p99 ${of('p99Ms').middle.toFixed(1)} ms  ${NAMES[name]}`,
        )
        if (name === beside || turns[0]![beside] === undefined) continue
        const ratio = (member: keyof WriteFigures) =>
          shown(spread(turns.map((turn) => turn[name]![member] / turn[beside]![member])))
        lines.push(`          ratio of forecasts/s ${ratio('rowsPerSecond')}; of CPU ${ratio('cpuUs')}`)
      }
    }
  }
  return lines
}

function shown({ least, middle, most }: ReturnType<typeof spread>): string {
  return `${middle.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`
}
