// A release outlives the software that made it: what another method, another version and another secret make
// of it later.
import { beforeAll, describe, expect, test } from 'vitest'
import { runAudit } from '../../jobs/audit/audit.ts'
import type { Components } from '../../jobs/components/components.ts'
import type { AuditReport } from '../../pipeline/audit/report.ts'
import { Database } from '../../pipeline/duckdb.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { manifestPath, planPath, releasePrefix, snapshotPrefix } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { OTHER_METHOD, laterComponents, laterRelease } from '../support/later-software.ts'
import { Clock, OTHER_SECRET, SECRET, release, testComponents } from '../support/http/service.ts'
import { contentOf, copyOf, recordIn, setRecord } from '../support/store-content.ts'
import { NOW, forecasterId, releaseWorld } from '../support/worlds/world.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'

const TODAY = NOW.slice(0, 10)
const TOMORROW = '2026-03-02T12:00:00.000Z'
const SHARD = `forecaster/${forecasterId(0)}.json`

const folder = await suiteFolder()
let released: MemoryStore

beforeAll(async () => {
  released = new MemoryStore()
  await releaseWorld(await componentsOver(released))
})

const componentsOver = (store: Store, at = NOW) => testComponents({ store, folder, clock: new Clock(at) })

interface Audited {
  report: AuditReport
  text: string
}

async function audit(components: Components, number = 1): Promise<Audited> {
  const { ok, json, text } = await runAudit(components, number)
  const report = json as AuditReport
  expect(report.ok).toBe(ok)
  return { report, text }
}

/** The released store with something changed, as software with another method audits it. */
async function auditLater(change: (objects: Map<string, Uint8Array>) => void = () => undefined) {
  const store = copyOf(released)
  change(store.objects)
  return audit({ ...(await componentsOver(store)), methodology: OTHER_METHOD })
}

const flipped = (bytes: Uint8Array, at = bytes.length >> 1) => bytes.with(at, bytes[at]! ^ 1)

