// One byte changed in every kind of thing that the public log binds: which check finds it, as
// docs/security.md says.
// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { base64Of, bytesOfBase64 } from '../../pipeline/proof/base64.ts'
import { canonical, decoded, encoded } from '../../pipeline/proof/canonical.ts'
import { verifyProof, verifyReceipt } from '../../pipeline/proof/verify.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { logCheckpointSize } from '../../pipeline/store/paths.ts'
import type { ReleaseShard } from '../../schemas/payloads.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { auditedOutside } from '../support/audited-outside.ts'
import { makeFolder } from '../support/folder.ts'
import { type LoggedWorld, WITNESS, auditedLog, loggedWorld } from '../support/worlds/logged-world.ts'
import { NO_TREES, putManifest, manifestOf } from '../support/worlds/logged-releases.ts'
import { servedFiles } from '../support/served-data.ts'
import { tableUnder } from '../support/page-table.ts'
import { SECRET, testComponents } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { LOG_KEY, writeLog } from '../support/worlds/written-log.ts'

const NOT_ASKED = '–'
let world: LoggedWorld
/** A log with full tiles: of releases that have nothing but manifests. */
let long: LoggedWorld
const rows: string[][] = []

const { path: folder, remove } = await makeFolder()
afterAll(remove)
beforeAll(async () => {
  world = await loggedWorld(folder)
  const store = new MemoryStore()
  for (let release = 1; release <= 257; release++) {
    await putManifest(store, { ...manifestOf(release), trees: NO_TREES })
  }
  await writeLog(store, 257)
  long = { ...world, store }
})

/** A byte of an object that must be there, and where in it. By default the one in the middle. */
interface Changed {
  object: RegExp
  at?: (text: string) => number
  /** The agent's payload as the store then has it is held to the proof that was kept. */
  isPayload?: boolean
  inLong?: boolean
}

const inside = (what: string) => (text: string) => text.indexOf(what) + what.length
const COUNTED = '"contested_questions":'
/** In the verification of the first entity of a shard. */
const inPayload = (text: string) => text.indexOf(COUNTED, text.indexOf('"verification":')) + COUNTED.length

