// The nodes of one service, each a process of its own, over a copy of a released world.
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyQuota, Registry } from '../../../pipeline/access/registry.ts'
import { FileStore } from '../../../pipeline/store/file.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { inboxRows } from '../inbox-rows.ts'
import { testFolder } from '../folder.ts'
import { type ServingProcess, fvsServe } from '../process.ts'
import { Client, testComponents } from './service.ts'

export interface Node extends ServingProcess {
  client: Client
  /** Ends the node as an operator does: it first answers the calls under way. */
  stop: () => Promise<void>
}

export interface NodeWorld {
  folder: string
  store: Store
  registry: Registry
  newKeys: (count: number, quota?: KeyQuota) => Promise<string[]>
  /** Starts another node over the store. An empty variable means the default. */
  node: (env?: Record<string, string>) => Promise<Node>
  /** The recorded calls, by the id of the API key. */
  used: () => Promise<Map<string, number>>
}

/** Call it inside a test. `released` is a folder with the store of a released world. */
export async function nodeWorld(
  released: string,
  shared: Record<string, string> = {},
  ...args: readonly string[]
): Promise<NodeWorld> {
  const folder = await testFolder()
  const root = join(folder, 'store')
  await cp(join(released, 'store'), root, { recursive: true })
  const store = await FileStore.begin(root)
  const { registry } = await testComponents({ folder, store })
  return {
    folder,
    store,
    registry,
    newKeys: (count, quota) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          registry.createClientKey(`client ${index}`, new Date(), quota),
        ),
      ),
    node: async (env = {}) => {
      const options = { folder, env: { STORE_URL: root, FREE_MONTHLY_CALLS: '', ...shared, ...env } }
      const serving = await fvsServe(options, '--no-scheduler', ...args)
      return { ...serving, client: new Client(serving.url), stop: () => stop(serving) }
    },
    used: async () => {
      const calls = new Map<string, number>()
      for (const row of await inboxRows(store, 'usage')) {
        const id = String(row['key_id'])
        calls.set(id, (calls.get(id) ?? 0) + Number(row['calls']))
      }
      return calls
    },
  }
}

async function stop({ kill, finished }: ServingProcess): Promise<void> {
  kill('SIGTERM')
  const { code, stderr } = await finished
  if (code !== 0) throw new Error(`fvs serve ended with ${code}: ${stderr}`)
}
