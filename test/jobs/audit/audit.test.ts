// `fvs audit`: a release as it was published passes, and one changed byte anywhere is found and named.
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { runAudit } from '../../../jobs/audit/audit.ts'
import type { Components } from '../../../jobs/components/components.ts'
import type { AuditReport } from '../../../pipeline/audit/report.ts'
import { signatureOf } from '../../../pipeline/proof/hmac.ts'
import { canonical } from '../../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { suiteFolder } from '../../support/folder.ts'
import { Clock, OTHER_SECRET, SECRET, release, testComponents } from '../../support/http/service.ts'
import { copyOf, recordIn, setRecord } from '../../support/store-content.ts'
import { NOW, forecasterId, copyReleasedWorld } from '../../support/worlds/world.ts'
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'

let published: MemoryStore
let agentId: string
const clock = new Clock(NOW)
const folder = await suiteFolder()

beforeAll(async () => {
  published = new MemoryStore()
  const components = await testComponents({ store: published, folder, clock })
  ;({ agentId } = await copyReleasedWorld(published))
  clock.set('2026-03-02T00:00:00.000Z')
  await release(components)
  await release(components)
})

/** A copy of the released store, for a test to damage. */
async function copy(
  settings: Record<string, string> = {},
): Promise<Components & { objects: Map<string, Uint8Array> }> {
  const store = copyOf(published)
  const components = await testComponents({ store, folder, clock, settings })
  return { ...components, objects: store.objects }
}

/** New components over the same store, without anything cached. */
const afresh = ({ store }: Components) => testComponents({ store, folder, clock })

async function audit(
  components: Components,
  number?: number,
): Promise<{ report: AuditReport; text: string }> {
  const { ok, json, text } = await runAudit(components, number)
  const report = json as AuditReport
  expect(report.ok).toBe(ok)
  return { report, text }
}

const flipped = (bytes: Uint8Array, at = bytes.length >> 1) => bytes.with(at, bytes[at]! ^ 1)

describe('a release as it was published', () => {
  test.for([
    [1, true],
    [2, true],
    [3, false],
  ] as const)('number %d holds', async ([number, snapshot]) => {
    const { report, text } = await audit(await copy(), number)
    expect(report).toMatchObject({
      release: number,
      derived: true,
      ok: true,
      faults: [],
      notes: [],
      snapshot_compared: snapshot,
      credentials_checked: 0,
    })
    // Two shards, two pages of the leaderboard, four files of categories, two of references, one of
    // questions, one of the method, two parts of entities and two of scores with their row groups; two shards
    // in the snapshot; and in the first release the tree of forecasts and nine files of public tables.
    expect(report.files_compared).toBe((snapshot ? 20 : 18) + (number === 1 ? 10 : 0))
    // Six forecasters and one agent, five payloads each, and a row of the snapshot.
    const valid = snapshot ? 42 : 35
    expect(report.signatures).toEqual({ checked: true, valid, invalid: 0, unsigned: 0 })
    expect(text).toContain('every byte derived again')
  })

  test('is by default the current one', async () => {
    expect((await audit(await copy())).report.release).toBe(3)
  })

  test('passes after a rotation of the secret as long as the old one is known', async () => {
    const rotated = await copy({
      VERIFICATION_SIGNING_SECRET: OTHER_SECRET,
      VERIFICATION_SIGNING_SECRET_PREVIOUS: SECRET,
    })
    expect((await audit(rotated, 1)).report).toMatchObject({ ok: true, signatures: { valid: 42 } })
    const forgotten = await copy({ VERIFICATION_SIGNING_SECRET: OTHER_SECRET })
    const { report } = await audit(forgotten, 1)
    expect(report).toMatchObject({ ok: false, signatures: { valid: 0, invalid: 42 } })
    expect(report.faults).toEqual([
      expect.stringMatching(/^signatures: .* is not signed with the secrets given$/),
    ])
  })

  test('passes without a secret, and says that signatures were not checked', async () => {
    const { report, text } = await audit(await copy({ VERIFICATION_SIGNING_SECRET: '' }), 1)
    expect(report).toMatchObject({ ok: true, signatures: { checked: false, valid: 0, invalid: 0 } })
    expect(text).toContain('set VERIFICATION_SIGNING_SECRET to check them')
  })
})

