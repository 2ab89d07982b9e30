// Tells a command of the operator, or an address of theirs, what happened.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { boundedFetch } from '../../pipeline/bounded-fetch.ts'
import { ServiceError } from '../../schemas/errors.ts'

const COMMAND_MS = 60_000

export interface Receiver {
  /** A line of the shell, which finds the text on its standard input. */
  exec?: string | undefined
  /** An address that the text is posted to. */
  webhook?: string | undefined
}

/**
 * Resolves once the receiver has taken the text, which may be sent again.
 *
 * @throws ServiceError `unavailable` for a command that fails or takes more than a minute, and for an address
 *   that does not answer 2xx.
 */
export async function tell({ exec, webhook }: Receiver, text: string): Promise<void> {
  if (exec !== undefined) await run(exec, text)
  if (webhook === undefined) return
  const headers = { 'Content-Type': 'application/json' }
  const { status } = await boundedFetch(webhook, { method: 'POST', headers, body: text })
  if (status < 200 || status > 299) throw new ServiceError('unavailable', `the webhook answered ${status}`)
}

/** Nothing of the text gets into the arguments or the environment, where a shell would read it. */
async function run(command: string, text: string): Promise<void> {
  // Standard output is for the report alone.
  const child = spawn(command, { shell: true, stdio: ['pipe', 2, 2], timeout: COMMAND_MS })
  // A command need not read everything.
  child.stdin!.on('error', () => undefined).end(text)
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    if (code === 0) return
    throw new Error(`it ended with ${code ?? signal}`)
  } catch (cause) {
    const reason = (cause as Error).message
    throw new ServiceError('unavailable', `the command was not told, because ${reason}: ${command}`, {
      cause,
    })
  }
}
