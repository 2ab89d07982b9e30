// `fvs audit` of a release that retention has thinned: what can still be checked is checked, and the rest is
// named.
import { beforeAll, describe, expect, test } from 'vitest'
import { runAudit } from '../../../jobs/audit/audit.ts'
import type { Components } from '../../../jobs/components/components.ts'
import type { AuditReport } from '../../../pipeline/audit/report.ts'
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { readManifest, readSnapshotManifest } from '../../../pipeline/release/read.ts'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import {
  manifestPath,
  releasePrefix,
  snapshotManifestPath,
  snapshotPrefix,
  thinnedPath,
} from '../../../pipeline/store/paths.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import { OTHER_METHOD } from '../../support/later-software.ts'
import {
  Clock,
  OTHER_SECRET,
  SECRET,
  importRows,
  release,
  testComponents,
} from '../../support/http/service.ts'
import { copyOf, setRecord } from '../../support/store-content.ts'
import { NOW, copyReleasedWorld, forecasterId, releaseWorld, uuidOf } from '../../support/worlds/world.ts'

const THINNED_AT = '2026-03-05T00:00:00.000Z'
const DAY = NOW.slice(0, 10)
const SHARD = `forecaster/${forecasterId(0)}.json`

const folder = await suiteFolder()
/** Three releases, of which the first two are thinned. The first brings the snapshot of its day. */
let thinnedStore: MemoryStore
beforeAll(async () => {
  thinnedStore = new MemoryStore()
  const components = await testComponents({ store: thinnedStore, folder, clock: new Clock(NOW) })
  await copyReleasedWorld(thinnedStore)
  await release(components)
  await release(components)
  await thin(thinnedStore, 3)
})

const thin = (store: Store, current: number) =>
  thinReleases({ store, now: () => new Date(THINNED_AT), log: () => undefined }, current, 1)

interface Audited {
  report: AuditReport
  text: string
}

async function audit(
  store: Store,
  number = 1,
  settings: Record<string, string> = {},
  other: Partial<Components> = {},
): Promise<Audited> {
  const components = await testComponents({ store, folder, settings })
  const { ok, json, text } = await runAudit({ ...components, ...other }, number)
  const report = json as AuditReport
  expect(report.ok).toBe(ok)
  return { report, text }
}

/** A copy of the store with something changed. */
function changed(change: (store: MemoryStore) => void): MemoryStore {
  const store = copyOf(thinnedStore)
  change(store)
  return store
}

/** The first release has a tree of forecasts, which stays. */
const gone = (reason: string, files = 19) =>
  `retention thinned this release at ${THINNED_AT}: 18 of its ${files} files are gone; ${reason}`

describe('a thinned release', () => {
  test('holds where every deleted file is derived again with its hash, signatures included', async () => {
    const { report, text } = await audit(thinnedStore)
    expect(report).toMatchObject({
      derived: true,
      ok: true,
      thinned_at: THINNED_AT,
      files_unchecked: 0,
      // The snapshot, the tree of forecasts and the public tables are all that is left.
      files_compared: 12,
      snapshot_compared: true,
      credentials_checked: 0,
      signatures: { checked: true, valid: 7, invalid: 0, unsigned: 0 },
      faults: [],
      notes: [gone('18 of them were derived again and compared with the hashes of the manifest')],
    })
    expect(text).toContain('release 1 as of 2026-03-01T12:00:00.000Z: every byte derived again')
    expect(text).toContain('note: retention thinned this release')
    expect((await audit(thinnedStore, 2)).report).toMatchObject({
      ok: true,
      files_compared: 0,
      files_unchecked: 0,
    })
  })

  test('holds without the secret too, and the shards that nobody can derive are named', async () => {
    const reason =
      '16 of them were derived again and compared with the hashes of the manifest; 2 were not checked, since none of the secrets given made their signatures'
    for (const secret of ['', OTHER_SECRET]) {
      const { report, text } = await audit(thinnedStore, 2, { VERIFICATION_SIGNING_SECRET: secret })
      expect(report).toMatchObject({ derived: true, ok: true, files_unchecked: 2, notes: [gone(reason, 18)] })
      expect(text).toContain('all that is left of it and can be checked holds')
      expect(text).not.toContain('every byte')
    }
  })

  test('holds where another method made it: what is left is checked, and nothing more is claimed', async () => {
    const { report, text } = await audit(thinnedStore, 1, {}, { methodology: OTHER_METHOD })
    expect(report).toMatchObject({
      derived: false,
      ok: true,
      files_unchecked: 18,
      snapshot_compared: true,
      credentials_checked: 0,
      signatures: { valid: 7 },
      notes: [
        expect.stringContaining('did not derive'),
        gone('18 were not checked, since the numbers were not derived again'),
      ],
    })
    expect(text).not.toMatch(/differ|every hash/i)
  })

  test('is compared with the signatures of whichever secrets were in force', async () => {
    const both = { VERIFICATION_SIGNING_SECRET: OTHER_SECRET, VERIFICATION_SIGNING_SECRET_PREVIOUS: SECRET }
    expect((await audit(thinnedStore, 1, both)).report).toMatchObject({ ok: true, files_unchecked: 0 })
    for (const settings of [both, { VERIFICATION_SIGNING_SECRET: '' }]) {
      const store = new MemoryStore()
      const components = await testComponents({ store, folder, clock: new Clock(NOW), settings })
      await releaseWorld(components)
      await release(components)
      await thin(store, 2)
      expect((await audit(store, 1, settings)).report).toMatchObject({ ok: true, files_unchecked: 0 })
      const later = {
        VERIFICATION_SIGNING_SECRET: SECRET,
        VERIFICATION_SIGNING_SECRET_PREVIOUS: OTHER_SECRET,
      }
      expect((await audit(store, 1, later)).report).toMatchObject({ files_unchecked: 0 })
    }
  })

  test('holds after an outcome that it scored by was corrected', async () => {
    const store = copyOf(thinnedStore)
    const components = await testComponents({ store, folder, clock: new Clock(THINNED_AT) })
    await importRows(
      components,
      'resolutions',
      `question_id,outcome,resolved_at\n${uuidOf(1, 0)},no,2026-01-21T00:00:00Z\n`,
    )
    await release(components)
    for (const number of [1, 2, 3, 4]) {
      expect((await audit(store, number)).report, String(number)).toMatchObject({ ok: true, derived: true })
    }
  })

  test('that is thinned while it is audited holds', async () => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    await release(await testComponents({ store, folder, clock: new Clock(NOW) }))
    let files = 0
    const watched = new FaultStore(store, {
      before: async ({ operation, path }) => {
        if (operation !== 'get' || !/^releases\/00000001\/[a-z]+\//.test(path)) return
        files += 1
        if (files === 3) await thin(store, 2)
      },
    })
    expect((await audit(watched)).report).toMatchObject({
      ok: true,
      thinned_at: THINNED_AT,
      notes: [expect.stringContaining('16 of its 19 files are gone')],
    })
  })
})

