// A server that answers as the service did, from memory: how long callers wait for a server that has nothing
// else to do.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AskedPath } from '../../test/support/http/steady-asking.ts'
import { type Served, startServer } from '../process.ts'
import type { Replayed } from './replay-server.ts'

/** Those that are of one answer, or are set by any server. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'])

export async function answersOf(url: string, paths: readonly AskedPath[]): Promise<Replayed> {
  const replayed: Replayed = {}
  for (const { path, headers = {}, body } of paths) {
    const sent = body === undefined ? { headers } : { headers, method: 'POST', body }
    const answer = await fetch(url + path, sent)
    const own = Array.from(answer.headers).filter(([name]) => !OWN_HEADERS.has(name))
    replayed[path + (body ?? '')] = { headers: Object.fromEntries(own), body: await answer.text() }
  }
  return replayed
}

export async function startReplay(replayed: Replayed): Promise<AsyncDisposable & Served> {
  const folder = await mkdtemp(join(tmpdir(), 'fvs-bench-replay-'))
  try {
    const file = join(folder, 'answers.json')
    await writeFile(file, JSON.stringify(replayed))
    return await startServer('switch/replay-server.ts', [file])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
