// Stores with a small world in them, as processes reach them: in a folder, and in a bucket of the S3 server.
import { join } from 'node:path'
import { FileStore } from '../../../pipeline/store/file.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { bucketStore, freshBucket, s3Server } from '../buckets.ts'
import { makeFolder, testFolder } from '../folder.ts'
import type { ProcessOptions } from '../process.ts'
import { testComponents } from '../http/service.ts'
import { importWorld } from './world.ts'

export interface Place {
  /** The store itself, past any proxy. */
  store: Store
  /** The environment and the folder of processes that use it. */
  options: ProcessOptions
}

let world: Promise<MemoryStore> | undefined

/** The questions, outcomes and forecasts of people, imported once in a test file and not released. */
async function importedWorld(): Promise<MemoryStore> {
  const store = new MemoryStore()
  const { path, remove } = await makeFolder()
  await importWorld(await testComponents({ store, folder: path }))
  await remove()
  return store
}

/** Puts the small world into an empty store. */
async function fill(store: Store): Promise<void> {
  world ??= importedWorld()
  for (const [path, bytes] of (await world).objects) await store.put(path, bytes)
}

/** Call it inside a test. By default the store lies in the folder of the processes. */
export async function onDisk(root?: string): Promise<Place> {
  const folder = await testFolder()
  const store = await FileStore.begin(root ?? join(folder, 'store'))
  await fill(store)
  return { store, options: { folder, env: { STORE_URL: root ?? join(folder, 'store') } } }
}

/** Call it inside a test that is skipped without a server. */
export async function onS3(): Promise<Place> {
  const folder = await testFolder()
  const bucket = await freshBucket()
  const store = bucketStore(bucket)
  await fill(store)
  const env = { STORE_URL: `s3://${bucket}`, CACHE_DIR: join(folder, 'cache'), ...s3Server }
  return { store, options: { folder, env } }
}
