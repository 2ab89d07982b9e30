// The audit of the public log: a whole one passes; what it says of keys, of what is missing, and of what it
// cannot check.
// @module-tag slow
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { signingKeyOf } from '../../pipeline/proof/note-keys.ts'
import { thinReleases } from '../../pipeline/release/retention.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { logCheckpointPath, undonePath } from '../../pipeline/store/paths.ts'
import { completeLog } from '../../pipeline/transparency/publish.ts'
import { suiteFolder } from '../support/folder.ts'
import { changeManifest } from '../support/worlds/forged-release.ts'
import { NO_TREES, manifestOf, putManifest } from '../support/worlds/logged-releases.ts'
import { type LoggedWorld, WITNESS, auditedLog, loggedWorld } from '../support/worlds/logged-world.ts'
import { Clock, release, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { putUndone } from '../support/tables.ts'
import { AGENT_FORECASTS } from '../support/worlds/world.ts'
import { LOG_KEY, LOG_ORIGIN, writeLog } from '../support/worlds/written-log.ts'

const OTHER = signingKeyOf(LOG_ORIGIN, 'log', new Uint8Array(32).fill(8))
const known = [LOG_KEY.verifier]
const folder = await suiteFolder()
let original: LoggedWorld
let world: LoggedWorld
beforeAll(async () => {
  original = await loggedWorld(folder)
})
beforeEach(() => {
  world = { ...original, store: copyOf(original.store) }
})

const makeFourth = async () =>
  release(await testComponents({ store: world.store, folder, clock: new Clock('2026-03-03T12:00:00.000Z') }))

const logWith = (signer: typeof LOG_KEY, last: number) =>
  completeLog({ store: world.store, signers: [signer], witnesses: [], log: () => undefined }, last)

describe('a log', () => {
  test('with an import that was undone passes, and one whose next release keeps quiet about it does not', async () => {
    const id = { table: 'forecasts', version: 1 } as const
    const releaseAt = async (at: string, number: number) => {
      await release(await testComponents({ store: world.store, folder, clock: new Clock(at) }))
      await writeLog(world.store, number)
    }
    await putUndone(world.store, id)
    await releaseAt('2026-03-03T12:00:00.000Z', 4)
    expect((await auditedLog(world)).faults).toEqual([])
    await world.store.delete(undonePath(id))
    await releaseAt('2026-03-04T12:00:00.000Z', 5)
    expect((await auditedLog(world)).faults).toEqual([
      'releases/00000005/manifest.json: does not say that forecasts-1 is undone, as release 4 does',
    ])
  })

  test('that is whole passes, and everything was read', async () => {
    const { faults, notes, ...counted } = await auditedLog(world)
    expect([...faults, ...notes]).toEqual([])
    const paths = [...world.store.objects.keys()]
    const count = (pattern: RegExp) => paths.filter((path) => pattern.test(path)).length
    expect(counted).toEqual({
      ok: true,
      origin: LOG_ORIGIN,
      keys: [`${LOG_ORIGIN}+${LOG_KEY.verifier.keyId}`],
      entries: 3,
      releases: 3,
      checkpoints_held: 3,
      tiles_compared: 6,
      cosignatures: { held: 2, unchecked: 0 },
      files_checked: count(/^(releases\/\d+|snapshots\/[-0-9]+)\/(?!(plan|manifest)\.json)/),
      files_unchecked: 0,
      snapshots_checked: 2,
      data_files_checked: count(/^tables\/(?!usage)\w+\/recorded_date/),
      forecasts_derived: AGENT_FORECASTS + 4,
    })
  })

  test.for([257, 515])('of %d entries passes, with only its full tiles or with all', async (size) => {
    const store = new MemoryStore()
    for (let each = 1; each <= size; each++) {
      await putManifest(store, { ...manifestOf(each), trees: NO_TREES })
    }
    await writeLog(store, 255)
    const before = copyOf(store)
    await writeLog(store, size)
    const whole = await auditedLog({ store, folder })
    expect(whole).toMatchObject({ ok: true, entries: size, checkpoints_held: size })
    expect(whole.notes).toEqual([])
    // What a run that was cut off has not deleted.
    for (const [path, bytes] of before.objects) store.objects.set(path, bytes)
    expect(await auditedLog({ store, folder })).toMatchObject({ ok: true })
    store.objects.set('log/tile/0/000.p/7', new Uint8Array(7 * 32))
    expect((await auditedLog({ store, folder })).faults).toEqual([
      expect.stringMatching(/^log\/tile\/0\/000.p\/7: hash 0 is AAAA.*, and the entries give/),
    ])
  })

  test('that is not there is not audited', async () => {
    await expect(auditedLog({ store: new MemoryStore(), folder })).rejects.toMatchObject({ kind: 'notFound' })
  })
})

describe('a key', () => {
  test('that was replaced at once leaves checkpoints of another, which are named', async () => {
    await makeFourth()
    await logWith(OTHER, 4)
    const report = await auditedLog(world, [OTHER.verifier])
    expect(report).toMatchObject({ ok: true, checkpoints_held: 1 })
    expect(report.notes).toEqual([
      expect.stringMatching(`^checkpoints 1–3 are signed by ${LOG_ORIGIN}\\+${LOG_KEY.verifier.keyId} alone`),
    ])
    expect(await auditedLog(world, [OTHER.verifier, ...known])).toMatchObject({
      ok: true,
      checkpoints_held: 4,
      notes: [],
    })
    // Nothing vouches for what nobody known has signed last.
    expect((await auditedLog(world, known)).faults).toEqual([
      `${logCheckpointPath(4)}: expected a signature by ${LOG_ORIGIN}+${LOG_KEY.verifier.keyId}, found ${LOG_ORIGIN}+${OTHER.verifier.keyId}`,
    ])
  })

  test('of a witness that was not given leaves its cosignatures unchecked', async () => {
    const report = await auditedLog(world, known, [])
    expect(report).toMatchObject({ ok: true, cosignatures: { held: 0, unchecked: 2 } })
    expect(report.notes).toEqual([
      expect.stringMatching(
        `^the cosignatures of witness.example\\+${WITNESS.verifier.keyId} at 2–3 were not`,
      ),
    ])
  })
})

describe('what is missing', () => {
  test('at the end is logged by the next run, also where one has begun to', async () => {
    await makeFourth()
    const note = 'release 4 is published and not logged yet, and not checked: the next run logs them'
    expect(await auditedLog(world)).toMatchObject({ ok: true, entries: 3, releases: 4, notes: [note] })
    await writeLog(world.store, 4)
    world.store.objects.delete(logCheckpointPath(4))
    expect(await auditedLog(world)).toMatchObject({ ok: true, entries: 3, releases: 4, notes: [note] })
    world.store.objects.set('log/tile/0/000.p/4', new Uint8Array(128))
    expect((await auditedLog(world)).faults).toEqual([expect.stringMatching(/^log\/tile\/0\/000.p\/4: /)])
  })

  test.for([
    ['log/checkpoints/00000002', /^is missing, though there are later ones: expected "fvs.example/],
    ['log/tile/0/000.p/2', /^is missing: expected 64 bytes with the SHA-256 [0-9a-f]{64}$/],
    ['log/tile/entries/000.p/3', /^is missing: expected \d+ bytes/],
    ['releases/00000002/forecasts.tree', /^is missing: its manifest names 144 bytes/],
    ['releases/00000002/entities/000.parquet', /^is missing: its manifest names/],
    ['snapshots/2026-03-01/manifest.json', /^is missing: release 1 has logged the SHA-256/],
    ['tables/forecasts/_delta_log/00000000000000000001.json', /^is missing, though a release was made/],
  ] as const)('is named: %s', async ([path, fault]) => {
    expect(world.store.objects.delete(path)).toBe(true)
    const { faults } = await auditedLog(world)
    const own = faults.find((each) => each.startsWith(`${path}: `))
    expect(own?.slice(path.length + 2), String(faults)).toMatch(fault)
  })

  test('by retention is no fault, and is said', async () => {
    const now = () => new Date('2026-03-03T00:00:00.000Z')
    await thinReleases({ store: world.store, now, log: () => undefined }, 3, 1)
    const report = await auditedLog(world)
    expect(report).toMatchObject({ ok: true, faults: [] })
    expect(report.files_unchecked).toBeGreaterThan(10)
    expect(report.notes).toEqual([
      `releases 1–2 are thinned: ${report.files_unchecked} of their files are gone, and the roots of the shards among them were not checked`,
    ])
    changeManifest(world.store, 1, ({ files }) => ({ files: files.slice(1) }))
    expect((await auditedLog(world)).ok).toBe(false)
  })
})

test('what does not belong below log/ is named, and is a fault where the next run would write', async () => {
  world.store.objects.set('log/checkpoint', new Uint8Array(1))
  world.store.objects.set('log/tile/0/000.p/9', new Uint8Array(1))
  world.store.objects.set('log/cosignatures/00000009/00000000', new Uint8Array(1))
  const { faults, notes } = await auditedLog(world)
  expect(faults.map((fault) => fault.split(': ')[0])).toEqual([
    'log/cosignatures/00000009/00000000',
    'log/tile/0/000.p/9',
  ])
  expect(notes).toEqual([expect.stringMatching(/^log\/checkpoint is not of this log/)])
})
