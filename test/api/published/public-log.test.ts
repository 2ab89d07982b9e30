// The public log over HTTP: its checkpoint, its tiles and bundles, and its keys.
import { describe, expect } from 'vitest'
import { decoded, encoded } from '../../../pipeline/proof/canonical.ts'
import { bundleOf, entriesOf } from '../../../pipeline/proof/entry-bundle.ts'
import { parseSignatureLine, signatureLine } from '../../../pipeline/proof/note.ts'
import { type SigningKey, signingKeyOf, verifierKeyText } from '../../../pipeline/proof/note-keys.ts'
import { cosignText } from '../../../pipeline/proof/note-signatures.ts'
import { leafHash } from '../../../pipeline/proof/merkle.ts'
import { bundlePath, rootFromTiles, tilePath } from '../../../pipeline/proof/tiles.ts'
import { parseCheckpoint } from '../../../pipeline/proof/checkpoint.ts'
import { logCheckpointPath, logCosignaturePath, logTilePath } from '../../../pipeline/store/paths.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { readCheckpoint } from '../../../pipeline/transparency/log-files.ts'
import { readStatement } from '../../../pipeline/transparency/statement.ts'
import type { Witness } from '../../../pipeline/transparency/witnesses.ts'
import { PublicLog } from '../../../api/published/public-log.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { putReleases } from '../../support/worlds/logged-releases.ts'
import { COSIGNED_AT, witnessKey } from '../../support/loopback-witness.ts'
import { expectProblem, pointersOf } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import { type Answer, type TestService, testComponents, testService } from '../../support/http/service.ts'
import { LOG_KEY, LOG_ORIGIN, LOG_VKEY, writeLog } from '../../support/worlds/written-log.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const RELEASES = 300
const WITNESS = witnessKey('witness.example')
/** A log of all releases: it keeps no partial tile of the first 256. */
const whole = new MemoryStore()
/** Its statements. */
let entries: Uint8Array[]
/** Serves it. */
let service: TestService
test.beforeAll(async ({ folder, serve }) => {
  await extend(whole, RELEASES)
  entries = await Promise.all(Array.from({ length: RELEASES }, (_, index) => readStatement(whole, index + 1)))
  const components = await testComponents({ store: whole, folder })
  service = await serve({ ...components, signers: [LOG_KEY] })
})

async function extend(store: MemoryStore, releases: number): Promise<void> {
  await putReleases(store, releases)
  await writeLog(store, releases)
}

async function cosign(store: MemoryStore, size: number, key: SigningKey): Promise<string> {
  const { text } = (await readCheckpoint(store, size)).note
  const line = signatureLine(cosignText(text, key, COSIGNED_AT))
  store.objects.set(logCosignaturePath(size, key.verifier.keyId), encoded(line))
  return line
}

async function loggedStore(releases: number): Promise<MemoryStore> {
  const store = new MemoryStore()
  await extend(store, releases)
  return store
}

async function serviceOver(store = new MemoryStore(), signers = [LOG_KEY], witnesses: Witness[] = []) {
  return testService({ ...(await testComponents({ store })), signers, witnesses })
}

const keyIdOf = (line: string) => parseSignatureLine(line.slice(0, -1)).keyId

describe('GET /log/checkpoint', () => {
  test('answers the greatest checkpoint, byte for byte', async () => {
    const { status, headers, bytes } = await service.client.get('/log/checkpoint')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(headers['cache-control']).toBe('public, max-age=2')
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(bytes).toEqual(Buffer.from(whole.objects.get(logCheckpointPath(300))!))
    expect((await service.client.send('HEAD', '/log/checkpoint')).headers.etag).toBe(headers.etag)
  })

  test('follows the log, also from its first entry', async () => {
    const store = new MemoryStore()
    const { client } = await serviceOver(store)
    expectProblem(await client.get('/log/checkpoint'), 404, /has no entry yet/)
    for (const size of [1, 3]) {
      await extend(store, size)
      const sizeOf = ({ status, text }: Answer) => status === 200 && parseCheckpoint(text).checkpoint.size
      await expect.poll(async () => sizeOf(await client.get('/log/checkpoint'))).toBe(size)
    }
  })

  test('answers 404 where there is no log, and serves one without a key of its own', async () => {
    const none = await serviceOver(new MemoryStore(), [])
    expectProblem(await none.client.get('/log/checkpoint'), 404, /keeps no public log/)
    const other = await serviceOver(await loggedStore(2), [])
    expect((await other.client.get('/log/checkpoint')).text).toContain(`${LOG_ORIGIN}\n2\n`)
    expectProblem(await other.client.get('/sandbox/log/checkpoint'), 404, /keeps no public log/)
  })
})

