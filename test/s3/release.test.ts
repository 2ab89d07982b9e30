// The same inputs give the same bytes in a folder and in a bucket, and a release in a bucket passes its
// audit.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, test } from 'vitest'
import { ReleaseFiles } from '../../api/published/release-files.ts'
import { Scores } from '../../api/published/scores.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { Database } from '../../pipeline/duckdb.ts'
import type { ReleaseContext } from '../../pipeline/release/state.ts'
import { makeRelease } from '../../pipeline/release/make.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { LocalFiles } from '../../pipeline/store/local-files.ts'
import { FileStore } from '../../pipeline/store/file.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { importFile } from '../../pipeline/import/import.ts'
import { bucketStore, freshBucket, s3Server } from '../support/buckets.ts'
import { FaultStore } from '../support/faults/fault-store.ts'
import { testFolder } from '../support/folder.ts'
import { writeSmallWorld } from '../support/worlds/small-world.ts'

const NOW = new Date('2026-05-01T00:00:00.000Z')
const SECRET = 'a secret of the tests, of no use elsewhere'

describe.skipIf(!s3Server)('releases in a bucket', () => {
  test('have the same bytes as in a folder, pass their audit, and give scores in three reads', async () => {
    const folder = await testFolder()
    const world = await writeSmallWorld(join(folder, 'world'))
    const onDisk = await releaseOf(await FileStore.begin(join(folder, 'data')), join(folder, 'a'), world)
    const inBucket = await releaseOf(
      bucketStore(await freshBucket(), 'some/prefix/'),
      join(folder, 'b'),
      world,
    )
    expect(await digests(inBucket.store)).toEqual(await digests(onDisk.store))
    const local = new LocalFiles(inBucket.store, join(folder, 'fresh cache'))
    using database = await inBucket.openDatabase()
    const report = await auditRelease({ ...inBucket, database, local, secrets: [SECRET] }, 1)
    expect(report).toMatchObject({
      ok: true,
      faults: [],
      snapshot_compared: true,
      credentials_checked: 0,
      signatures: { invalid: 0, unsigned: 0 },
    })
    expect(report.signatures.valid).toBeGreaterThan(0)

    const manifest = (await readManifest(inBucket.store, 1))!
    const counted = new FaultStore(inBucket.store)
    const [fromBucket, fromDisk] = [counted, onDisk.store].map(
      (store) =>
        new Scores(store, new ReleaseFiles({ store, monotonicMs: () => performance.now() }, 2 ** 24)),
    )
    const { first_id: entityId } = manifest.files.findLast(({ path }) => path.startsWith('scores/'))!
    for (const reads of [3, 1]) {
      counted.calls.length = 0
      const request = { entityType: 'forecaster', entityId: entityId!, limit: 10 } as const
      const page = await fromBucket!.page(manifest, request)
      expect(page.rows).toHaveLength(10)
      expect(page).toEqual(await fromDisk!.page(manifest, request))
      expect(counted.calls).toHaveLength(reads)
    }
  })
})

async function releaseOf(
  store: Store,
  directory: string,
  world: Awaited<ReturnType<typeof writeSmallWorld>>,
): Promise<ReleaseContext> {
  let sequence = 0
  await mkdir(directory)
  const context: ReleaseContext & { newId: () => string } = {
    store,
    local: new LocalFiles(store, join(directory, 'cache')),
    directory,
    now: () => NOW,
    wait: () => Promise.resolve(),
    newId: () => uuidv7({ msecs: NOW.getTime(), seq: (sequence += 1), random: new Uint8Array(16) }),
    openDatabase: () => Database.open({ threads: 2, memoryLimit: '1GB', directory }),
    methodology: METHODOLOGY,
    environment: 'production',
    secrets: { current: SECRET },
    signers: [],
    clockAheadMs: undefined,
    service: '0.0.0',
    log: () => undefined,
  }
  for (const [kind, file] of world) {
    using database = await context.openDatabase()
    await importFile({ ...context, database }, kind, file)
  }
  expect(await makeRelease(context)).toMatchObject({ made: true, release: 1 })
  return context
}

/** The hash of every object in the store. */
async function digests(store: Store): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { path } of store.list('')) found[path] = sha256Hex((await store.get(path))!)
  return found
}
