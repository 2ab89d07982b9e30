// What a release commits to: the trees over its payloads and forecasts, the data that is new in it, and its
// snapshot.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { base64Of } from '../../pipeline/proof/base64.ts'
import { canonical, sha256Hex } from '../../pipeline/proof/canonical.ts'
import { type Hash, MerkleTree, leafHash } from '../../pipeline/proof/merkle.ts'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { manifestPath, releasePrefix } from '../../pipeline/store/paths.ts'
import { FORECASTS_TREE_PATH } from '../../pipeline/release/files/forecasts-tree.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { ReleaseShard } from '../../schemas/payloads.ts'
import type { EntityType } from '../../schemas/tables.ts'
import { apiForecast } from '../support/http/api-forecasts.ts'
import { Clock, SECRET, importRows, release, testComponents } from '../support/http/service.ts'
import { copyOf, recordIn, setRecord } from '../support/store-content.ts'
import { send } from '../support/tables.ts'
import { QUESTION, copyReleasedWorld, csvOf, forecasterId } from '../support/worlds/world.ts'

let released: MemoryStore
let agentId: string
beforeAll(async () => {
  released = new MemoryStore()
  ;({ agentId } = await copyReleasedWorld(released))
})

/** By RFC 6962 §2.1 as it is written. */
function plainRoot(leaves: readonly Hash[]): Hash {
  if (leaves.length <= 1) return leaves[0]!
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return new MerkleTree([plainRoot(leaves.slice(0, split)), plainRoot(leaves.slice(split))]).root
}

const manifestOf = async (store: MemoryStore, number: number) => (await readManifest(store, number))!

/** The leaves of a kind, read from the shards of a release. */
function leavesOf(store: MemoryStore, { release: number, files }: ReleaseManifest, kind: EntityType): Hash[] {
  const shards = files.filter(({ path }) => path.startsWith(`${kind}/`))
  return shards.flatMap(({ path }) => {
    const bytes = store.objects.get(releasePrefix(number) + path)
    const { entities } = JSON.parse(new TextDecoder().decode(bytes)) as ReleaseShard
    return Object.keys(entities)
      .toSorted()
      .flatMap((id) =>
        (['advanced_metrics', 'metrics', 'rankings', 'verification'] as const).map((publication) =>
          leafHash(canonical(entities[id]![publication].payload)),
        ),
      )
  })
}

const forecast = (number: number, at: string, probability: number) =>
  apiForecast(agentId, number, at, probability)

/** A second release, with this many forecasts that the first one does not have. */
async function releasedAfter(count: number) {
  const store = copyOf(released)
  const components = await testComponents({ store, clock: new Clock('2026-03-01T13:00:00.000Z') })
  const made = Array.from({ length: count }, (_, index) => forecast(index, '2026-03-01T12:10:00.000Z', 0.5))
  await send(
    store,
    'forecasts',
    'a',
    made.map(({ row }) => row),
  )
  await release(components)
  return { store, components, made }
}

/** The ids and leaves in a file of a release, and what follows them. */
function treeFile(store: MemoryStore, number: number, size: number) {
  const bytes = Buffer.from(store.objects.get(releasePrefix(number) + FORECASTS_TREE_PATH)!)
  const records = Array.from({ length: size }, (_, index) => bytes.subarray(48 * index, 48 * (index + 1)))
  return {
    ids: records.map((record) => record.toString('hex', 0, 16)),
    leaves: records.map((record) => record.subarray(16)),
    rest: bytes.subarray(48 * size),
  }
}

const shortId = (id: string) => id.replaceAll('-', '')