describe('a look for the next checkpoint', () => {
  test('costs one request where there is none and all witnesses have signed', async () => {
    const logged = await loggedStore(5)
    await cosign(logged, 5, WITNESS)
    const store = new FaultStore(logged)
    const log = new PublicLog(store, [], [WITNESS.verifier])
    await log.refresh()
    store.calls.length = 0
    await Promise.all([log.refresh(), log.refresh()])
    expect(store.calls).toHaveLength(1)
  })

  test.for([[WITNESS.verifier], []])(
    'costs seldom one more while a witness is missing',
    async (witnesses) => {
      const store = new FaultStore(await loggedStore(5))
      const log = new PublicLog(store, [], witnesses)
      const looks: number[] = []
      for (let refreshes = 0; refreshes < 100; refreshes++) {
        store.calls.length = 0
        await log.refresh()
        if (refreshes > 0) expect(store.count('range')).toBe(1)
        if (store.count('list') > 0) looks.push(refreshes)
      }
      expect(looks).toEqual([0, 1, 2, 4, 8, 16, 32, 64])
    },
  )

  test('is made once by a node that has no key and found no log', async () => {
    const store = new FaultStore(new MemoryStore())
    const log = new PublicLog(store, [], [])
    for (const calls of [1, 1, 1]) {
      await log.refresh()
      expect(store.calls).toHaveLength(calls)
    }
  })

  test('keeps the last checkpoint where the next one is damaged', async () => {
    const store = await loggedStore(5)
    const log = new PublicLog(store, [], [])
    await log.refresh()
    const last = log.checkpoint
    store.objects.set(logCheckpointPath(6), store.objects.get(logCheckpointPath(5))!)
    await expect(log.refresh()).rejects.toMatchObject({ kind: 'corrupt' })
    store.objects.set(logCheckpointPath(6), encoded('no note'))
    await expect(log.refresh()).rejects.toMatchObject({ kind: 'corrupt' })
    expect(log.checkpoint).toBe(last)
  })
})

describe('cosignatures', () => {
  const other = witnessKey('other.example')

  test('follow the signatures of the log, also those that come later, until the next checkpoint', async () => {
    const store = await loggedStore(2)
    const log = new PublicLog(store, [], [WITNESS.verifier, other.verifier])
    await log.refresh()
    const own = decoded(store.objects.get(logCheckpointPath(2))!)
    expect(log.checkpoint).toBe(own)
    const first = await cosign(store, 2, WITNESS)
    await log.refresh()
    expect(log.checkpoint).toBe(own + first)
    const second = await cosign(store, 2, other)
    await log.refresh()
    const lines = [first, second].toSorted((a, b) => (keyIdOf(a) < keyIdOf(b) ? -1 : 1))
    expect(log.checkpoint).toBe(own + lines.join(''))
    expect((await log.statementOf(1))?.checkpoint).toBe(log.checkpoint)
    await extend(store, 3)
    await log.refresh()
    expect(log.checkpoint).toBe(decoded(store.objects.get(logCheckpointPath(3))!))
  })

  test('that do not hold are not served in the name of a witness that is set, and break no call', async () => {
    const store = await loggedStore(2)
    const own = decoded(store.objects.get(logCheckpointPath(2))!)
    const line = Buffer.from(await cosign(store, 2, WITNESS))
    line[line.length - 20]! ^= 1
    for (const bytes of [line, Buffer.alloc(100, 0xff), Buffer.alloc(0)]) {
      store.objects.set(logCosignaturePath(2, WITNESS.verifier.keyId), bytes)
      const { client } = await serviceOver(
        store,
        [LOG_KEY],
        [{ key: WITNESS.verifier, url: 'http://w.example' }],
      )
      expect((await client.get('/log/checkpoint')).text).toBe(own)
    }
  })

  test('are served by a node that has not set their witnesses, and with the proofs', async () => {
    const store = await loggedStore(2)
    const line = await cosign(store, 2, WITNESS)
    const { client } = await serviceOver(store)
    const { status, text } = await client.get('/log/checkpoint')
    expect(status).toBe(200)
    expect(text).toBe(decoded(store.objects.get(logCheckpointPath(2))!) + line)
  })

  test('that cannot be looked for leave the checkpoint as it is, and are looked for again', async () => {
    const logged = await loggedStore(2)
    const line = await cosign(logged, 2, WITNESS)
    let isAway = true
    const store = new FaultStore(logged, {
      before: ({ operation }) => {
        if (isAway && operation === 'list') throw new Error('injected: no list')
      },
    })
    const log = new PublicLog(store, [], [])
    await expect(log.refresh()).rejects.toThrow('injected')
    expect(parseCheckpoint(log.checkpoint!).checkpoint.size).toBe(2)
    isAway = false
    await log.refresh()
    expect(log.checkpoint!.endsWith(line)).toBe(true)
  })
})

