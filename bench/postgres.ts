// A PostgreSQL server of the benchmark's own, with its defaults, in a folder: it syncs each commit to the
// disk.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { cpuSeconds } from './process.ts'

/** Where Debian's package `postgresql-15` puts the programs. */
const PROGRAMS = '/usr/lib/postgresql/15/bin'
export const POSTGRES_USER = 'bench'

export interface Postgres extends AsyncDisposable {
  /** The folder of its socket. It listens nowhere else. */
  host: string
  /** What the server and all its backends have used of the processor so far. */
  cpuSeconds: () => Promise<number>
}

export function hasPostgres(): boolean {
  return existsSync(join(PROGRAMS, 'postgres'))
}

/** Begins a cluster in a folder that is not there yet, and resolves once it takes connections. */
export async function startPostgres(folder: string): Promise<Postgres> {
  const owner = await ownerOfServer()
  const data = join(folder, 'data')
  await mkdir(folder)
  if (owner.uid !== undefined && owner.gid !== undefined) {
    await chmod(dirname(folder), 0o711)
    await chown(folder, owner.uid, owner.gid)
  }
  const begin = ['--auth=trust', `--username=${POSTGRES_USER}`, '--locale=C', '--encoding=UTF8']
  await promisify(execFile)(join(PROGRAMS, 'initdb'), [...begin, data], { ...owner, cwd: folder })
  const settings = ['listen_addresses=', `unix_socket_directories=${folder}`]
  const server = spawn(
    join(PROGRAMS, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { ...owner, cwd: folder, env: { LC_ALL: 'C' }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const lines: string[] = []
  for await (const line of createInterface({ input: server.stderr })) {
    lines.push(line)
    if (!line.includes('ready to accept connections')) continue
    server.stderr.resume()
    return {
      host: folder,
      cpuSeconds: () => cpuSeconds({ pid: server.pid! }),
      [Symbol.asyncDispose]: async () => {
        // A fast shutdown, which ends the backends.
        server.kill('SIGINT')
        await once(server, 'exit')
      },
    }
  }
  throw new Error(`PostgreSQL did not start:\n${lines.join('\n')}`)
}

/** PostgreSQL refuses to run as root, so that root has it run as `postgres`. */
async function ownerOfServer(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {}
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const [, , uid, gid] = users.find(([name]) => name === 'postgres') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}
