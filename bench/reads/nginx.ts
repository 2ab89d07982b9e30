// nginx that serves one file with given headers, as a peer.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { BareAnswer } from './bare-server.ts'
import { freePort } from '../../test/support/free-port.ts'

/** What nginx adds itself, or makes from the file. */
const OWN = new Set(['content-length', 'content-type', 'etag', 'last-modified'])

export async function startNginx(
  folder: string,
  { headers, body }: BareAnswer,
  workers = 1,
): Promise<AsyncDisposable & { url: string }> {
  await writeFile(join(folder, 'answer.json'), body)
  const port = await freePort()
  const path = join(folder, 'nginx.conf')
  await writeFile(path, configuration({ folder, port, workers }, headers))
  const child = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', path], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const url = `http://127.0.0.1:${port}`
  await untilAnswering(url, child)
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

function configuration(
  { folder, port, workers }: { folder: string; port: number; workers: number },
  headers: readonly string[],
): string {
  const lines: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    const [name, value] = [headers[index]!, headers[index + 1]!]
    if (!OWN.has(name.toLowerCase())) lines.push(`add_header ${name} '${value.replaceAll("'", "\\'")}';`)
  }
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; worker_processes ${workers}; pid ${join(folder, 'nginx.pid')};
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; default_type application/json;
  open_file_cache max=10;
  server { listen 127.0.0.1:${port}; root ${folder}; location / { try_files /answer.json =404; ${lines.join(' ')} } }
}
`
}

async function untilAnswering(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    if (child.exitCode !== null) break
    const isUp = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    await pause(100)
  }
  child.kill('SIGTERM')
  throw new Error('nginx did not start')
}