const OBJECTS: Record<string, Changed> = {
  'manifest of a release': { object: /^releases\/00000002\/manifest/ },
  'agents of a release': { object: /^releases\/00000002\/agent\//, at: inPayload, isPayload: true },
  'forecasters of a release': { object: /^releases\/00000002\/forecaster\//, at: inPayload },
  'scores as Parquet': { object: /^releases\/00000002\/scores\// },
  'entities as Parquet': { object: /^releases\/00000002\/entities\// },
  'hashes of row groups': { object: /^releases\/00000002\/row-groups\// },
  'page of the leaderboard': { object: /^releases\/00000002\/leaderboard\// },
  'tree of forecasts': { object: /^releases\/00000002\/forecasts\.tree/ },
  'manifest of a snapshot': { object: /^snapshots\/2026-03-02\/manifest/ },
  'file of a snapshot': { object: /^snapshots\/2026-03-02\/agent\// },
  'data file of forecasts': { object: /^tables\/forecasts\/recorded_date/ },
  'data file of questions': { object: /^tables\/questions\/recorded_date/ },
  'commit of a table': { object: /^tables\/forecasts\/_delta_log\/0+1\.json/ },
  'partial tile': { object: /^log\/tile\/0\/000\.p\/2/ },
  'full tile': { object: /^log\/tile\/0\/000$/, inLong: true },
  'tile of level 1': { object: /^log\/tile\/1\/000\.p\/1/, inLong: true },
  'partial bundle of entries': { object: /^log\/tile\/entries\/000\.p\/2/ },
  'full bundle of entries': { object: /^log\/tile\/entries\/000$/, inLong: true },
  'name of a checkpoint': { object: /^log\/checkpoints\/0+2/, at: () => 0 },
  'its size': { object: /^log\/checkpoints\/0+2/, at: inside('\n') },
  'its root': { object: /^log\/checkpoints\/0+2/, at: inside('\n2\n') },
  'its signature': { object: /^log\/checkpoints\/0+2/, at: (text) => text.length - 30 },
  cosignature: { object: /^log\/cosignatures\/0+2\// },
}

const flipped = (bytes: Uint8Array, at: number) => Uint8Array.from(bytes).with(at, bytes[at]! ^ 1)

/** Whether a check names the object among what it finds wrong. */
function verdict(faults: readonly string[], isNamed: (fault: string) => boolean): string {
  if (faults.length === 0) return 'passes'
  return faults.some(isNamed) ? 'finds it' : 'finds what it lacks'
}

async function auditOf(store: MemoryStore, path: string): Promise<string> {
  const components = await testComponents({ store, folder })
  const faults = await withDatabase(components.openDatabase, (database) =>
    auditRelease({ ...components, database, secrets: [SECRET] }, 2),
  ).then(
    (report) => report.faults,
    (error: unknown) => {
      if (error instanceof ServiceError) return [error.message]
      throw error
    },
  )
  const inRelease = path.replace('releases/00000002/', '')
  return verdict(faults, (fault) => fault.includes(path) || fault.startsWith(`${inRelease}: `))
}

/** Serves the log with two entries, so that every object of the second release is read. */
async function fromOutside(store: MemoryStore, path: string, isLong: boolean): Promise<string> {
  const upTo = isLong ? 257 : 2
  for (const each of store.objects.keys()) {
    if ((logCheckpointSize(each) ?? 0) > upTo) store.objects.delete(each)
  }
  const { url, asked } = await servedFiles(store)
  const faults = await auditedOutside(folder, url, { release: 2 }).then(
    (report) => report.faults,
    (error: unknown) => {
      if (error instanceof ServiceError) return [error.message]
      throw error
    },
  )
  if (!asked.includes(path)) return NOT_ASKED
  return verdict(faults, (fault) => fault.includes(path))
}

/** Whether `fvs verify` takes it. */
async function verified(check: Promise<unknown>): Promise<string> {
  try {
    await check
    return 'passes'
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'invalid') return 'finds it'
    throw error
  }
}

/** A text with one byte changed this far behind the beginning of a part of it. */
function changedBehind(text: string, part: string, by = 0): string {
  const bytes = encoded(text)
  return decoded(flipped(bytes, Buffer.from(bytes).indexOf(part) + Buffer.byteLength(part) + by))
}

const inProof = (part: string, by = 0) => changedBehind(world.kept.proof, part, by)

/** A proof with one byte changed in what its `extra` holds. */
function inExtra(proof: string, part: string, by = 0): string {
  const [, extra] = /^extra (.*)$/m.exec(proof)!
  const text = changedBehind(decoded(bytesOfBase64(extra!)), part, by)
  return proof.replace(extra!, base64Of(encoded(text)))
}

const keys = [LOG_KEY.verifier]
const verifiedProof = (body: Uint8Array, proof: string) =>
  verified(verifyProof(body, proof, { keys, witnesses: [WITNESS.verifier], leastCosignatures: 0 }))

describe('one changed byte is found in the', () => {
  test.for(Object.entries(OBJECTS))('%s', async ([what, changed]) => {
    const from = changed.inLong ? long : world
    const store = copyOf(from.store)
    const path = [...store.objects.keys()].toSorted().find((each) => changed.object.test(each))!
    const bytes = store.objects.get(path)!
    const at = changed.at?.(new TextDecoder('latin1').decode(bytes)) ?? bytes.byteLength >> 1
    store.objects.set(path, flipped(bytes, at))
    const { ok, faults } = await auditedLog({ store, folder })
    const log = verdict(faults, (fault) => fault.startsWith(path))
    expect(ok, String(faults)).toBe(false)
    expect(log, String(faults)).toBe('finds it')
    const audit = path.startsWith('log/') ? NOT_ASKED : await auditOf(store, path)
    let verify = NOT_ASKED
    if (changed.isPayload) {
      const shard = JSON.parse(decoded(store.objects.get(path)!)) as ReleaseShard
      const body = canonical(shard.entities[world.agentId]!.verification.payload)
      verify = await verifiedProof(body, world.kept.proof)
    }
    const outside = await fromOutside(store, path, changed.inLong ?? false)
    rows.push([what, log, audit, outside, verify])
  })

  test('any object that the log binds, which is named', async () => {
    const isBound = (path: string) =>
      /^(log|releases|snapshots|tables\/(?!usage))\//.test(path) && !path.endsWith('/plan.json')
    const paths = [...world.store.objects.keys()].filter(isBound)
    expect(paths.length).toBeGreaterThan(50)
    for (const [number, path] of paths.entries()) {
      const store = copyOf(world.store)
      const bytes = store.objects.get(path)!
      store.objects.set(path, flipped(bytes, Math.floor((bytes.byteLength * (number % 7)) / 7)))
      const { faults } = await auditedLog({ store, folder })
      expect(
        faults.filter((fault) => fault.startsWith(path)),
        path,
      ).not.toEqual([])
    }
  })

  const kept: Record<string, () => Promise<string>> = {
    payload: () => verifiedProof(flipped(world.kept.body, world.kept.body.length >> 1), world.kept.proof),
    'path of the payload in its proof': () =>
      verifiedProof(world.kept.body, inExtra(world.kept.proof, 'index 3\n', 5)),
    'statement there': () =>
      verifiedProof(world.kept.body, inExtra(world.kept.proof, '"manifest_sha256":"', 5)),
    'path of the statement': () => verifiedProof(world.kept.body, inProof('\nindex 1\n', 5)),
    'root of the checkpoint': () => verifiedProof(world.kept.body, inProof('\n3\n', 5)),
    'signature of the checkpoint': () =>
      verifiedProof(world.kept.body, inProof('— fvs.example/forecasts ', 40)),
    'forecast with a proof': () =>
      verifiedProof(flipped(world.forecasts[0]!.body, 30), world.kept.forecastProof),
    'path in its proof': () =>
      verifiedProof(world.forecasts[0]!.body, inExtra(world.kept.forecastProof, 'index 0\n', 5)),
    'forecast with a receipt': () =>
      verified(verifyReceipt(flipped(world.forecasts[0]!.body, 30), world.kept.receipt, { keys })),
    receipt: () => {
      const receipt = changedBehind(world.kept.receipt, 'index 0\n', 5)
      return verified(verifyReceipt(world.forecasts[0]!.body, receipt, { keys }))
    },
  }
  test('the proofs and the receipt hold as they are', async () => {
    expect(await verifiedProof(world.kept.body, world.kept.proof)).toBe('passes')
    expect(await verifiedProof(world.forecasts[0]!.body, world.kept.forecastProof)).toBe('passes')
    expect(await verified(verifyReceipt(world.forecasts[0]!.body, world.kept.receipt, { keys }))).toBe(
      'passes',
    )
  })
  test.for(Object.entries(kept))('%s that an agent keeps', async ([what, check]) => {
    expect(await check()).toBe('finds it')
    rows.push([what, NOT_ASKED, NOT_ASKED, NOT_ASKED, 'finds it'])
  })

  test('table of the page', async () => {
    const head = [
      'one byte changed in',
      '`fvs audit --log`',
      '`fvs audit` of its release',
      '`fvs audit --from`',
      '`fvs verify`',
    ]
    const alike = Map.groupBy(rows, ([, ...verdicts]) => verdicts.join()).values()
    const found = Array.from(alike, (group) => [
      group.map(([what]) => what).join(', '),
      ...group[0]!.slice(1),
    ])
    expect([head, ...found]).toEqual(tableUnder('docs/security.md', '### One changed byte'))
  })
})
