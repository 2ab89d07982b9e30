// What others' software says of the public log: Go's libraries of trees and notes, Tessera's fsck, and
// litewitness.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runVerifyProof } from '../../jobs/verify/verify-proof.ts'
import { runWitness } from '../../jobs/monitor/witness.ts'
import { EMPTY_ROOT } from '../../pipeline/proof/merkle.ts'
import { signatureLine } from '../../pipeline/proof/note.ts'
import { signingKeyOf, signingKeyText, verifierKeyText } from '../../pipeline/proof/note-keys.ts'
import { cosignText } from '../../pipeline/proof/note-signatures.ts'
import { base64Of } from '../../pipeline/proof/base64.ts'
import { encoded } from '../../pipeline/proof/canonical.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { logCheckpointPath, logCosignaturePath } from '../../pipeline/store/paths.ts'
import { readCheckpoint } from '../../pipeline/transparency/log-files.ts'
import { completeLog } from '../../pipeline/transparency/publish.ts'
import type { Witness } from '../../pipeline/transparency/witnesses.ts'
import { RunningCommand } from '../support/command.ts'
import { external } from '../support/external.ts'
import { suiteFolder, testFolder } from '../support/folder.ts'
import { freePort } from '../support/free-port.ts'
import { manifestOf, putManifest, putReleases } from '../support/worlds/logged-releases.ts'
import { testComponents, testService } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { copyReleasedWorld, forecasterId } from '../support/worlds/world.ts'
import { LOG_KEY, LOG_ORIGIN, LOG_VKEY } from '../support/worlds/written-log.ts'

const programs = external(
  ['TLOG_PROGRAMS'],
  'these tests need the programs of test/tlog; `test/support/tlog-programs.sh DIR` builds them',
)
const SIZES = [1, 2, 255, 256, 257, 700]
const WITNESS_NAME = 'witness.example'
const WITNESS_SEED = new Uint8Array(32).fill(9)
const WITNESS = signingKeyOf(WITNESS_NAME, 'witness', WITNESS_SEED)
const WITNESS_VKEY = verifierKeyText(WITNESS.verifier)

const folder = await suiteFolder()

function start(name: string, args: readonly string[], input: string | Uint8Array = ''): RunningCommand {
  const running = new RunningCommand(join(programs!.TLOG_PROGRAMS, name), args, { input, cwd: folder })
  onTestFinished(async () => void (await running.stop()))
  return running
}

const run = async (name: string, args: readonly string[], input?: string) => start(name, args, input).ended

/** The objects of a log as files, with one byte of one of them changed where a test wants it. */
async function written({ objects }: MemoryStore, changed?: string): Promise<string> {
  const root = await testFolder()
  for (const [path, bytes] of objects) {
    if (!path.startsWith('log/')) continue
    await mkdir(dirname(join(root, path)), { recursive: true })
    const copy = Buffer.from(bytes)
    if (path === changed) copy[copy.length >> 1]! ^= 1
    await writeFile(join(root, path), copy)
  }
  return root
}

interface Logged {
  events: { event: string; reason?: string }[]
}

async function complete(store: MemoryStore, size: number, witnesses: Witness[] = []): Promise<Logged> {
  const events: Logged['events'] = []
  const log = (event: string, fields: object) => events.push({ event, ...fields })
  await completeLog({ store, signers: [LOG_KEY], witnesses, log }, size)
  return { events }
}

