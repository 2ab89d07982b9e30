// Runs `fvs` as a process with environment variables of its own.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { threadsOf } from './hanging.ts'
import { NO_LIMITS, SECRET } from './http/service.ts'

const FVS = fileURLToPath(new URL('../../jobs/fvs.js', import.meta.url))

/** A cache of compiled sources, so that not every process compiles them again. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/fvs-compiled', import.meta.url))

export interface Finished {
  /** Null after a signal. */
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface ProcessOptions {
  /** The home directory, folder for temporary files and working directory of the process. */
  folder: string
  env?: Record<string, string>
  /** Variables that every test has and this process has not. */
  without?: readonly string[]
  /** The program; the sources if none is named. */
  program?: string
  /** The user that the process runs as; by default the test's own. */
  uid?: number
}

export interface Running {
  child: ChildProcessByStdio<null, Readable, Readable>
  /** Resolves once the process and everything that it started have ended. */
  finished: Promise<Finished>
  logged: (pattern: RegExp, times?: number) => Promise<string>
}

/** Starts a command. Call it inside a test: the process ends with the test. */
export function startFvs(
  args: readonly string[],
  { folder, env = {}, without = [], program = FVS, uid }: ProcessOptions,
): Running {
  const variables = {
    HOME: folder,
    TMPDIR: folder,
    PORT: '0',
    VERIFICATION_SIGNING_SECRET: SECRET,
    ...NO_LIMITS,
    NODE_COMPILE_CACHE: COMPILED,
    ...env,
  }
  const child = spawn(process.execPath, ['--', program, ...args], {
    cwd: folder,
    env: Object.fromEntries(Object.entries(variables).filter(([name]) => !without.includes(name))),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid }),
  })
  let stdout = ''
  let stderr = ''
  onTestFinished(({ task }) => {
    const isRunning = child.exitCode === null && child.signalCode === null
    if (isRunning && task.result?.state === 'fail') {
      const written = stderr.slice(-2_000)
      const threads = threadsOf(child.pid!)
      console.error(
        `fvs ${args.join(' ')} still ran when its test failed. Its threads:\n${threads}\nIt had written: ${written}`,
      )
    }
    child.kill('SIGKILL')
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const finished = once(child, 'close').then(([code, signal]): Finished => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stdout,
    stderr,
  }))
  const logged = (pattern: RegExp, times = 1) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const line = stderr.split('\n').filter((text) => pattern.test(text))[times - 1]
        if (line !== undefined) resolve(line)
      }
      child.stderr.on('data', look)
      look()
      void finished.then(({ code }) => {
        reject(new Error(`fvs ended with ${code} and did not log ${pattern}: ${stderr}`))
      })
    })
  return { child, finished, logged }
}

/** Runs a command to its end. Call it inside a test. */
export async function fvs(args: readonly string[], options: ProcessOptions): Promise<Finished> {
  return startFvs(args, options).finished
}

export interface ServingProcess {
  url: string
  pid: number
  kill: (signal: NodeJS.Signals) => void
  finished: Promise<Finished>
  /** Resolves to the first line of the log that matches, or the second, and so on with `times`. */
  logged: (pattern: RegExp, times?: number) => Promise<string>
}

/** Starts `fvs serve` and waits until it serves. Call it inside a test: the process ends with the test. */
export async function fvsServe(options: ProcessOptions, ...args: string[]): Promise<ServingProcess> {
  const { child, finished, logged } = startFvs(['serve', ...args], options)
  const { url } = JSON.parse(await logged(/^\{.*"msg":"serving"\}$/)) as { url: string }
  return { url, pid: child.pid!, kill: (signal) => void child.kill(signal), finished, logged }
}