describe('an audit of a release that another method made', () => {
  test('checks its hashes and signatures, and says that it derived nothing and what does', async () => {
    const { report, text } = await auditLater()
    expect(report).toEqual({
      release: 1,
      as_of: NOW,
      derived: false,
      ok: true,
      files_compared: 30,
      data_files_checked: 7,
      signatures: { checked: true, valid: 42, invalid: 0, unsigned: 0 },
      snapshot_compared: true,
      credentials_checked: 0,
      thinned_at: null,
      files_unchecked: 0,
      faults: [],
      notes: [
        `version ${packageJson.version} of the service made this release, with method ${METHODOLOGY.version} and DuckDB ${Database.version}; this is version ${packageJson.version}, with method 4.1.0 and DuckDB ${Database.version}, so it did not derive the numbers again: version ${packageJson.version} does`,
      ],
    })
    expect(text).not.toMatch(/differ/i)
    expect(text).toContain('every hash holds')
  })

  test('does the same where it was another version of DuckDB', async () => {
    const store = copyOf(released)
    const manifest = (await readManifest(store, 1))!
    const engines = { ...manifest.engines, duckdb: 'v0.1.2' }
    setRecord(store, manifestPath(1), { ...manifest, engines })
    const { report, text } = await audit(await componentsOver(store))
    expect(report).toMatchObject({ derived: false, ok: true, files_compared: 30, faults: [] })
    expect(report.notes).toEqual([expect.stringContaining('DuckDB v0.1.2; this is version')])
    expect(text).not.toMatch(/differ/i)
  })

  test('checks the tables too: a damaged data file, and one that is gone, are named', async () => {
    const dataFile = [...released.objects.keys()].find((path) => /^tables\/forecasts\/.*parquet$/.test(path))!
    const flip = await auditLater((objects) => objects.set(dataFile, flipped(objects.get(dataFile)!)))
    expect(flip.report.faults).toEqual([
      expect.stringMatching(`^${dataFile} is damaged: expected the SHA-256 `),
    ])
    const gone = await auditLater((objects) => objects.delete(dataFile))
    expect(gone.report.faults).toEqual([`${dataFile} is in the log of its table and not in the store`])
  })

  test.for([SHARD, 'entities/000.parquet', 'scores/000.parquet'])(
    'finds one changed byte of %s',
    async (path) => {
      for (const place of [0, 0.5, 0.999]) {
        const { report, text } = await auditLater((objects) => {
          const bytes = objects.get(releasePrefix(1) + path)!
          objects.set(releasePrefix(1) + path, flipped(bytes, Math.floor(bytes.length * place)))
        })
        expect(report.faults).toContain(`${path}: its SHA-256 is not the manifest's`)
        expect(text).toContain('FAILED')
        expect(text).not.toMatch(/differ/i)
      }
    },
  )

  test.for([SHARD, 'entities/000.parquet', 'scores/000.parquet'])(
    'finds that %s is missing',
    async (path) => {
      const { report } = await auditLater((objects) => objects.delete(releasePrefix(1) + path))
      expect(report.faults).toEqual([`${path}: is missing`])
    },
  )

  test('finds a size in the manifest that is not the file’s', async () => {
    const { report } = await auditLater((objects) => {
      const manifest = recordIn({ objects }, manifestPath(1)) as unknown as ReleaseManifest
      manifest.files[0]!.size_bytes += 1
      setRecord({ objects }, manifestPath(1), manifest)
    })
    expect(report.faults).toEqual(['manifest.json: is not the manifest of the stored files'])
  })

  test('finds what is wrong with its plan, and with the snapshot that it brings', async () => {
    const snapshot = snapshotPrefix(TODAY)
    const cases: [(objects: Map<string, Uint8Array>) => void, string | RegExp][] = [
      [(objects) => objects.delete(planPath(1)), 'plan.json: is missing'],
      [(objects) => objects.delete(snapshot + SHARD), `${snapshot}${SHARD}: is missing`],
      [
        (objects) => objects.set(snapshot + SHARD, flipped(objects.get(snapshot + SHARD)!)),
        new RegExp(`^${snapshot}${SHARD}: differs at byte`),
      ],
      [
        (objects) =>
          setRecord({ objects }, `${snapshot}manifest.json`, { date: TODAY, release: 2, files: [] }),
        `${snapshot}manifest.json: is not the manifest of the copied files`,
      ],
    ]
    for (const [change, fault] of cases) {
      const { report } = await auditLater(change)
      expect(report.faults).toEqual([typeof fault === 'string' ? fault : expect.stringMatching(fault)])
    }
  })

  test('checks the copies by their own manifest where the shard that they are copied from is damaged', async () => {
    const snapshot = snapshotPrefix(TODAY)
    const damage = (objects: Map<string, Uint8Array>, path: string) =>
      objects.set(path, flipped(objects.get(path)!))
    const one = await auditLater((objects) => damage(objects, releasePrefix(1) + SHARD))
    expect(one.report.faults.filter((fault) => fault.startsWith('snapshots/'))).toEqual([])
    const both = await auditLater((objects) => {
      damage(objects, releasePrefix(1) + SHARD)
      damage(objects, snapshot + SHARD)
    })
    expect(both.report.faults).toContain(`${snapshot}${SHARD}: its SHA-256 is not its manifest's`)
  })

  test('finds signatures of other secrets', async () => {
    const settings = { VERIFICATION_SIGNING_SECRET: OTHER_SECRET }
    const components = await testComponents({ store: released, folder, settings })
    const { report } = await audit({ ...components, methodology: OTHER_METHOD })
    expect(report).toMatchObject({ ok: false, derived: false, signatures: { valid: 0, invalid: 42 } })
    expect(report.faults).toEqual([expect.stringMatching(/^signatures: /)])
  })
})

describe('a snapshot', () => {
  test(
    'is a copy of what the shards of the first release of the day hold, and of that release only',
    { tags: ['slow'] },
    async () => {
      const store = copyOf(released)
      await release(await componentsOver(store))
      const read = (path: string) =>
        JSON.parse(new TextDecoder().decode(store.objects.get(path))) as {
          entities: Record<string, { snapshot?: object }>
        }
      const { entities } = read(releasePrefix(1) + SHARD)
      expect(read(snapshotPrefix(TODAY) + SHARD)).toEqual({
        date: TODAY,
        entity_type: 'forecaster',
        entities: Object.fromEntries(Object.entries(entities).map(([id, { snapshot }]) => [id, snapshot])),
      })
      expect(entities[forecasterId(0)]?.snapshot).toMatchObject({
        payload: { date: TODAY, release: 1, rank: 1, population: 7 - 1 },
        signature: expect.stringMatching(/^v1=[0-9a-f]{64}$/) as string,
      })
      const second = read(releasePrefix(2) + SHARD).entities
      for (const entity of Object.values(second)) expect(entity).not.toHaveProperty('snapshot')
    },
  )

  test('is copied without a signature where signing is off', { tags: ['slow'] }, async () => {
    const store = new MemoryStore()
    const settings = { VERIFICATION_SIGNING_SECRET: '' }
    await releaseWorld(await testComponents({ store, folder, clock: new Clock(NOW), settings }))
    const text = new TextDecoder().decode(store.objects.get(snapshotPrefix(TODAY) + SHARD))
    expect(JSON.parse(text)).toMatchObject({ entities: { [forecasterId(0)]: { signature: null } } })
  })

  test.for([
    ['on the same day', NOW],
    ['on the next day', TOMORROW],
  ] as const)(
    'that is missing is completed by later software %s to the same bytes',
    { tags: ['slow'] },
    async ([, at]) => {
      const store = copyOf(released)
      const snapshot = new Map([...store.objects].filter(([path]) => path.startsWith(snapshotPrefix(TODAY))))
      expect(snapshot.size).toBe(3)
      for (const path of snapshot.keys()) await store.delete(path)
      const clock = new Clock(at)
      expect(await laterRelease({ store, folder, clock })).toMatchObject({ made: true, release: 2 })
      for (const [path, bytes] of snapshot) expect(store.objects.get(path), path).toEqual(bytes)
    },
  )

  test(
    'whose manifest is gone after later releases of the day is copied from the release that brought it',
    { tags: ['slow'] },
    async () => {
      const store = copyOf(released)
      await release(await componentsOver(store))
      await laterRelease({ store, folder, clock: new Clock(NOW) })
      const snapshot = await contentOf(store, 'snapshots/')
      await store.delete(`${snapshotPrefix(TODAY)}manifest.json`)
      expect(await laterRelease({ store, folder, clock: new Clock(NOW) })).toMatchObject({ release: 4 })
      expect(await contentOf(store, 'snapshots/')).toEqual(snapshot)
    },
  )
})

