// The serving nodes of a test of faults, each a process of its own that may end and be started again.
import { type ProcessOptions, type Running, startFvs } from '../process.ts'
import { explained } from './trouble.ts'

/** Never, within a test. */
const YEARLY = '0 0 1 1 *'
const EVERY_OTHER_SECOND = '*/2 * * * * *'

/** A node that makes releases, every other second, or none. */
export type Role = 'releases' | 'serves'

interface Member {
  running: Running
  /** Undefined until it serves. */
  url: string | undefined
}

export class Fleet {
  /** How many nodes ended by themselves before they served. */
  refusals = 0
  readonly #options: ProcessOptions
  readonly #roles: readonly Role[]
  readonly #members: (Member | undefined)[]

  /** `roles` gives each node its role. */
  constructor(options: ProcessOptions, roles: readonly Role[]) {
    this.#options = options
    this.#roles = roles
    this.#members = roles.map(() => undefined)
  }

  /** Of the nodes that serve. */
  readonly urls = (): string[] => this.#members.flatMap((member) => member?.url ?? [])

  urlOf(node: number): string {
    return this.#members[node]!.url!
  }

  pidOf(node: number): number {
    return this.#members[node]!.running.child.pid!
  }

  /** Starts all nodes that do not run, with further variables, and resolves when they serve. */
  async start(env: Record<string, string> = {}): Promise<void> {
    await Promise.all(
      this.#members.map(async (member, node) => {
        if (!member && !(await this.begin(node, env))) throw new Error(`node ${node} does not serve`)
      }),
    )
  }

  /** Starts a node. False if it refuses, with a message, because of what its store does. */
  async begin(node: number, env: Record<string, string> = {}): Promise<boolean> {
    const releases = this.#roles[node] === 'releases'
    const running = startFvs(['serve', ...(releases ? [] : ['--no-scheduler'])], {
      ...this.#options,
      env: {
        ...this.#options.env,
        RELEASE_SCHEDULE: EVERY_OTHER_SECOND,
        SANDBOX_RELEASE_SCHEDULE: YEARLY,
        ...env,
      },
    })
    const member: Member = { running, url: undefined }
    this.#members[node] = member
    try {
      const line = await running.logged(/^\{.*"msg":"serving"\}$/)
      member.url = (JSON.parse(line) as { url: string }).url
      return true
    } catch {
      this.#members[node] = undefined
      explained('serve', await running.finished)
      this.refusals += 1
      return false
    }
  }

  /** Ends a node as an operator does. */
  async stop(node: number): Promise<void> {
    const member = this.#members[node]
    this.#members[node] = undefined
    member?.running.child.kill('SIGTERM')
    const finished = await member?.running.finished
    if (finished && finished.code !== 0) {
      throw new Error(`a node that was asked to end ended with ${finished.code}: ${finished.stderr}`)
    }
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#members.map((_, node) => this.stop(node)))
  }
}
