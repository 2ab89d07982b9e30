// An audit over HTTP by a reader who has nothing but the key of the log: what an honest server shows holds,
// and each way of lying is caught.
// @module-tag slow
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { withDatabase } from '../../pipeline/duckdb.ts'
import { signingKeyOf, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { signedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { canonical, encoded } from '../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { logCheckpointPath } from '../../pipeline/store/paths.ts'
import { REFERENCES_PATH } from '../../pipeline/release/files/references.ts'
import { auditedOutside } from '../support/audited-outside.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, SECRET, importRows, release, testComponents } from '../support/http/service.ts'
import { type Lie, servedFiles } from '../support/served-data.ts'
import { copyOf } from '../support/store-content.ts'
import { changeAgents, changeFile, changeManifest } from '../support/worlds/forged-release.ts'
import { THIRD, loggedWorld } from '../support/worlds/logged-world.ts'
import { QUESTION, copyReleasedWorld, csvOf, forecasterId, uuidOf } from '../support/worlds/world.ts'
import { LOG_KEY, LOG_ORIGIN, writeLog } from '../support/worlds/written-log.ts'
import type { ReleaseShard } from '../../schemas/payloads.ts'
import type { ReferencesFile } from '../../schemas/references.ts'

const folder = await suiteFolder()
let store: MemoryStore

beforeAll(async () => {
  ;({ store } = await loggedWorld(folder))
})

const audit = async (lie?: Lie, asked = {}, served = store) =>
  auditedOutside(folder, (await servedFiles(served, lie)).url, asked)

/** Answers one path with these bytes. */
const instead =
  (path: string, bytes: Uint8Array | undefined): Lie =>
  (asked, response) => {
    if (asked !== path) return false
    if (bytes) response.end(bytes)
    else response.writeHead(404).end()
    return true
  }

describe('an honest server', () => {
  test('one that says that it has no public tables is asked for none, since each would be a failed call', async () => {
    const index = encoded(JSON.stringify({ public_data: 'releases' }))
    const { url, asked } = await servedFiles(store, instead('index.json', index))
    const { ok, derived, notes } = await auditedOutside(folder, url)
    expect({ ok, derived }).toEqual({ ok: true, derived: false })
    expect(notes).toContainEqual(expect.stringContaining('this address serves no forecasts'))
    expect(asked.filter((path) => path.includes('/public/'))).toEqual([])
  })

  test('an earlier release, and a log that goes on where a kept checkpoint ends', async () => {
    const known = store.objects.get(logCheckpointPath(2))!
    expect(await audit(undefined, { release: 2, known })).toMatchObject({
      ok: true,
      release: 2,
      snapshot_compared: true,
    })
  })

  test('one that fails and asks to wait is asked again', async () => {
    const failed = new Set<string>()
    const report = await audit((path, response) => {
      if (failed.has(path)) return false
      failed.add(path)
      if (failed.size % 2 === 0) response.destroy()
      else response.writeHead(429, { 'retry-after': '1' }).end()
      return true
    })
    expect(report.ok).toBe(true)
  })
})

describe('where forecasts are public', () => {
  let open: MemoryStore

  /** Two more questions end early, and people have forecast one that is open and one that is overdue. */
  beforeAll(async () => {
    open = new MemoryStore()
    await copyReleasedWorld(open)
    const clock = new Clock(THIRD)
    const components = await testComponents({ store: open, folder, clock })
    await importRows(components, 'forecasters', `user_id,display_name\n${forecasterId(1)},Somebody\n`)
    const early = [uuidOf(9, 1), uuidOf(9, 2)]
    const lines = early.map(
      (id, nth) => `${id},Early?,${nth === 0 ? 'simulated' : ''},2026-01-01T00:00:00Z,2026-06-01T00:00:00Z`,
    )
    await importRows(
      components,
      'questions',
      `question_id,title,category,opened_at,closes_at\n${lines.join('\n')}\n`,
    )
    const forecasts = [...early, QUESTION.open, QUESTION.closed].flatMap((id, nth) =>
      [0, 1, 2, 3, 4, 5].map(
        (who) => `forecaster,${forecasterId(who)},${id},0.${who + 1}${nth},2026-01-1${who}T00:00:00Z`,
      ),
    )
    await importRows(components, 'forecasts', csvOf(forecasts))
    const outcomes = early.map((id, nth) => `${id},${nth === 0 ? 'yes' : 'no'},2026-02-0${nth + 1}T00:00:00Z`)
    await importRows(components, 'resolutions', `question_id,outcome,resolved_at\n${outcomes.join('\n')}\n`)
    await release(components)
    await writeLog(open, 2)
  })

  test('every byte is derived again, with pairs that are not settled and forecasts that nobody sees', async () => {
    const report = await audit(undefined, {}, open)
    expect(report.faults).toEqual([])
    expect(report).toMatchObject({ ok: true, derived: true, snapshot_compared: true })
    expect(report.data_files_checked).toBeGreaterThan(4)
    const { entities } = JSON.parse(new TextDecoder().decode(fileOf('forecaster/'))) as ReleaseShard
    const { profile, verification } = entities[forecasterId(0)]!
    expect(profile.payload).toMatchObject({ open_forecasts: 1, overdue_forecasts: 1 })
    expect(verification.payload).toMatchObject({ pending_questions: 2 })
  })

  test('numbers that do not follow from them are found, though the operator has logged them', async () => {
    const forged = copyOf(open)
    for (const path of forged.objects.keys()) if (path.startsWith('log/')) forged.objects.delete(path)
    changeAgents(forged, 2, (entities) => {
      for (const { metrics } of Object.values(entities)) metrics.payload.brier! /= 2
    })
    await writeLog(forged, 2)
    const { ok, derived, faults } = await audit(undefined, {}, forged)
    expect({ ok, derived }).toEqual({ ok: false, derived: true })
    expect(faults).toContainEqual(expect.stringMatching(/^agent\/.*: differs at byte \d+ .*brier/))
  })

  test('a reference forecast that lies is found by both audits, though every hash is right', async () => {
    const forged = copyOf(open)
    for (const path of forged.objects.keys()) if (path.startsWith('log/')) forged.objects.delete(path)
    const file = JSON.parse(new TextDecoder().decode(fileOf(REFERENCES_PATH))) as ReferencesFile
    expect(file.references.length).toBeGreaterThan(0)
    const references = file.references.map((row) => ({ ...row, skill: row.skill / 2 }))
    changeFile(forged, 2, REFERENCES_PATH, canonical({ ...file, references }))
    await writeLog(forged, 2)
    const found = [expect.stringMatching(/^references\/rows\.json: differs at byte \d+ .*skill/)]
    expect((await audit(undefined, {}, forged)).faults).toEqual(found)
    const components = await testComponents({ store: forged, folder, clock: new Clock(THIRD) })
    const inside = await withDatabase(components.openDatabase, (database) =>
      auditRelease({ ...components, database, secrets: [SECRET] }, 2),
    )
    expect(inside.faults).toEqual(found)
  })

  test('a part of them that is missing is a fault', async () => {
    const path = [...open.objects.keys()].find((each) => each.includes('/public/forecasts/'))!
    const { ok, derived, faults } = await audit(instead(path, undefined), {}, open)
    expect({ ok, derived }).toEqual({ ok: false, derived: false })
    expect(faults).toEqual([expect.stringContaining(`${path}: is missing`)])
  })

  const fileOf = (prefix: string) =>
    [...open.objects].find(([path]) => path.startsWith(`releases/00000002/${prefix}`))![1]
})

describe('a lying server is caught', () => {
  const SCORES = 'releases/00000003/scores/000.parquet'
  const MANIFEST = 'releases/00000003/manifest.json'
  const of = (path: string) => store.objects.get(path)!

  test('with another manifest, and with an old one', async () => {
    const changed = encoded(new TextDecoder().decode(of(MANIFEST)).replace('"release":3', '"release":4'))
    const old = of('releases/00000002/manifest.json')
    for (const bytes of [changed, old, undefined]) {
      const { ok, faults } = await audit(instead(MANIFEST, bytes))
      expect(ok).toBe(false)
      expect(faults).toEqual([expect.stringContaining(`${MANIFEST}: is not what was logged`)])
    }
  })

  test.for(['scores', 'entities', 'agent', 'forecaster', 'leaderboard', 'row-groups'])(
    'with a file of %s that is missing, cut off, or another',
    async (kind) => {
      const path = [...store.objects.keys()].find((each) => each.startsWith(`releases/00000003/${kind}/`))!
      for (const bytes of [undefined, of(path).subarray(1), of(path).with(0, 0)]) {
        const { ok, faults, notes } = await audit(instead(path, bytes))
        expect(ok).toBe(false)
        expect(faults).toEqual([expect.stringContaining(`${path}: `)])
        expect(notes).toContainEqual(expect.stringContaining('were not derived again'))
      }
    },
  )

  test('with a body that does not end', async () => {
    const endless: Lie = (path, response) => {
      if (path !== SCORES) return false
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        response.once('drain', more)
      }
      more()
      return true
    }
    await expect(audit(endless)).rejects.toThrow(/scores\/000.parquet answers with more than \d+ bytes/)
  })

  test('with a manifest, logged by the operator, of files that fill the disk: none of them is asked for', async () => {
    const vast = copyOf(store)
    for (const path of vast.objects.keys()) if (path.startsWith('log/')) vast.objects.delete(path)
    changeManifest(vast, 3, ({ files }) => ({
      files: files.map((file) => (file.path.startsWith('scores/') ? { ...file, size_bytes: 2 ** 52 } : file)),
    }))
    await writeLog(vast, 3)
    const { url, asked } = await servedFiles(vast)
    await expect(auditedOutside(folder, url)).rejects.toThrow(/^the files have \d{16} bytes, and .* has room/)
    expect(asked.filter((path) => path.includes('/scores/'))).toEqual([])
  })

  test('with a redirect, which is not followed, and with a body that grows when it is unpacked', async () => {
    const elsewhere: Lie = (_path, response) => {
      response.writeHead(308, { location: 'http://127.0.0.1:1/' }).end()
      return true
    }
    await expect(audit(elsewhere)).rejects.toThrow(/ answered 308, which leads elsewhere: give the address/)
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const packed: Lie = (path, response) => {
      if (path !== SCORES) return false
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
      return true
    }
    await expect(audit(packed)).rejects.toThrow(/scores\/000.parquet answers with more than \d+ bytes/)
  })

  test('with entries that are too long', async () => {
    const long: Lie = (path, response) => {
      if (!path.startsWith('log/tile/entries/')) return false
      response.end(Buffer.alloc(600_000))
      return true
    }
    await expect(audit(long)).rejects.toThrow(/tile\/entries\/.* answers with more than 524288 bytes/)
  })

  test('with more checkpoints than a log can have', async () => {
    const endless: Lie = (path, response) => {
      if (!path.startsWith('log/checkpoints/')) return false
      response.end('x')
      return true
    }
    await expect(audit(endless)).rejects.toThrow(/more than 100000000 checkpoints/)
  })

  test('with the log of somebody else, and with one that another key has signed', async () => {
    const other = signingKeyOf('other.example', 'log', new Uint8Array(32).fill(1))
    const vkeys = [verifierKeyText(other.verifier)]
    await expect(audit(undefined, { vkeys })).rejects.toThrow(/this is the log “?"?fvs.example/)
    const thief = signingKeyOf(LOG_ORIGIN, 'log', new Uint8Array(32).fill(2))
    const head = { origin: LOG_ORIGIN, size: 3, root: new Uint8Array(32) }
    const forged = encoded(signedCheckpoint(head, [thief]))
    await expect(audit(instead(logCheckpointPath(3), forged))).rejects.toThrow(/no key that was given/)
  })

  test('with an older log than the reader has kept, and with another history', async () => {
    const old = copyOf(store)
    old.objects.delete(logCheckpointPath(3))
    const known = of(logCheckpointPath(3))
    await expect(audit(undefined, { known }, old)).rejects.toMatchObject({ kind: 'conflict' })
    const head = { origin: LOG_ORIGIN, size: 2, root: new Uint8Array(32).fill(1) }
    const forked = encoded(signedCheckpoint(head, [LOG_KEY]))
    await expect(audit(undefined, { known: forked })).rejects.toThrow(/two histories/)
  })
})
