// Serves the log of a store as any web server with its files would, and lets a test change what it answers.
import { logCheckpointPath, logTilePath } from '../../pipeline/store/paths.ts'
import { lastCheckpoint } from '../../pipeline/transparency/log-files.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { listening } from './loopback-witness.ts'

export interface ServedLog {
  url: string
  store: Store
  /** The paths that were asked for. */
  asked: string[]
  /** Answers in place of the store: bytes, a status, or nothing at all for `undefined`. */
  instead: Map<string, Uint8Array | number | undefined>
}

/** It stops when the test ends. A checkpoint of another size than the last is what `instead` says. */
export async function servedLog(store: Store): Promise<ServedLog> {
  const served: ServedLog = { url: '', store, asked: [], instead: new Map() }
  served.url = await listening((request, response) => {
    const path = request.url!.slice(1)
    served.asked.push(path)
    void (async () => {
      const answer = served.instead.has(path)
        ? served.instead.get(path)
        : ((await stored(served.store, path)) ?? 404)
      if (typeof answer === 'number') response.writeHead(answer, { location: '/elsewhere' }).end()
      else if (answer) response.end(answer)
    })()
  })
  return served
}

async function stored(store: Store, path: string): Promise<Uint8Array | undefined> {
  if (path === 'log/checkpoint') return store.get(logCheckpointPath(await lastCheckpoint(store)))
  return path.startsWith(logTilePath('tile/')) ? store.get(path) : undefined
}
