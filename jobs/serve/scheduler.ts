// Runs the scheduled commands of an environment, each in a process of its own, so that scoring never stalls
// the API.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import nodeCron, { type ScheduledTask, type TaskOptions } from 'node-cron'
import type { Logger } from 'pino'
import { settingName } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'

type CronLogger = NonNullable<TaskOptions['logger']>

const FVS = fileURLToPath(new URL('../fvs.js', import.meta.url))

/**
 * The commands of a scheduled run, under their names in the log. They run in this order, each even if the one
 * before failed, so that the forecasts of agents are released anyway.
 */
const COMMANDS: Record<Environment, Record<string, readonly string[]>> = {
  production: {
    release: ['release', '--if-changed'],
  },
  sandbox: {
    'step of the simulation': ['sandbox', 'step'],
    release: ['release', '--if-changed', '--environment', 'sandbox'],
  },
}

/** Runs beside the next scheduled runs, because foreign servers decide how long it takes. */
const PROVING: Record<Environment, readonly string[]> = {
  production: ['agents', 'prove'],
  sandbox: ['agents', 'prove', '--environment', 'sandbox'],
}

interface NextRun {
  askedMs: number
  /** Undefined if the schedule has no further run. */
  at: Date | undefined
}

export class Scheduler {
  readonly #schedule: () => ScheduledTask
  #task: ScheduledTask | undefined
  #next: NextRun | undefined
  readonly #environment: Environment
  readonly #logger: Logger
  readonly #children = new Set<ChildProcess>()
  #running: Promise<void> = Promise.resolve()
  #proving: Promise<void> | undefined
  #stopping = false

  /**
   * Runs the commands on schedule if `runs` is true; otherwise it only knows when a run is due.
   *
   * @throws ServiceError `invalid` for a schedule that cron does not know.
   */
  constructor(environment: Environment, schedule: string, runs: boolean, logger: Logger) {
    if (!nodeCron.validate(schedule)) {
      throw new ServiceError(
        'invalid',
        `${settingName('RELEASE_SCHEDULE', environment)} is not a cron expression: ${JSON.stringify(schedule)}`,
      )
    }
    this.#environment = environment
    this.#logger = logger
    const run = () => (this.#running = this.#runAll())
    this.#schedule = () =>
      nodeCron.schedule(schedule, runs ? run : () => {}, {
        noOverlap: true,
        timezone: 'UTC',
        logger: cronLogger(logger, environment),
      })
    // A process that runs nothing makes the task only when a call asks for the next run: it takes a twentieth
    // of the start.
    if (runs) this.#task = this.#schedule()
  }

  /**
   * Returns when a release is due by the schedule, whichever node makes it. Keeps the result, because calls
   * ask for it and cron searches its calendar for 0.2 ms each time.
   */
  nextRun(): Date | undefined {
    const nowMs = Date.now()
    if (!isStillNext(this.#next, nowMs)) {
      this.#task ??= this.#schedule()
      this.#next = { askedMs: nowMs, at: this.#task.getNextRun() ?? undefined }
    }
    return this.#next?.at
  }

  /** Ends the commands under way. The next run completes their work. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#task?.destroy()
    for (const child of this.#children) child.kill('SIGTERM')
    await this.#running
    await this.#proving
  }

  async #runAll(): Promise<void> {
    for (const [name, args] of Object.entries(COMMANDS[this.#environment])) {
      if (!this.#stopping) await this.#run(name, args)
    }
    if (this.#stopping) return
    this.#proving ??= this.#run('look at the domains of owners', PROVING[this.#environment]).finally(() => {
      this.#proving = undefined
    })
  }

  async #run(name: string, args: readonly string[]): Promise<void> {
    const environment = this.#environment
    let child: ChildProcess | undefined
    try {
      child = spawn(process.execPath, [FVS, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
      this.#children.add(child)
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
      if (code !== 0 && !this.#stopping) {
        const failure = { code, signal, environment }
        this.#logger.error(failure, `the scheduled ${name} failed; the next run tries again`)
      }
    } catch (error) {
      // The machine has no process or no memory left. Do not throw: the error would reach standard output.
      const failure = { err: error, environment }
      this.#logger.error(failure, `the scheduled ${name} did not start; the next run tries again`)
    } finally {
      if (child) this.#children.delete(child)
    }
  }
}

/** Whether the run is still to come. False too if the clock was set back to before cron was asked. */
function isStillNext(next: NextRun | undefined, nowMs: number): boolean {
  return next?.at !== undefined && next.askedMs <= nowMs && nowMs < next.at.getTime()
}

/**
 * Returns a logger for cron. Without it cron would write its own coloured lines into the log. Its messages
 * have no context.
 */
function cronLogger(logger: Logger, environment: Environment): CronLogger {
  const written = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string | Error, err?: Error) => {
    const error = message instanceof Error ? message : err
    const text = message instanceof Error ? message.message : message
    logger[level]({ environment, ...(error ? { err: error } : {}) }, `the schedule: ${text}`)
  }
  return { debug: written('debug'), info: written('info'), warn: written('warn'), error: written('error') }
}
