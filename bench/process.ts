// Runs scripts of the repository as processes of their own: to their end, perhaps measured, or as a server on
// a free port of this machine.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Runs a script to its end, and returns what it prints on standard output. */
export async function run(path: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [script(path), ...args])
  return stdout
}

/** What a process used; `mib` is the most memory that it held. */
export interface Used {
  seconds: number
  cpuS: number
  mib: number
}

/** Runs a script to its end, without its output, with more variables than this process has. */
export async function runMeasured(
  path: string,
  args: readonly string[],
  variables: Record<string, string>,
): Promise<Used> {
  const started = performance.now()
  const usage = new URL('usage.ts', import.meta.url).href
  const child = spawn(process.execPath, ['--import', usage, script(path), ...args], {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const [errors, used, [code]] = await Promise.all([
    text(child.stderr!),
    text(child.stdio[3] as Readable),
    once(child, 'exit'),
  ])
  if (code !== 0) throw new Error(`${path} ${args.join(' ')} ended with ${String(code)}:\n${errors}`)
  return { seconds: (performance.now() - started) / 1000, ...(JSON.parse(used) as Omit<Used, 'seconds'>) }
}

/** How long something took, and how long it kept cores busy. */
export interface Timed {
  seconds: number
  cpuSeconds: number
}

/** Runs a program to its end, and measures it with its own children, in hundredths of a second. */
export async function runCommand(command: string, args: readonly string[]): Promise<Timed> {
  const before = await ticksOf(process.pid)
  const started = performance.now()
  await promisify(execFile)(command, args)
  const seconds = (performance.now() - started) / 1000
  const after = await ticksOf(process.pid)
  return { seconds, cpuSeconds: (after.children - before.children) / TICKS_PER_SECOND }
}

/** All calls of a measurement come from one address. */
export const NO_LIMITS = {
  ANONYMOUS_PER_MINUTE: '1000000000',
  ANONYMOUS_PER_MONTH: '1000000000',
  READS_PER_MINUTE: '1000000000',
  PAGES_PER_MINUTE: '1000000000',
  ATTEMPTS_PER_MINUTE: '1000000',
  OTHER_CALLS_PER_MINUTE: '1000000000',
  FORECASTS_PER_MINUTE: '1000000',
  ADDRESS_FORECASTS_PER_MINUTE: '1000000000',
  REGISTRATIONS_PER_HOUR: '1000000',
  MAX_CONNECTIONS_OF_ADDRESS: '10000',
}

let built: Promise<string> | undefined

/**
 * The service on a store in a folder, as it is built from the sources of now. All calls of a measurement come
 * from one address, as fast as possible.
 */
export async function startService(
  store: string,
  settings: Record<string, string> = {},
  options: readonly string[] = ['--no-scheduler'],
) {
  await (built ??= run('../jobs/build.ts'))
  return startServer('../dist/fvs.js', ['serve', ...options, '--store', store], {
    PORT: '0',
    LOG_LEVEL: 'info',
    ...NO_LIMITS,
    ...settings,
  })
}

export interface Served {
  url: string
  pid: number
  /** What its processes have used of the processor so far. */
  cpuSeconds: () => Promise<number>
}

/** Resolves once the server has told its URL on standard error. */
export async function startServer(
  path: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<AsyncDisposable & Served> {
  const child = spawn(process.execPath, [script(path), ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line)
    const url = /"url":"(http:[^"]+)"/.exec(line)?.[1]
    if (url === undefined) continue
    child.stderr.resume()
    const pid = child.pid!
    return { url, pid, cpuSeconds: () => cpuSeconds({ pid }), [Symbol.asyncDispose]: () => end(child) }
  }
  throw new Error(`the server did not start:\n${lines.join('\n')}`)
}

/**
 * What a process, its children that have ended, and those that run, have used of the processor, in seconds.
 */
export async function cpuSeconds({ pid }: { pid: number }): Promise<number> {
  const { own, children } = await ticksOf(pid)
  const running = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean)
  const ofRunning = await Promise.all(
    running.map((child) => cpuSeconds({ pid: Number(child) }).catch(() => 0)),
  )
  return ofRunning.reduce((sum, seconds) => sum + seconds, (own + children) / TICKS_PER_SECOND)
}

const TICKS_PER_SECOND = 100

/** The time that a process and its children that have ended have used, as Linux counts it. */
async function ticksOf(pid: number): Promise<{ own: number; children: number }> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ')
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number) as [
    number,
    number,
    number,
    number,
  ]
  return { own: user + system, children: childrenUser + childrenSystem }
}

function script(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
