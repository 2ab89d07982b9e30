// Lies of an operator who holds every secret and makes every hash anew (docs/security.md): each is found, and
// by whom.
import { beforeEach, describe, expect, test } from 'vitest'
import { base64Of } from '../../pipeline/proof/base64.ts'
import { canonical } from '../../pipeline/proof/canonical.ts'
import { MerkleTree, type Hash } from '../../pipeline/proof/merkle.ts'
import { verifyConsistency } from '../../pipeline/proof/merkle-proof.ts'
import { consistencyFromTiles } from '../../pipeline/proof/tiles.ts'
import { receiptsOf } from '../../pipeline/proof/receipts.ts'
import { verifyProof, verifyReceipt } from '../../pipeline/proof/verify.ts'
import { inboxPath, manifestPath } from '../../pipeline/store/paths.ts'
import { encodeRows } from '../../pipeline/tables/inbox.ts'
import { recordAside } from '../../pipeline/tables/quarantine.ts'
import { lastCheckpoint, readCheckpoint, tileReader } from '../../pipeline/transparency/log-files.ts'
import { apiForecast } from '../support/http/api-forecasts.ts'
import { suiteFolder } from '../support/folder.ts'
import { changeAgents, changeFile, changeManifest, leaveOut } from '../support/worlds/forged-release.ts'
import { type LoggedWorld, THIRD, auditedLog, loggedWorld } from '../support/worlds/logged-world.ts'
import { Clock, release, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { currentVersion, send } from '../support/tables.ts'
import { LOG_KEY, LOG_ORIGIN, writeLog } from '../support/worlds/written-log.ts'

const FOURTH = '2026-03-02T14:00:00.000Z'
const folder = await suiteFolder()
const original = await loggedWorld(folder)
let world: LoggedWorld
beforeEach(() => {
  world = { ...original, store: copyOf(original.store) }
})

/** Logs the releases anew, as if nothing had been logged before. */
async function logAnew(releases: number): Promise<void> {
  for (const path of world.store.objects.keys()) {
    if (path.startsWith('log/')) world.store.objects.delete(path)
  }
  await writeLog(world.store, releases)
}

/** Makes and logs the fourth release. */
async function releaseFourth(): Promise<void> {
  await release(await testComponents({ store: world.store, folder, clock: new Clock(FOURTH) }))
  await writeLog(world.store, 4)
}

const faultsOf = async () => (await auditedLog(world)).faults.join('\n')

/** What anyone finds who kept the last checkpoint of the log as it was. */
async function keptCheckpointFinds(): Promise<string> {
  const kept = (await readCheckpoint(original.store, 3)).checkpoint
  const size = await lastCheckpoint(world.store)
  if (size < kept.size) return 'the log has become shorter'
  const { checkpoint } = await readCheckpoint(world.store, size)
  try {
    const path = await consistencyFromTiles(kept.size, size, tileReader(world.store))
    verifyConsistency(kept, checkpoint, path)
    return 'nothing'
  } catch (error) {
    return (error as Error).message
  }
}

const better = (entities: Parameters<Parameters<typeof changeAgents>[2]>[0]) => {
  const { payload } = entities[world.agentId]!.verification
  entities[world.agentId]!.verification.payload = { ...payload, certification: 'certified' }
}

describe('an operator who', () => {
  test('shows another payload than was published fails its proof', async () => {
    const { body, proof } = world.kept
    const shown = canonical({
      ...(JSON.parse(new TextDecoder().decode(body)) as object),
      certification: 'Oracle',
    })
    const trust = { keys: [LOG_KEY.verifier], witnesses: [], leastCosignatures: 0 }
    expect((await verifyProof(body, proof, trust)).tree).toBe('agent')
    await expect(verifyProof(shown, proof, trust)).rejects.toThrow(
      /these bytes are not in the tree “agent” of release /,
    )
  })

  test(
    'changes a published payload, its shard, its tree and its manifest is found, since the manifest is logged',
    { tags: ['slow'] },
    async () => {
      changeAgents(world.store, 2, better)
      expect(await faultsOf()).toMatch(
        /^releases\/00000002\/manifest.json: is not what was logged: entry 1 in log\/tile\/entries\/000.p\/3 has agent .*manifest_sha256 "[0-9a-f]{64}", the release has "/,
      )
    },
  )

  test(
    'logs that changed history anew is found by anyone who kept a checkpoint',
    { tags: ['slow'] },
    async () => {
      changeAgents(world.store, 2, better)
      await logAnew(3)
      expect(await auditedLog(world)).toMatchObject({ ok: true, entries: 3 })
      expect(await keptCheckpointFinds()).toMatch(
        /^the path between a tree of 3 leaves and one of 3 leads to the root/,
      )
    },
  )

  test(
    'removes the last release is found; with its entry too, by anyone who kept a checkpoint',
    { tags: ['slow'] },
    async () => {
      world.store.objects.delete(manifestPath(3))
      expect(await faultsOf()).toMatch(
        /^releases\/00000003\/manifest.json is gone.*\n.*entry 2 .*has its SHA-256 as "/,
      )
      for (const path of world.store.objects.keys()) {
        if (/^log\/.*(0{7}3|\.p\/3)/.test(path)) world.store.objects.delete(path)
      }
      expect(await auditedLog(world)).toMatchObject({ ok: true, entries: 2 })
      expect(await keptCheckpointFinds()).toBe('the log has become shorter')
    },
  )

  test(
    'drops a forecast from a data file and makes its commit anew is found',
    { tags: ['slow'] },
    async () => {
      const { version } = await currentVersion(world.store, 'forecasts')
      const { id } = world.forecasts.at(-1)!
      const path = await leaveOut(
        world.store,
        folder,
        { table: 'forecasts', version },
        `forecast_id = '${id}'`,
      )
      const faults = await faultsOf()
      expect(faults).toMatch(
        new RegExp(`^${path}: release 3 has logged 1 rows, .*; the commits of the table say 1 rows`),
      )
      expect(faults).toMatch(
        /releases\/00000003\/forecasts.tree: the data files give none, and the manifest has 1 leaves/,
      )
    },
  )

  test(
    'drops a forecast before a release takes it in has given a receipt, and no release has a proof of it',
    { tags: ['slow'] },
    async () => {
      const dropped = apiForecast(world.agentId, 99, '2026-03-02T13:30:00.000Z', 1)
      const taken = apiForecast(world.agentId, 98, '2026-03-02T13:30:00.000Z', 1)
      const batch = { origin: LOG_ORIGIN, uuid: '0198c0de-1b1c-7c3e-a1b2-3c4d5e6f7a8b' }
      const [receipt] = receiptsOf([dropped.body, taken.body], batch, [LOG_KEY])
      await send(world.store, 'forecasts', 'd', [taken.row])
      await releaseFourth()
      expect(await auditedLog(world)).toMatchObject({ ok: true, entries: 4 })
      const { checkpoint } = await verifyReceipt(dropped.body, receipt!, { keys: [LOG_KEY.verifier] })
      expect(checkpoint.size).toBe(2)
      const tree = Buffer.from(world.store.objects.get('releases/00000004/forecasts.tree')!).toString('hex')
      expect(tree).toContain(Buffer.from(taken.leaf).toString('hex'))
      expect(tree).not.toContain(Buffer.from(dropped.leaf).toString('hex'))
    },
  )

  test('backdates a forecast is found', { tags: ['slow'] }, async () => {
    const backdated = apiForecast(world.agentId, 99, '2026-03-02T12:49:59.999Z', 1)
    const inTime = apiForecast(world.agentId, 98, '2026-03-02T12:50:00.000Z', 1)
    await send(world.store, 'forecasts', 'd', [backdated.row, inTime.row])
    await releaseFourth()
    expect((await auditedLog(world)).faults).toEqual([
      `releases/00000004/forecasts.tree: the forecast ${backdated.id} is backdated: it says 2026-03-02T12:49:59.999Z, and release 3 of ${THIRD} does not have it; expected 2026-03-02T12:50:00.000Z or later`,
    ])
  })

  test(
    'puts back an object that was in quarantine is not accused, but for more rows than it had',
    { tags: ['slow'] },
    async () => {
      const made = [96, 97, 98].map((number) =>
        apiForecast(world.agentId, number, '2026-03-02T10:00:00.000Z', 1),
      )
      const rows = made.map(({ row }) => row)
      const bytes = encodeRows('forecasts', rows.slice(0, 2))
      const time = Date.parse('2026-03-02T10:02:00.000Z').toString(16).padStart(12, '0')
      const key = inboxPath('forecasts', `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`, bytes)
      await world.store.put(key, bytes)
      await recordAside(world.store, { key, at: THIRD, reason: 'a test', version: null }, true)
      await send(world.store, 'forecasts', 'd', rows.slice(2))
      await releaseFourth()
      const { faults, notes } = await auditedLog(world)
      expect(faults).toEqual([
        expect.stringMatching(`forecasts.tree: the forecast ${made[2]!.id} is backdated`),
      ])
      expect(notes).toEqual([
        expect.stringMatching(`^2 forecasts of release 4 are later than their time: they are of ${key}`),
      ])
    },
  )

  test('records two forecasts of one id is found', { tags: ['slow'] }, async () => {
    const [first] = world.forecasts
    await send(world.store, 'forecasts', 'd', [
      { ...first!.row, probability: 0.99, recorded_at: new Date('2026-03-02T13:10:00.000Z') },
    ])
    await releaseFourth()
    expect(await faultsOf()).toMatch(
      new RegExp(
        `^releases/00000004/forecasts.tree: the forecast ${first!.id} is in the data files with 2 contents and has 1 leaves, in releases 2 to 4`,
      ),
    )
  })

  test('logs a tree with two leaves of one id is found', { tags: ['slow'] }, async () => {
    const tree = Buffer.from(world.store.objects.get('releases/00000003/forecasts.tree')!)
    const other = apiForecast(world.agentId, 10, '2026-03-02T11:55:00.000Z', 0.875)
    const bytes = Buffer.concat([tree, tree.subarray(0, 16), other.leaf])
    changeFile(world.store, 3, 'forecasts.tree', bytes)
    const leaves: Hash[] = [tree.subarray(16), other.leaf]
    const forged = { root: base64Of(new MerkleTree(leaves).root), size: 2 }
    changeManifest(world.store, 3, ({ trees }) => ({ trees: { ...trees, forecasts: forged } }))
    await logAnew(3)
    const faults = await faultsOf()
    expect(faults).toMatch(
      /^releases\/00000003\/forecasts.tree: the data files give 1 leaves, .* manifest has 2 leaves/,
    )
    expect(faults).toMatch(new RegExp(`forecasts.tree: has two leaves of the forecast ${other.id}$`))
  })

  test(
    'logs a payload of an agent a second time, under another id, is found',
    { tags: ['slow'] },
    async () => {
      changeAgents(world.store, 3, (entities) => {
        entities['ffffffff-ffff-4fff-8fff-ffffffffffff'] = entities[world.agentId]!
      })
      changeManifest(world.store, 3, ({ files }) => ({
        files: files.map((file) => (file.path.startsWith('agent/') ? { ...file, rows: 2 } : file)),
      }))
      await logAnew(3)
      expect(await faultsOf()).toBe(
        `releases/00000003/agent/${world.agentId}.json: a payload under ffffffff-ffff-4fff-8fff-ffffffffffff is of another entity or release`,
      )
    },
  )

  test('logs a root that its shards do not give is found', { tags: ['slow'] }, async () => {
    const root = base64Of(new Uint8Array(32))
    changeManifest(world.store, 3, ({ trees }) => ({
      trees: { ...trees, agent: { root, size: 4, shards: [root] } },
    }))
    await logAnew(3)
    expect(await faultsOf()).toMatch(
      /^releases\/00000003\/agent\/.*: its payloads have the root .*, and the manifest says AAAA/,
    )
  })

  test(
    'logs another release, another environment or an earlier time at a number is found',
    { tags: ['slow'] },
    async () => {
      changeManifest(world.store, 2, () => ({ environment: 'sandbox' }))
      changeManifest(world.store, 3, () => ({ release: 5, as_of: '2026-03-01T00:00:00.000Z' }))
      await logAnew(3)
      const faults = await faultsOf()
      expect(faults).toContain(
        'releases/00000002/manifest.json: is of release 2 of sandbox; expected 2 of production',
      )
      expect(faults).toContain(
        'releases/00000003/manifest.json: is of release 5 of production; expected 3 of production',
      )
      expect(faults).toMatch(
        /^releases\/00000003\/manifest.json: is as of 2026-03-01T00:00:00.000Z; expected/m,
      )
    },
  )

  test('logs what is no shard is found', { tags: ['slow'] }, async () => {
    const path = `agent/${world.agentId}.json`
    changeFile(world.store, 3, path, canonical({ entities: { x: {} } }))
    await logAnew(3)
    expect(await faultsOf()).toBe(
      `releases/00000003/${path}: has the SHA-256 of its manifest, and is no shard`,
    )
  })
})
