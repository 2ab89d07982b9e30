// Runs `fvs release` on the schedule, in a process of its own, so that scoring never stalls the API.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import nodeCron, { type ScheduledTask } from 'node-cron'
import type { Logger } from 'pino'
import { settingName } from '../../schemas/config.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Environment } from '../../schemas/values.ts'

const FVS = fileURLToPath(new URL('../fvs.ts', import.meta.url))

export class Scheduler {
  readonly #task: ScheduledTask
  readonly #environment: Environment
  readonly #logger: Logger
  #child: ChildProcess | undefined
  #stopping = false

  /**
   * Keeps the schedule from now on; only a node that `releases` also runs the job.
   *
   * @throws ServiceError `invalid` for a schedule that cron does not know.
   */
  constructor(environment: Environment, schedule: string, releases: boolean, logger: Logger) {
    if (!nodeCron.validate(schedule)) {
      throw new ServiceError(
        'invalid',
        `${settingName('RELEASE_SCHEDULE', environment)} is not a cron expression: ${JSON.stringify(schedule)}`,
      )
    }
    this.#environment = environment
    this.#logger = logger
    this.#task = nodeCron.schedule(schedule, () => (releases ? this.#release() : undefined), {
      noOverlap: true,
      timezone: 'UTC',
    })
  }

  /** When a release is due by the schedule, whichever node makes it. */
  nextRun(): Date | undefined {
    return this.#task.getNextRun() ?? undefined
  }

  /** Ends a release under way: what it leaves out, the next one completes. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#task.destroy()
    const child = this.#child
    if (!child || child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }

  async #release(): Promise<void> {
    const args = [FVS, 'release', '--if-changed', '--environment', this.#environment]
    const environment = this.#environment
    try {
      this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
      const [code, signal] = (await once(this.#child, 'exit')) as [number | null, string | null]
      if (code !== 0 && !this.#stopping) {
        this.#logger.error(
          { code, signal, environment },
          'the scheduled release failed; the next run tries again',
        )
      }
    } catch (error) {
      // The machine has no process or no memory to give. Thrown on, it would be printed on standard output.
      this.#logger.error(
        { err: error, environment },
        'the scheduled release did not start; the next run tries again',
      )
    } finally {
      this.#child = undefined
    }
  }
}