test('a store whose last release is of an older method is refused, and nothing of it changes', async () => {
  const store = copyOf(released)
  const manifest = (await readManifest(store, 1))!
  setRecord(store, manifestPath(1), { ...manifest, methodology_version: '3.0.0' })
  const before = await contentOf(store)
  await expect(release(await componentsOver(store, TOMORROW))).rejects.toMatchObject({
    kind: 'conflict',
    message: `release 1 of ${store.url} is by method 3.0.0, and no store goes on from one before 4.0.0: begin a new store, and import again`,
  })
  expect(await contentOf(store)).toEqual(before)
})

describe('a release that other software has begun', () => {
  /** Planned and cut off after one of its files. */
  async function begun(): Promise<MemoryStore> {
    const store = copyOf(released)
    const broken = new FaultStore(store, { at: 2, fault: 'failed but persisted', crash: true })
    await expect(release(await componentsOver(broken, TOMORROW))).rejects.toMatchObject({
      kind: 'unavailable',
    })
    expect(store.objects.has(planPath(2))).toBe(true)
    return store
  }

  test('is left alone for 15 minutes', { tags: ['slow'] }, async () => {
    const store = await begun()
    const before = await contentOf(store)
    const clock = new Clock('2026-03-02T12:14:59.999Z')
    await expect(laterRelease({ store, folder, clock })).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('is taken over after 15 minutes') as string,
    })
    expect(await contentOf(store)).toEqual(before)
  })

  test(
    'is left alone and then planned anew although its plan says what this software does not know',
    { tags: ['slow'] },
    async () => {
      const store = await begun()
      setRecord(store, planPath(2), { ...recordIn(store, planPath(2)), workers: 4 })
      await expect(release(await componentsOver(store, TOMORROW))).rejects.toMatchObject({ kind: 'conflict' })
      const components = await componentsOver(store, '2026-03-02T12:15:00.000Z')
      expect(await release(components, { ifChanged: true })).toMatchObject({ release: 2 })
      expect((await audit(components, 2)).report).toMatchObject({ derived: true, ok: true })
    },
  )

  test(
    'is then planned anew, and its plan, its manifest and every payload name the method that scored it',
    { tags: ['slow'] },
    async () => {
      const store = await begun()
      const clock = new Clock('2026-03-02T12:15:00.000Z')
      // The one that had been begun, and then its own.
      expect(await laterRelease({ store, folder, clock })).toMatchObject({ made: true, release: 3 })
      const text = (path: string) => new TextDecoder().decode(store.objects.get(path))
      expect(JSON.parse(text(planPath(2)))).toMatchObject({
        as_of: TOMORROW,
        methodology_version: '4.1.0',
        engines: { service: '5.0.0' },
        brings_snapshot: true,
      })
      const paths = [...store.objects.keys()].filter((path) => path.startsWith(releasePrefix(2)))
      for (const path of [
        ...paths.filter((name) => name.endsWith('.json') && !name.includes('/row-groups/')),
        snapshotPrefix('2026-03-02') + SHARD,
      ]) {
        const methods = new Set(text(path).match(/"methodology_version":"[^"]*"/g))
        expect(methods, path).toEqual(new Set(['"methodology_version":"4.1.0"']))
      }
      const { report } = await audit(await laterComponents({ store, folder }), 2)
      expect(report).toMatchObject({ derived: true, ok: true, faults: [] })
      const asBefore = await testComponents({
        store,
        folder,
        settings: {
          VERIFICATION_SIGNING_SECRET: SECRET,
          VERIFICATION_SIGNING_SECRET_PREVIOUS: OTHER_SECRET,
        },
      })
      expect((await audit(asBefore, 2)).report).toMatchObject({ derived: false, ok: true })
    },
  )
})
