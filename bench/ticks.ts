// Measures `process.nextTick` in a process that is busy from its start, in one that collected garbage before
// it was busy, and in one that did so and holds the shape of ticks.
import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { holdTickShape } from '../api/http/v8.ts'

const TICKS = 300_000

const { values } = parseArgs({
  options: { hold: { type: 'boolean' }, collect: { type: 'boolean' }, one: { type: 'boolean' } },
})
if (values.one) console.log((await measured()).toFixed(0))
else {
  for (const [what, ...options] of [
    ['busy from the start'],
    ['after a collection', '--collect'],
    ['after a collection, the shape held', '--collect', '--hold'],
  ]) {
    const args = ['--expose-gc', fileURLToPath(import.meta.url), '--one', ...options]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    console.log(`${what}: ${stdout.trim()} ns each`)
  }
}

/** Nanoseconds each. */
async function measured(): Promise<number> {
  if (values.hold) await holdTickShape()
  await ticks(100)
  await pause(50)
  for (let time = 0; values.collect && time < 3; time += 1) {
    globalThis.gc!()
    await pause(50)
  }
  await ticks(TICKS)
  const startedMs = performance.now()
  await ticks(TICKS)
  return ((performance.now() - startedMs) * 1e6) / TICKS
}

/** One after another. */
function ticks(count: number): Promise<void> {
  return new Promise((resolve) => {
    const next = () => {
      count -= 1
      if (count > 0) process.nextTick(next)
      else resolve()
    }
    process.nextTick(next)
  })
}
