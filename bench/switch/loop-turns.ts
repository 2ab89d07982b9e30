// Loaded before a service (`node --import`): notes how much processor time each turn of its event loop takes,
// in which it answers nobody else, and when it ends writes the long ones to the file LOOP_TURNS. Unlike how
// long callers wait, this hardly depends on what else the machine does. The kernel counts the time of a
// thread that runs in ticks, of 4 ms with Debian's settings.
import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import type { LoopTurn } from './turns-of.ts'

/** Shorter ones are not worth noting. */
const LONG_MS = 2
const turns: LoopTurn[] = []
let before = process.threadCpuUsage()

// Its threads load this too, and answer nobody.
if (isMainThread) {
  // Timers run once in a turn at most.
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    const cpuMs = (user + system) / 1000
    if (cpuMs > LONG_MS) turns.push({ atMs: Date.now(), cpuMs })
  }, 1).unref()

  process.on('exit', () => {
    writeFileSync(process.env['LOOP_TURNS']!, JSON.stringify(turns))
  })
}