describe('one changed byte', () => {
  const files: [what: string, path: () => string][] = [
    ['a shard of forecasters', () => `forecaster/${forecasterId(0)}.json`],
    ['the shard of agents', () => `agent/${agentId}.json`],
    ['scores/000.parquet', () => 'scores/000.parquet'],
    ['entities/000.parquet', () => 'entities/000.parquet'],
  ]
  test.for(files)('in %s is found and the file is named', async ([, pathOf]) => {
    const path = pathOf()
    for (const place of [0, 0.5, 0.999]) {
      const components = await copy()
      const key = `releases/00000001/${path}`
      const bytes = components.objects.get(key)!
      components.objects.set(key, flipped(bytes, Math.floor(bytes.length * place)))
      const { report, text } = await audit(components, 1)
      expect(report.ok).toBe(false)
      expect(
        report.faults.some((fault) => fault.startsWith(`${path}: `)),
        String(report.faults),
      ).toBe(true)
      expect(text).toContain('DIFFERS')
    }
  })

  test('in the manifest is found', async () => {
    const components = await copy()
    const key = 'releases/00000001/manifest.json'
    const text = JSON.stringify(recordIn(components, key))
    const forged = [
      text.replace(/"rows":6/, '"rows":7'),
      text.replace(/"sha256":"./, (found) => `"sha256":"${found.endsWith('0') ? '1' : '0'}`),
      text.replace(/"size_bytes":\d+/, (found) => `${found}0`),
    ]
    for (const content of forged) {
      expect(content).not.toBe(text)
      setRecord(components, key, JSON.parse(content) as object)
      const { report } = await audit(components, 1)
      expect(report.faults).toContain('manifest.json: is not the manifest of the derived files')
    }
    setRecord(components, key, JSON.parse(text) as object)
    const bytes = components.objects.get(key)!
    components.objects.set(key, Buffer.concat([bytes, Buffer.from('\n')]))
    expect((await audit(components, 1)).report.faults).toEqual([
      'manifest.json: is not the manifest of the derived files',
    ])
    for (const place of [0, 100, bytes.length - 1]) {
      components.objects.set(key, flipped(bytes, place))
      await expect(audit(components, 1)).rejects.toMatchObject({
        kind: 'corrupt',
        message: expect.stringMatching(`^${key} is not a whole record of this service: `) as string,
      })
    }
  })

  test('in a snapshot or its manifest is found and named', async () => {
    for (const path of [`forecaster/${forecasterId(0)}.json`, `agent/${agentId}.json`]) {
      const components = await copy()
      const key = `snapshots/2026-03-02/${path}`
      components.objects.set(key, flipped(components.objects.get(key)!))
      const { report } = await audit(components, 2)
      expect(report.faults).toEqual([expect.stringMatching(`^${key}: differs at byte \\d+`)])
    }
    const components = await copy()
    const key = 'snapshots/2026-03-02/manifest.json'
    const text = JSON.stringify(recordIn(components, key))
    setRecord(components, key, JSON.parse(text.replace('"rows":6', '"rows":5')) as object)
    const { report } = await audit(components, 2)
    expect(report.faults).toEqual([`${key}: is not the manifest of the copied files`])
    components.objects.set(key, Buffer.from(text))
    expect((await audit(components, 2)).report.faults).toEqual([
      expect.stringMatching(`^${key} is not a whole record of this service: `),
    ])
  })

  test('of a signature is found', async () => {
    const components = await copy()
    const key = `releases/00000001/forecaster/${forecasterId(0)}.json`
    const text = new TextDecoder().decode(components.objects.get(key))
    components.objects.set(
      key,
      Buffer.from(text.replace(/v1=./, (found) => `v1=${found.endsWith('0') ? '1' : '0'}`)),
    )
    const { report } = await audit(components, 1)
    expect(report.signatures).toMatchObject({ valid: 41, invalid: 1 })
    expect(report.faults).toContainEqual(expect.stringMatching(/^signatures: \w+ of [0-9a-f-]+ /))
  })

  test('in a data file of the tables is found, and a missing one is named', async () => {
    const components = await copy()
    const key = [...components.objects.keys()].find((name) => /^tables\/forecasts\/.*parquet$/.test(name))!
    const path = await components.local.path(key, { sha256: sha256Hex(components.objects.get(key)!) })
    using database = await components.openDatabase()
    const changed = `${path}.changed`
    await database.run(
      `COPY (SELECT * REPLACE (CASE WHEN row_number() OVER () = 7 THEN probability / 2 ELSE probability END AS probability)
         FROM read_parquet('${path}')) TO '${changed}' (FORMAT parquet)`,
    )
    components.objects.set(key, new Uint8Array(await readFile(changed)))
    const { report } = await audit(await afresh(components), 1)
    expect(report).toMatchObject({
      ok: false,
      derived: false,
      faults: [expect.stringMatching(`^${key} is damaged: expected the SHA-256 `)],
      notes: ['the tables are damaged, so the numbers were not derived again'],
    })
    components.objects.delete(key)
    const { report: without } = await audit(await afresh(components), 1)
    expect(without.faults).toEqual([`${key} is in the log of its table and not in the store`])
  })
})

describe('a missing or foreign file', () => {
  test.for([
    ['scores/000.parquet', 'scores/000.parquet: is missing'],
    ['entities/000.parquet', 'entities/000.parquet: is missing'],
  ] as const)('%s is named', async ([path, fault]) => {
    const components = await copy()
    components.objects.delete(`releases/00000001/${path}`)
    expect((await audit(components, 1)).report.faults).toContain(fault)
  })

  test('a shard with the same JSON in other bytes is not a shard', async () => {
    const components = await copy()
    const key = `releases/00000001/forecaster/${forecasterId(0)}.json`
    const text = new TextDecoder().decode(components.objects.get(key))
    components.objects.set(key, Buffer.from(JSON.stringify(JSON.parse(text), null, 1)))
    expect((await audit(components, 1)).report.faults).toContain(
      `forecaster/${forecasterId(0)}.json: is not a shard in canonical JSON`,
    )
  })

  test('a shard that was forged and signed again with the right secret still differs', async () => {
    const components = await copy()
    const key = `releases/00000001/forecaster/${forecasterId(5)}.json`
    expect(components.objects.has(key)).toBe(false)
    const own = `releases/00000001/forecaster/${forecasterId(0)}.json`
    const shard = JSON.parse(new TextDecoder().decode(components.objects.get(own))) as {
      entities: Record<string, { verification: { payload: { badge: string }; signature: string } }>
    }
    const { verification } = shard.entities[forecasterId(5)]!
    verification.payload.badge = 'certified'
    verification.signature = signatureOf(canonical(verification.payload), components.secrets!)
    components.objects.set(own, canonical(shard))
    const { report } = await audit(components, 1)
    expect(report.signatures).toMatchObject({ valid: 42, invalid: 0 })
    expect(report.faults.some((fault) => fault.includes('certified'))).toBe(true)
  })
})

describe('a missing release', () => {
  test('is named, and so is a store without any release', async () => {
    const empty = await testComponents({ store: new MemoryStore(), folder })
    await expect(audit(empty)).rejects.toMatchObject({
      kind: 'notFound',
      message: 'memory: has no release yet; run fvs release',
    })
    await expect(audit(await copy(), 4)).rejects.toMatchObject({
      kind: 'notFound',
      message: 'there is no release 4',
    })
  })
})