describe('a thinned release that was damaged', () => {
  test.for([SHARD, 'scores/000.parquet', 'entities/001.parquet'])(
    'is found by the hash of the deleted %s in its manifest',
    async (path) => {
      const manifest = (await readManifest(thinnedStore, 1))!
      const files = manifest.files.map((file) =>
        file.path === path ? { ...file, sha256: sha256Hex(path) } : file,
      )
      const store = changed((copy) => {
        setRecord(copy, manifestPath(1), { ...manifest, files })
      })
      expect((await audit(store)).report.faults).toContain(
        `${path}: was deleted, and what is derived has not the SHA-256 of the manifest`,
      )
    },
  )

  test('is found by a file that is left over and was changed', async () => {
    const whole = new MemoryStore()
    await copyReleasedWorld(whole)
    const path = `${releasePrefix(1)}scores/000.parquet`
    const bytes = whole.objects.get(path)!
    const store = changed(({ objects }) => objects.set(path, bytes.with(50, bytes[50]! ^ 1)))
    const { report } = await audit(store)
    expect(report.faults).toContain(`scores/000.parquet: its SHA-256 is not the manifest's`)
    expect(report.notes).toEqual([expect.stringContaining('17 of its 19 files are gone')])
  })

  test('is found by a row of its snapshot, also if the manifest of the snapshot was made to fit', async () => {
    const snapshot = (await readSnapshotManifest(thinnedStore, DAY))!
    const path = snapshotPrefix(DAY) + SHARD
    const forged = Buffer.from(
      new TextDecoder().decode(thinnedStore.objects.get(path)).replace('"rank":1', '"rank":2'),
    )
    const fitted = snapshot.files.map((file) =>
      file.path === SHARD ? { ...file, sha256: sha256Hex(forged), size_bytes: forged.byteLength } : file,
    )
    const store = changed((copy) => {
      copy.objects.set(path, forged)
      setRecord(copy, snapshotManifestPath(DAY), { ...snapshot, files: fitted })
    })
    for (const settings of [{}, { VERIFICATION_SIGNING_SECRET: '' }]) {
      expect((await audit(store, 1, settings)).report.faults).toContain(`${path}: is not what is derived`)
    }
    const { report } = await audit(store, 1, {}, { methodology: OTHER_METHOD })
    expect(report.faults).toEqual([
      expect.stringMatching(/^signatures: snapshot of /),
      'manifest.json: /snapshot_sha256 is not that of the manifest of the copied files',
    ])
  })

  test('is found by a snapshot that is gone', async () => {
    const store = changed(({ objects }) => objects.delete(snapshotManifestPath(DAY)))
    expect((await audit(store)).report.faults).toEqual([`${snapshotManifestPath(DAY)}: is missing`])
  })

  test('is one that lacks files without a record of it', async () => {
    const store = changed(({ objects }) => objects.delete(thinnedPath(1)))
    const { report } = await audit(store)
    expect(report).toMatchObject({ ok: false, thinned_at: null })
    expect(report.faults.filter((fault) => fault.endsWith(': is missing'))).toHaveLength(18)
  })

  test('lacks what retention never deletes', async () => {
    const store = changed(({ objects }) => objects.delete(`${releasePrefix(1)}plan.json`))
    const { report } = await audit(store)
    expect(report.faults).toEqual(['plan.json: is missing'])
  })
})
