// What the benchmark of writes prints: each party's figures, and its ratios to the peer in the same turn with
// their spread.
import { spread } from './turns.ts'
import type { AllWrites, WriteFigures, WriteParty, Writes } from './writes.ts'

const NAMES: Record<WriteParty, string> = {
  batch: 'the service, a hundred in one call',
  service: 'the service',
  receipts: 'the service, with receipts',
  unsynced: 'the service without a disk, which is not durable',
  postgres: 'peer: INSERT and COMMIT in PostgreSQL 15',
}

export function writesReport({ singles, batches, syncs }: AllWrites): string[] {
  return [
    ...singles.flatMap((writes) => loadLines(writes, 'postgres')),
    ...batches.flatMap((writes) => loadLines(writes, 'service')),
    ...syncLines(syncs),
  ]
}

/** Of the parties that had turns, each beside one of them, if that had any. */
function loadLines({ connections, turns }: Writes, beside: WriteParty): string[] {
  const lines = [
    '',
    `Writes on ${connections} connections, durable before the answer; ${turns.length} turns, medians`,
  ]
  for (const name of (Object.keys(NAMES) as WriteParty[]).filter((party) => turns[0]?.[party])) {
    const middle = (member: keyof WriteFigures, decimals = 0) =>
      spread(turns.map((turn) => turn[name]![member])).middle.toFixed(decimals)
    lines.push(
      ` ${middle('rowsPerSecond').padStart(7)} forecasts/s  ${middle('cpuUs').padStart(4)} µs of CPU each  ` +
        `p50 ${middle('p50Ms', 1)} ms  p99 ${middle('p99Ms', 1)} ms  ${NAMES[name]}`,
    )
    if (name === beside || turns[0]?.[beside] === undefined) continue
    const ratio = (member: keyof WriteFigures) =>
      shown(turns.map((turn) => turn[name]![member] / turn[beside]![member]))
    lines.push(`          ratio of forecasts/s ${ratio('rowsPerSecond')}; of CPU ${ratio('cpuUs')}`)
  }
  return lines
}

function syncLines(turns: AllWrites['syncs']): string[] {
  const line = (name: 'object' | 'append', what: string) => {
    const middle = (member: 'wallUs' | 'cpuUs') =>
      spread(turns.map((turn) => turn[name][member])).middle.toFixed(0)
    return ` ${middle('wallUs').padStart(7)} µs  ${middle('cpuUs').padStart(6)} µs of CPU  ${what}`
  }
  const ratio = (member: 'wallUs' | 'cpuUs') =>
    shown(turns.map(({ object, append }) => object[member] / append[member]))
  return [
    '',
    'The disk alone, one write after another',
    line('object', 'an inbox object'),
    line('append', 'an append to a file that is there in full already'),
    `          ratio of time ${ratio('wallUs')}; of CPU ${ratio('cpuUs')}`,
  ]
}

function shown(ratios: readonly number[]): string {
  const { least, middle, most } = spread(ratios)
  return `${middle.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`
}
