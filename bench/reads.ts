// Measures how many verifications a second one process serves, beside a bare node:http server with the same bytes.
import { readManifest, readReleaseShard } from '../pipeline/release/read.ts'
import { FileStore } from '../pipeline/store/file.ts'
import { shardStart } from '../pipeline/store/paths.ts'
import type { Store } from '../pipeline/store/store.ts'
import { type Volume, load, warmUp } from './load.ts'
import { startServer, startService } from './process.ts'

/** On a store with one release; asks for every agent in turn. */
export async function measureReads(root: string, volume: Volume) {
  const agents = await releasedAgents(await FileStore.begin(root))
  const get = (nth: number) =>
    `GET /agents/${agents[nth % agents.length]}/verification HTTP/1.1\r\nHost: bench\r\n\r\n`
  await using service = await startService(root, {
    VERIFICATION_SIGNING_SECRET: 'a secret for measurements, of no other use',
  })
  const body = await (await fetch(`${service.url}/agents/${agents[0]}/verification`)).text()
  await using bare = await startServer('bare-server.ts', [body])
  const measure = async (url: string) => {
    await load(url, warmUp(volume), get)
    return load(url, volume, get)
  }
  return { service: await measure(service.url), bare: await measure(bare.url) }
}

/** The agents of the first release of a store. */
export async function releasedAgents(store: Store): Promise<string[]> {
  const manifest = await readManifest(store, 1)
  const shards = (manifest?.files ?? []).filter(({ path }) => shardStart(path, 'agent') !== undefined)
  const read = await Promise.all(shards.map((file) => readReleaseShard(store, 1, file)))
  return read.flatMap(({ entities }) => Object.keys(entities))
}