describe.skipIf(!programs)("Go's libraries", () => {
  const logs = new Map<number, MemoryStore>()
  beforeAll(async () => {
    const store = new MemoryStore()
    await putReleases(store, SIZES.at(-1)!)
    for (const size of SIZES) {
      await complete(store, size)
      logs.set(size, copyOf(store))
    }
  })

  test.for(SIZES)(
    'accept a log of %d entries, each entry, and that it continues all before',
    async (size) => {
      const root = await written(logs.get(size)!)
      const { code, stderr } = await run('tlogcheck', ['log', root, LOG_VKEY, String(size)])
      expect([code, stderr]).toEqual([0, ''])
    },
  )

  test.for([
    'log/checkpoints/00000700',
    'log/checkpoints/00000256',
    'log/tile/0/000',
    'log/tile/0/001',
    'log/tile/0/002.p/188',
    'log/tile/1/000.p/2',
    'log/tile/entries/001',
    'log/tile/entries/002.p/188',
  ])('refuse one changed byte in %s', async (path) => {
    const store = logs.get(700)!
    expect(store.objects.has(path)).toBe(true)
    const { code, stderr } = await run('tlogcheck', ['log', await written(store, path), LOG_VKEY, '700'])
    expect(code, path).toBe(1)
    expect(stderr).not.toBe('')
  })

  test('refuse another key', async () => {
    const other = verifierKeyText(signingKeyOf(LOG_ORIGIN, 'log', WITNESS_SEED).verifier)
    const { code } = await run('tlogcheck', ['log', await written(logs.get(2)!), other, '2'])
    expect(code).toBe(1)
  })

  test("accept proofs that the service answers, with a witness's cosignature, and no other body", async () => {
    const store = new MemoryStore()
    const { agentId } = await copyReleasedWorld(store)
    await complete(store, 1)
    const { note } = await readCheckpoint(store, 1)
    const line = signatureLine(cosignText(note.text, WITNESS, new Date('2026-03-01T12:00:00Z')))
    store.objects.set(logCosignaturePath(1, WITNESS.verifier.keyId), encoded(line))
    const { client } = await testService({ ...(await testComponents({ store })), signers: [LOG_KEY] })
    for (const entity of [`/agents/${agentId}`, `/forecaster/${forecasterId(0)}`]) {
      for (const kind of ['verification', 'metrics', 'rankings', 'advanced-metrics']) {
        const [body, proof] = [join(folder, 'body'), (await client.get(`${entity}/${kind}/proof`)).text]
        const { bytes } = await client.get(`${entity}/${kind}`)
        await writeFile(body, bytes)
        const accepted = await run('tlogcheck', ['proof', body, LOG_VKEY, WITNESS_VKEY], proof)
        expect([accepted.code, accepted.stderr], kind).toEqual([0, ''])
        await writeFile(body, bytes.toString().replace('"environment"', '"environmenu"'))
        expect((await run('tlogcheck', ['proof', body, LOG_VKEY, WITNESS_VKEY], proof)).code).toBe(1)
      }
    }
  })
})

describe.skipIf(!programs)("Tessera's fsck", () => {
  const fsck = (url: string) => run('tlogcheck', ['served', `${url}/log/`, LOG_VKEY])
  const served = async (store: MemoryStore) =>
    testService({ ...(await testComponents({ store })), signers: [LOG_KEY] })

  test.for(SIZES)('finds nothing wrong with a log of %d entries over HTTP', async (size) => {
    const store = new MemoryStore()
    await putReleases(store, size)
    await complete(store, size)
    const { url } = await served(store)
    const { code, stderr } = await fsck(url)
    expect(code, stderr).toBe(0)
    expect(stderr).toMatch(new RegExp(`Successfully fsck'd log with size ${size} `))
  })

  test.for(['log/tile/0/000', 'log/tile/0/001.p/44', 'log/tile/1/000.p/1', 'log/tile/entries/000'])(
    'finds one changed byte in %s',
    async (path) => {
      const store = new MemoryStore()
      await putReleases(store, 300)
      await complete(store, 300)
      const { url } = await served(store)
      const bytes = store.objects.get(path)!
      bytes[bytes.length >> 1]! ^= 1
      const { code, stderr } = await fsck(url)
      expect(code).toBe(1)
      expect(stderr).not.toMatch(/Successfully/)
    },
  )
})

