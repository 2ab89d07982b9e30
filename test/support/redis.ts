// A Redis server for one test, on a free port of loopback. It keeps nothing, and can be killed, hung and
// revived.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { external } from './external.ts'
import { testFolder } from './folder.ts'
import { freePort } from './free-port.ts'

/** Undefined without a server: `describe.skipIf(!redisServer)`. */
export const redisServer = external(
  ['REDIS_SERVER'],
  'these tests need a Redis server: install redis-server and export REDIS_SERVER=$(command -v redis-server)',
)

export interface RedisOptions {
  /** Without it anyone may connect. */
  password?: string
  /** By default a free port. */
  port?: number
}

export class TestRedis {
  readonly port: number
  readonly #process: ChildProcess

  private constructor(port: number, process: ChildProcess) {
    this.port = port
    this.#process = process
  }

  /** Call it inside a test: the server ends with the test. */
  static async start({ password, port }: RedisOptions = {}): Promise<TestRedis> {
    const taken = port ?? (await freePort())
    const process = spawn(
      programOf(),
      [
        ['--port', String(taken)],
        ['--bind', '127.0.0.1'],
        ['--dir', await testFolder()],
        ['--save', ''],
        ['--appendonly', 'no'],
        ...(password === undefined ? [] : [['--requirepass', password]]),
      ].flat(),
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const redis = new TestRedis(taken, process)
    onTestFinished(() => redis.kill())
    let printed = ''
    for await (const line of createInterface(process.stdout)) {
      printed += `${line}\n`
      if (line.includes('Ready to accept connections')) {
        process.stdout.resume()
        return redis
      }
    }
    throw new Error(`redis-server did not start:\n${printed}`)
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** Makes it stop answering while its connections stay open. */
  hang(): void {
    this.#process.kill('SIGSTOP')
  }

  resume(): void {
    this.#process.kill('SIGCONT')
  }

  /** Kills it, and its data is lost. */
  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await ended
  }
}

function programOf(): string {
  if (!redisServer) throw new Error('no Redis server: this test should have been skipped')
  return redisServer.REDIS_SERVER
}
