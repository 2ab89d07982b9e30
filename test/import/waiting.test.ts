// Rows that wait in the inbox are read where they are, also while another command takes them into a table.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAgents } from '../../pipeline/import/agent-list.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { testFolder } from '../support/folder.ts'
import { openWorker, send, workerOn } from '../support/tables.ts'
import { sampleRows } from '../support/worlds/table-rows.ts'

const STORES: [string, (folder: string) => Promise<Store>][] = [
  ['in memory', () => Promise.resolve(new MemoryStore())],
  ['on disk', (folder) => FileStore.begin(join(folder, 'store'))],
]

test.for(STORES)(
  'a rival that takes them in at any call hides none, %s',
  { tags: ['slow'] },
  async ([, open]) => {
    const folder = await testFolder()
    using rival = await openWorker(new MemoryStore(), join(folder, 'rival'))
    using reader = await openWorker(new MemoryStore(), join(folder, 'reader'))
    let calls = Infinity
    for (let at = 1; at <= calls; at++) {
      const own = join(folder, `${at}`)
      const store = await open(own)
      await send(store, 'agents', 'waiting', sampleRows('agents', 2))
      const taker = await workerOn(rival.database, store, join(own, 'rival'))
      let taken = 0
      calls = 0
      const before = async () => {
        if (++calls === at) taken = (await compact(taker, 'agents')).rows
      }
      const context = await workerOn(reader.database, new FaultStore(store, { before }), join(own, 'reader'))
      expect(await readAgents(context, undefined), `call ${at}`).toHaveLength(2)
      expect(taken, `call ${at}`).toBe(at <= calls ? 2 : 0)
    }
    expect(calls).toBeGreaterThan(3)
  },
)

test('a rival that deletes them between the look and the reading hides none', async () => {
  const folder = await testFolder()
  const store = await FileStore.begin(join(folder, 'store'))
  using rival = await openWorker(store, join(folder, 'rival'))
  using reader = await openWorker(store, join(folder, 'reader'))
  await send(store, 'agents', 'waiting', sampleRows('agents', 2))
  const { database } = reader
  const run = database.run.bind(database)
  let taken = 0
  database.run = async (sql) => {
    if (sql.includes('TABLE waiting_agents')) taken += (await compact(rival, 'agents')).rows
    return run(sql)
  }
  expect(await readAgents(reader, undefined)).toHaveLength(2)
  expect(taken).toBe(2)
})