describe('the manifest of a release', () => {
  test('has the trees over the payloads of its shards, and the data files that it is made of', async () => {
    const manifest = await manifestOf(released, 1)
    for (const kind of ['agent', 'forecaster'] as const) {
      const leaves = leavesOf(released, manifest, kind)
      const root = base64Of(plainRoot(leaves))
      expect(manifest.trees?.[kind]).toEqual({ root, size: leaves.length, shards: [root] })
    }
    const stored = [...released.objects.keys()].filter((path) => /^tables\/\w+\/recorded_date=/.test(path))
    expect(manifest.inputs.map(({ table, path }) => `tables/${table}/${path}`).toSorted()).toEqual(
      stored.toSorted(),
    )
    for (const { table, path, sha256, size_bytes, rows } of manifest.inputs) {
      const bytes = released.objects.get(`tables/${table}/${path}`)!
      expect([sha256, size_bytes]).toEqual([sha256Hex(bytes), bytes.byteLength])
      expect(rows).toBeGreaterThan(0)
    }
    const snapshot = released.objects.get(`snapshots/${manifest.as_of.slice(0, 10)}/manifest.json`)!
    expect(manifest.snapshot_sha256).toBe(sha256Hex(snapshot))
  })

  test(
    'has the tree over the forecasts that came by the API since the release before, each once',
    { tags: ['slow'] },
    async () => {
      const store = copyOf(released)
      const clock = new Clock('2026-03-01T13:00:00.000Z')
      const components = await testComponents({ store, clock })
      const probabilities = [0, 1, 0.000001, 0.5, 0.123456, 0.1, 0.999999, 0.25]
      const made = probabilities.map((probability, index) =>
        forecast(50 - index, `2026-03-01T12:10:0${index}.123Z`, probability),
      )
      await send(
        store,
        'forecasts',
        'a',
        made.map(({ row }) => row),
      )
      // A retry writes the same again.
      await send(store, 'forecasts', 'b', [
        { ...made[3]!.row, recorded_at: new Date('2026-03-01T12:14:00.000Z') },
      ])
      const line = `forecaster,${forecasterId(0)},${QUESTION.open},0.5,2026-02-01T00:00:00Z`
      await importRows(components, 'forecasts', csvOf([line]))
      await release(components)
      const { trees, files, snapshot_sha256, inputs } = await manifestOf(store, 2)
      const expected = made.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      expect(trees.forecasts).toEqual({
        root: base64Of(plainRoot(expected.map(({ leaf }) => leaf))),
        size: expected.length,
      })
      expect(files.at(-1)).toMatchObject({ path: FORECASTS_TREE_PATH, rows: expected.length })
      const file = treeFile(store, 2, expected.length)
      expect(file.ids).toEqual(expected.map(({ id }) => shortId(id)))
      expect(file.leaves.map(base64Of)).toEqual(expected.map(({ leaf }) => base64Of(leaf)))
      expect(file.rest).toHaveLength(0)
      // The day has its snapshot, and no other table has new rows.
      expect(snapshot_sha256).toBeNull()
      expect(new Set(inputs.map(({ table }) => table))).toEqual(new Set(['forecasts']))

      // A retry that comes after the release is in no tree again.
      await send(store, 'forecasts', 'c', [
        { ...made[7]!.row, recorded_at: new Date('2026-03-01T12:14:30.000Z') },
      ])
      const late = forecast(99, '2026-03-01T13:01:00.000Z', 0.75)
      await send(store, 'forecasts', 'd', [late.row])
      clock.set('2026-03-01T14:00:00.000Z')
      await release(components)
      expect((await manifestOf(store, 3)).trees.forecasts).toEqual({ root: base64Of(late.leaf), size: 1 })
      expect(treeFile(store, 3, 1).ids).toEqual([shortId(late.id)])
    },
  )

  test('has no such tree where none came', { tags: ['slow'] }, async () => {
    const { store } = await releasedAfter(0)
    const { trees, files } = await manifestOf(store, 2)
    expect(trees.forecasts).toBeNull()
    expect(files.map(({ path }) => path)).not.toContain(FORECASTS_TREE_PATH)
  })

  test('has full tiles behind the records of a large tree', { tags: ['slow'] }, async () => {
    const { store, made } = await releasedAfter(5000)
    const { trees } = await manifestOf(store, 2)
    const leaves = made.map(({ leaf }) => leaf)
    expect(trees.forecasts!.root).toBe(base64Of(plainRoot(leaves)))
    const { ids, rest } = treeFile(store, 2, 5000)
    expect(ids).toEqual(made.map(({ id }) => shortId(id)))
    const tiles = Array.from({ length: 19 }, (_, tile) =>
      plainRoot(leaves.slice(256 * tile, 256 * (tile + 1))),
    )
    expect(base64Of(rest)).toBe(base64Of(Buffer.concat(tiles)))
  })
})

describe('the audit', () => {
  const audit = (components: Components, number: number) =>
    components.local.reading(() =>
      withDatabase(components.openDatabase, (database) =>
        auditRelease({ ...components, database, secrets: [SECRET] }, number),
      ),
    )

  test.for<[string, (bytes: Uint8Array) => Uint8Array | undefined, string[]]>([
    [
      'is changed',
      (bytes) => bytes.map((byte, at) => (at === 20 ? byte ^ 1 : byte)),
      [
        `${FORECASTS_TREE_PATH}: its SHA-256 is not the manifest's`,
        `${FORECASTS_TREE_PATH}: differs at byte 20 of 144: stored `,
        'manifest.json: is not the manifest of the derived files',
      ],
    ],
    [
      'is cut short',
      (bytes) => bytes.subarray(0, 100),
      [
        `${FORECASTS_TREE_PATH}: its SHA-256 is not the manifest's`,
        `${FORECASTS_TREE_PATH}: differs at byte 100 of 100: stored `,
        'manifest.json: is not the manifest of the derived files',
      ],
    ],
    ['is not there', () => undefined, [`${FORECASTS_TREE_PATH}: is missing`]],
  ])('finds a tree of forecasts that %s', { tags: ['slow'] }, async ([, change, faults]) => {
    const { store, components } = await releasedAfter(3)
    expect((await audit(components, 2)).faults).toEqual([])
    const path = releasePrefix(2) + FORECASTS_TREE_PATH
    const changed = change(store.objects.get(path)!)
    if (changed) store.objects.set(path, changed)
    else store.objects.delete(path)
    const report = await audit(components, 2)
    expect(report.faults).toEqual(faults.map((fault) => expect.stringContaining(fault) as string))
  })

  test.for<[string, (manifest: ReleaseManifest) => Partial<ReleaseManifest>, RegExp]>([
    [
      'a root',
      ({ trees }) => ({ trees: { ...trees, agent: { ...trees.agent!, root: trees.forecaster!.root } } }),
      /^manifest.json: differs at byte/m,
    ],
    ['an input', ({ inputs }) => ({ inputs: inputs.slice(1) }), /^manifest.json: differs at byte/m],
    ['the snapshot', () => ({ snapshot_sha256: '0'.repeat(64) }), /snapshot_sha256/],
  ])('finds %s that is not that of the release', { tags: ['slow'] }, async ([, change, fault]) => {
    const store = copyOf(released)
    const components = await testComponents({ store, clock: new Clock('2026-03-01T13:00:00.000Z') })
    expect((await audit(components, 1)).faults).toEqual([])
    const manifest = recordIn(store, manifestPath(1)) as unknown as ReleaseManifest
    setRecord(store, manifestPath(1), { ...manifest, ...change(manifest) })
    const { ok, faults } = await audit(components, 1)
    expect(ok).toBe(false)
    expect(faults.join('\n')).toMatch(fault)
  })
})
