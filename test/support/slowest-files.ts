// Prints the ten slowest files at the end of a run.
import type { Reporter, TestModule } from 'vitest/node'

const SHOWN = 10

export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    // A single file needs no list.
    if (modules.length <= 1) return
    const slowest = modules
      .map((module) => ({ name: module.relativeModuleId, ms: module.diagnostic().duration }))
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, SHOWN)
    const lines = slowest.map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`)
    process.stdout.write(`\n The slowest files:\n${lines.join('')}`)
  }
}