describe.skipIf(!programs)('litewitness', () => {
  /** One that knows our log. */
  async function litewitness(): Promise<Witness> {
    const place = await testFolder()
    const [socket, db] = [join(place, 'agent'), join(place, 'db')]
    const agent = start('tlogcheck', ['agent', socket], WITNESS_SEED)
    const [fingerprint] = await agent.printed(/^SHA256:\S+/)
    const address = `127.0.0.1:${await freePort()}`
    const args = ['-name', WITNESS_NAME, '-listen', address, '-db', db, '-ssh-agent', socket]
    const running = start('litewitness', [...args, '-key', fingerprint])
    const [, vkey] = await running.printed(/vkey=(\S+)/)
    expect(vkey).toBe(WITNESS_VKEY)
    const url = `http://${address}`
    const answers = () => fetch(url).then(({ ok }) => ok, () => false) // prettier-ignore
    await expect.poll(answers).toBe(true)
    // As its witnessctl does, which needs a module that is not to be had everywhere.
    const database = new DatabaseSync(db)
    const insert = (table: string, ...values: (string | number)[]) =>
      database.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join()})`).run(...values)
    insert('log', LOG_ORIGIN, 0, base64Of(EMPTY_ROOT))
    insert('key', LOG_ORIGIN, LOG_VKEY)
    database.close()
    return { key: WITNESS.verifier, url }
  }

  test('cosigns the log as it grows, and no other history that the same key has signed', async () => {
    const witness = await litewitness()
    const store = new MemoryStore()
    await putReleases(store, 300)
    for (const size of [1, 2, 3, 255, 256, 257, 300]) {
      const { events } = await complete(store, size, [witness])
      expect(events.at(-1)).toEqual({ event: 'a witness has cosigned the log', witness: WITNESS_NAME, size })
    }
    for (const [size, reason] of [
      [300, /^it answered 422: /],
      [310, /^it answered 422: /],
      [299, /^it knows 300 entries of this log, and the checkpoint has 299$/],
    ] as const) {
      const fork = new MemoryStore()
      await putReleases(fork, size)
      await putManifest(fork, { ...manifestOf(7), methodology_version: '9.9.9' })
      const { events } = await complete(fork, size, [witness])
      expect(events.at(-1)?.reason).toMatch(reason)
      expect([...fork.objects.keys()].filter((path) => path.startsWith('log/cosignatures/'))).toEqual([])
    }
    await putReleases(store, 301, 301)
    expect((await complete(store, 301, [witness])).events.at(-1)).toMatchObject({ size: 301 })
  })

  test('gives proofs a cosignature that fvs verify and fvs witness take, and refuses a log it does not know', async () => {
    const witness = await litewitness()
    const store = new MemoryStore()
    const { agentId } = await copyReleasedWorld(store)
    await complete(store, 1, [witness])
    const components = { ...(await testComponents({ store })), signers: [LOG_KEY], witnesses: [witness] }
    const { url } = await testService(components)
    const target = `${url}/agents/${agentId}/verification`
    const options = { vkey: [LOG_VKEY], witness: [WITNESS_VKEY], proof: `${target}/proof` }
    const { ok, text } = await runVerifyProof(target, options)
    expect(ok, text).toBe(true)
    expect(text).toMatch(/the witness witness\.example saw it at 20/)
    // The same key, held by fvs witness.
    const [keyFile, state] = [join(folder, 'witness.key'), join(folder, 'state')]
    await writeFile(keyFile, signingKeyText(WITNESS_NAME, 'witness', WITNESS_SEED), { mode: 0o600 })
    await runWitness(url, { vkey: [LOG_VKEY], state, keyFile }, new Date())
    expect(await readFile(state, 'utf8')).toContain(`— ${WITNESS_NAME} `)
    const other = signingKeyOf('another.example/log', 'log', WITNESS_SEED)
    const stranger = new MemoryStore()
    await putReleases(stranger, 1)
    const reasons: unknown[] = []
    const log = (_event: string, fields: object) =>
      reasons.push('reason' in fields ? fields.reason : undefined)
    await completeLog({ store: stranger, signers: [other], witnesses: [witness], log }, 1)
    expect(reasons.at(-1)).toMatch(/^it answered 404: /)
    const forged = signingKeyOf(LOG_ORIGIN, 'log', WITNESS_SEED)
    stranger.objects.delete(logCheckpointPath(1))
    await completeLog({ store: stranger, signers: [forged], witnesses: [witness], log }, 1)
    expect(reasons.at(-1)).toMatch(/^it answered 403: /)
  })
})
