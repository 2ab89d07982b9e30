// Runs a command as a process group: reads its output, waits for its end, and stops it with everything it
// started.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface CommandOptions {
  cwd?: string
  env?: Record<string, string | undefined>
  /** The standard input of the command. */
  input?: string | Uint8Array
}

export class RunningCommand {
  readonly #child: ChildProcess
  readonly #ended: Promise<Ended>
  #stdout = ''
  #stderr = ''
  #onOutput = () => {}

  /** Starts it as the leader of a process group, as a shell does for a terminal. */
  constructor(command: string, args: readonly string[], { cwd, env = {}, input = '' }: CommandOptions = {}) {
    this.#child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stdin?.on('error', () => {})
    this.#child.stdin?.end(input)
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text
      this.#onOutput()
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text
      this.#onOutput()
    })
    this.#ended = once(this.#child, 'close').then(([code]) => {
      this.#onOutput()
      return { code: code as number | null, stdout: this.#stdout, stderr: this.#stderr }
    })
  }

  /** What it has printed until now, on both streams. */
  get output(): string {
    return this.#stdout + this.#stderr
  }

  get ended(): Promise<Ended> {
    return this.#ended
  }

  /** Resolves to the match once the command has printed it, on either stream. */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      this.#onOutput = () => {
        const match = pattern.exec(this.#stdout) ?? pattern.exec(this.#stderr)
        if (match) resolve(match)
        else if (this.#child.exitCode !== null || this.#child.signalCode !== null)
          reject(new Error(`ended without printing ${pattern}:\n${this.#stdout}\n${this.#stderr}`))
      }
      this.#onOutput()
    })
  }

  /** Sends a signal to the command and everything it started, as a terminal does at Ctrl-C. */
  async stop(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' = 'SIGINT'): Promise<Ended> {
    if (this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid !== undefined) {
      process.kill(-this.#child.pid, signal)
    }
    return this.#ended
  }
}
