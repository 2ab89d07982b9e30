import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inboxPrefix } from '../../pipeline/store/paths.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { bucketStore, freshBucket, s3Server } from '../support/buckets.ts'
import { testFolder } from '../support/folder.ts'
import { rowTexts, sampleRows } from '../support/worlds/table-rows.ts'
import { globRows, pathsOf, openWorker, readRows, send } from '../support/tables.ts'

describe.skipIf(!s3Server)('compaction in a bucket of an S3 server', () => {
  test('of four rivals at once, on machines of their own, takes each row once', async () => {
    const bucket = await freshBucket()
    const folder = await testFolder()
    const workers = await Promise.all(
      [0, 1, 2, 3].map((rival) => openWorker(bucketStore(bucket), join(folder, String(rival)))),
    )
    const { store } = workers[0]!
    for (let round = 0; round < 5; round++) {
      await send(store, 'forecasts', `round-${round}-a`, sampleRows('forecasts', 20, round * 40))
      await send(store, 'forecasts', `round-${round}-b`, sampleRows('forecasts', 20, round * 40 + 20))
      const done = await Promise.all(workers.map((worker) => compact(worker, 'forecasts')))
      expect(done.reduce((sum, { rows }) => sum + rows, 0)).toBe(40)
      const expected = rowTexts('forecasts', sampleRows('forecasts', (round + 1) * 40))
      for (const worker of workers) {
        expect(rowTexts('forecasts', await readRows(worker, 'forecasts'))).toEqual(expected)
      }
      expect(rowTexts('forecasts', await globRows(workers[0]!, 'forecasts'))).toEqual(expected)
      expect(await pathsOf(store, inboxPrefix('forecasts'))).toEqual([])
    }
    for (const worker of workers) worker[Symbol.dispose]()
  })
})
