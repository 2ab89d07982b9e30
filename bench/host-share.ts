// How much of the machine its host gave to others meanwhile. On a virtual machine that is time in which
// nobody was answered, whoever was measured.
import { readFile } from 'node:fs/promises'

/**
 * Begins to watch. What it resolves to says, whenever it is called, which share of the time of all cores the
 * host took since, 0 to 1.
 */
export async function watchHost(): Promise<() => Promise<number>> {
  const before = await coreTimes()
  return async () => {
    const now = await coreTimes()
    return (now.stolen - before.stolen) / Math.max(1, now.all - before.all)
  }
}

/** Hundredths of a second of all cores together, since the machine was started. */
async function coreTimes(): Promise<{ all: number; stolen: number }> {
  const [line] = (await readFile('/proc/stat', 'utf8')).split('\n')
  // user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in the first two already:
  // proc(5).
  const times = line!.trim().split(/\s+/).slice(1, 9).map(Number)
  return { all: times.reduce((sum, one) => sum + one, 0), stolen: times[7]! }
}
