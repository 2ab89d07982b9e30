// Asks a server with wrk, or, where that is not installed, with the load of this folder: how fast, and for
// how much processor time.
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type LoadFigures, load } from './load.ts'

export interface Asked extends LoadFigures {
  /** Of the server, for one answer, in microseconds; undefined for one that does not tell. */
  cpuUs: number | undefined
}

export interface AskedServer {
  url: string
  /** What all its processes have used of the processor so far. */
  cpuSeconds?: () => Promise<number>
}

export interface Ask {
  /** Whole requests, which are sent one after another. */
  requests: readonly string[]
  connections: number
  seconds: number
}

const run = promisify(execFile)

export async function isInstalled(program: string, ...args: readonly string[]): Promise<boolean> {
  try {
    await run(program, args)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** @throws Error for an answer that failed, or a connection that ended. */
export async function ask(
  { url, cpuSeconds }: AskedServer,
  { requests, connections, seconds }: Ask,
  { folder, withWrk }: { folder: string; withWrk: boolean },
): Promise<Asked> {
  const before = await cpuSeconds?.()
  const figures = withWrk
    ? await askWithWrk(url, { requests, connections, seconds }, folder)
    : await load(
        url,
        { connections, requests: Number.MAX_SAFE_INTEGER, limitMs: seconds * 1000 },
        (nth) => requests[nth % requests.length]!,
      )
  const after = await cpuSeconds?.()
  const used = before === undefined || after === undefined ? undefined : after - before
  return { ...figures, cpuUs: used === undefined ? undefined : (1e6 * used) / figures.requests }
}

async function askWithWrk(
  url: string,
  { requests, connections, seconds }: Ask,
  folder: string,
): Promise<LoadFigures> {
  const path = join(folder, 'requests')
  await writeFile(path, requests.join('\0'))
  const script = fileURLToPath(new URL('wrk.lua', import.meta.url))
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url, path]
  const { stdout } = await run('wrk', args)
  const { failed, ...figures } = JSON.parse(stdout.trim().split('\n').at(-1)!) as LoadFigures & {
    failed: number
  }
  if (failed > 0) throw new Error(`${failed} of ${figures.requests} requests to ${url} failed`)
  return figures
}
