// Serves what a service lets anyone read of a store, as any web server with its files would, and lets a test
// lie.
import type { ServerResponse } from 'node:http'
import { isPublished, releaseOfFolder } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { listening } from './loopback-witness.ts'

/** Answers in the place of the store; undefined leaves the answer to the store. */
export type Lie = (path: string, response: ServerResponse) => boolean

export interface ServedFiles {
  url: string
  /** The paths that were asked for. */
  asked: string[]
}

/** It stops when the test ends. */
export async function servedFiles(store: Store, lie: Lie = () => false, folder = ''): Promise<ServedFiles> {
  const asked: string[] = []
  const url = await listening((request, response) => {
    const whole = request.url!.slice(1)
    const path = whole.startsWith(folder) ? whole.slice(folder.length) : ''
    asked.push(path)
    if (lie(path, response)) return
    void (async () => {
      const bytes = isServed(path) ? await store.get(path) : undefined
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
      if (!bytes) response.writeHead(404).end()
      else if (from === undefined) response.end(bytes)
      else response.writeHead(206).end(bytes.subarray(Number(from), Number(to) + 1))
    })()
  })
  return { url, asked }
}

function isServed(path: string): boolean {
  const [root, name = '', ...rest] = path.split('/')
  if (root === 'log' || root === 'snapshots') return true
  const file = rest.join('/')
  const isOpen = file === 'manifest.json' || file.startsWith('public/') || isPublished(file)
  return root === 'releases' && releaseOfFolder(name) !== undefined && isOpen
}