test('a node does not start on the log of another origin than its key, and on that of a key that was replaced', async () => {
  const store = await loggedStore(2)
  const signers = (name: string) => [signingKeyOf(name, 'log', new Uint8Array(32).fill(8))]
  await expect(serviceOver(store, signers('another.example/log'))).rejects.toThrow(
    /^log\/checkpoints\/00000002 is of the log fvs\.example\/forecasts, not of another\.example\/log: /,
  )
  const { client } = await serviceOver(store, signers(LOG_ORIGIN))
  expect((await client.get('/log/checkpoint')).status).toBe(200)
})

test('a node starts and serves all else where the last checkpoint is damaged', async () => {
  const store = await loggedStore(2)
  store.objects.set(logCheckpointPath(2), encoded('no note'))
  const { client } = await serviceOver(store)
  expect((await client.get('/questions')).status).toBe(200)
  expectProblem(await client.get('/log/checkpoint'), 404, /has no entry yet/)
})

describe('GET /log/tile/…', () => {
  test.for([
    tilePath({ level: 0, index: 0, width: 256 }),
    tilePath({ level: 0, index: 1, width: 44 }),
    tilePath({ level: 1, index: 0, width: 1 }),
    bundlePath({ index: 0, width: 256 }),
    bundlePath({ index: 1, width: 44 }),
  ])('answers %s as the store has it', async (path) => {
    const { status, headers, bytes } = await service.client.get(`/log/${path}`)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/octet-stream')
    expect(headers['cache-control']).toBe(IMMUTABLE)
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(bytes).toEqual(Buffer.from(whole.objects.get(logTilePath(path))!))
  })

  test('answers a partial one that is gone from the beginning of the full one', async () => {
    const { client } = service
    for (const width of [1, 7, 255]) {
      const first = entries.slice(0, width)
      const expected = [
        [tilePath({ level: 0, index: 0, width }), Buffer.concat(first.map(leafHash))],
        [bundlePath({ index: 0, width }), Buffer.from(bundleOf(first))],
      ] as const
      for (const [path, present] of expected) {
        expect(whole.objects.has(logTilePath(path))).toBe(false)
        const { status, bytes, headers } = await client.get(`/log/${path}`)
        expect(status, path).toBe(200)
        expect(bytes, path).toEqual(present)
        expect(headers['cache-control']).toBe(IMMUTABLE)
      }
    }
    // Of a level whose full tile is not there, nothing is made up.
    expect((await client.get('/log/tile/1/000.p/2')).status).toBe(404)
  })

  test('gives all that the checkpoint commits to', async () => {
    const { client } = service
    const { checkpoint } = parseCheckpoint((await client.get('/log/checkpoint')).text)
    const root = await rootFromTiles(
      checkpoint.size,
      async (tile) => (await client.get(`/log/${tilePath(tile)}`)).bytes,
    )
    expect(root).toEqual(checkpoint.root)
    const bundle = await client.get(`/log/${bundlePath({ index: 1, width: 44 })}`)
    expect(entriesOf(bundle.bytes).map(decoded)).toEqual(entries.slice(256).map(decoded))
  })

  test.for([
    '0/002',
    '2/000',
    'entries/002',
    'entries/001',
    '0/x001/000',
    '',
    '0',
    '0/',
    '0/0',
    '0/0000',
    '0/000/',
    '0//000',
    '00/000',
    '64/000',
    '0/001.p/0',
    '0/001.p/044',
    '0/001.p/256',
    '0/001.p/',
    '0/001.p',
    '0/x000',
    '0/000/000',
    '-1/000',
    'Entries/000',
    '../checkpoints/00000300',
    '..%2fcheckpoints%2f00000300',
    '%2e%2e/checkpoints/00000300',
    '0/000%00',
    '0/000%0a',
    '%zz',
  ])('answers 404 to %s', async (path) => {
    expectProblem(await service.client.get(`/log/tile/${path}`), 404, /tile|no path/)
  })

  test('asks the store for nothing that is no path of a tile', async () => {
    const store = new FaultStore(whole)
    const log = new PublicLog(store, [], [])
    for (const path of ['tile/0/000/../001', 'checkpoints/00000300', 'tile/0/000\n', 'tile/0/000.p/999']) {
      expect(await log.tile(path)).toBeUndefined()
    }
    expect(store.calls).toEqual([])
  })

  test('takes no parameter', async () => {
    expect(pointersOf(await service.client.get('/log/tile/0/000?a=b'))).toEqual(['/a'])
  })
})

describe('GET /log/vkey', () => {
  test('answers the keys in force, the one that signs first at the front', async () => {
    const next = signingKeyOf(LOG_ORIGIN, 'log', new Uint8Array(32).fill(8))
    const { client } = await serviceOver(new MemoryStore(), [next, LOG_KEY])
    const { status, headers, text } = await client.get('/log/vkey')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(text).toBe(`${verifierKeyText(next.verifier)}\n${LOG_VKEY}\n`)
    expectProblem(await client.get('/sandbox/log/vkey'), 404, /signs no public log/)
  })
})
