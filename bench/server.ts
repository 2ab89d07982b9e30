// Starts a server as a process of its own on a free port of this machine, and ends it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface ServerProcess extends AsyncDisposable {
  url: string
}

/** All calls of a measurement come from one address, as fast as possible. */
const NO_LIMITS = {
  ANONYMOUS_PER_MINUTE: '1000000',
  FORECASTS_PER_MINUTE: '1000000',
  REGISTRATIONS_PER_HOUR: '1000000',
}

/** The service on a store in a folder. */
export function startService(store: string, settings: Record<string, string> = {}): Promise<ServerProcess> {
  const child = spawn(
    process.execPath,
    [script('../jobs/fvs.ts'), 'serve', '--no-scheduler', '--store', store],
    { env: { PORT: '0', LOG_LEVEL: 'info', ...NO_LIMITS, ...settings }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  return started(child, child.stderr)
}

/** A bare node:http server that answers everything with the same bytes. */
export function startBareServer(body: string): Promise<ServerProcess> {
  const child = spawn(process.execPath, [script('bare-server.ts'), body], {
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return started(child, child.stdout)
}

function script(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}

/** Resolves at the first line that names the URL. */
async function started(child: ChildProcess, output: NodeJS.ReadableStream): Promise<ServerProcess> {
  const lines: string[] = []
  for await (const line of createInterface({ input: output })) {
    lines.push(line)
    const url = /"url":"(http:[^"]+)"/.exec(line)?.[1]
    if (url === undefined) continue
    output.resume()
    return { url, [Symbol.asyncDispose]: () => ended(child) }
  }
  throw new Error(`the server did not start:\n${lines.join('\n')}`)
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
