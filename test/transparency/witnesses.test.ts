// Cosignatures: what a run asks witnesses for, what it keeps of their answers, and that no witness stops or
// delays it.
import type { ServerResponse } from 'node:http'
import { beforeEach, describe, expect, test } from 'vitest'
import { decoded } from '../../pipeline/proof/canonical.ts'
import { parseNote, parseSignatureLine, signatureLine } from '../../pipeline/proof/note.ts'
import { cosignText, heldSignatures, signText } from '../../pipeline/proof/note-signatures.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { logCheckpointPath, logCosignaturePath, logCosignaturesPrefix } from '../../pipeline/store/paths.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readCheckpoint } from '../../pipeline/transparency/log-files.ts'
import { completeLog } from '../../pipeline/transparency/publish.ts'
import { type Witness, readCosignatures } from '../../pipeline/transparency/witnesses.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { ORIGIN, manifestOf, putManifest, putReleases, signer } from '../support/worlds/logged-releases.ts'
import {
  COSIGNED_AT,
  answeringWitness,
  closedUrl,
  conflict,
  listening,
  loopbackWitness,
  witnessKey,
} from '../support/loopback-witness.ts'
import { copyOf } from '../support/store-content.ts'

const LOG = signer('first')
const KEY = witnessKey('witness.example')

let store: MemoryStore
beforeEach(() => {
  store = new MemoryStore()
})

interface Logged {
  event: string
  reason?: string
}

interface Limits {
  timeoutMs?: number
  fetch?: typeof fetch
}

async function complete(
  over: Store,
  current: number,
  witnesses: Witness[],
  limits: Limits = {},
): Promise<Logged[]> {
  const events: Logged[] = []
  const log = (event: string, fields: object) => events.push({ event, ...fields })
  await completeLog({ store: over, signers: [LOG], witnesses, log, ...limits }, current)
  return events
}

const cosignatures = ({ objects }: MemoryStore) =>
  [...objects.keys()].filter((path) => path.startsWith('log/cosignatures/')).toSorted()

/** The cosignature in the store holds over the checkpoint of this size. */
async function assertCosigned(size: number, { key }: Witness, over = store): Promise<void> {
  const line = decoded(over.objects.get(logCosignaturePath(size, key.keyId))!)
  const { text } = parseNote(decoded(over.objects.get(logCheckpointPath(size))!))
  const signature = parseSignatureLine(line.slice(0, -1))
  expect(await heldSignatures({ text, signatures: [signature] }, [key])).toEqual([{ key, time: COSIGNED_AT }])
}

describe('a checkpoint', () => {
  test('is cosigned from the first on, along the path from what the witness knows', async () => {
    await putReleases(store, 9)
    const witness = await loopbackWitness()
    for (const size of [1, 2, 7, 9]) {
      const events = await complete(store, size, [witness])
      expect(events.at(-1)).toEqual({
        event: 'a witness has cosigned the log',
        witness: KEY.verifier.name,
        size,
      })
      await assertCosigned(size, witness)
    }
    // Of several that were logged at once the last alone.
    const expected = [1, 2, 7, 9].map((size) => logCosignaturePath(size, witness.key.keyId))
    expect(cosignatures(store)).toEqual(expected)
    const firstLines = witness.requests.map((body) => body.split('\n')[0])
    expect(firstLines).toEqual(['old 0', 'old 0', 'old 1', 'old 0', 'old 2', 'old 0', 'old 7'])
    expect(witness.requests[0]).toBe(`old 0\n\n${decoded(store.objects.get(logCheckpointPath(1))!)}`)
  })

  test('is cosigned by each of several witnesses, and asked for once', async () => {
    await putReleases(store, 3)
    const witnesses = [await loopbackWitness('one.example'), await loopbackWitness('two.example')]
    await complete(store, 3, witnesses)
    for (const witness of witnesses) await assertCosigned(3, witness)
    expect(await complete(store, 3, witnesses)).toEqual([])
    expect(witnesses.map(({ requests }) => requests.length)).toEqual([1, 1])
  })

  test('that a witness knows already is cosigned again', async () => {
    await putReleases(store, 3)
    const witness = await loopbackWitness()
    await complete(copyOf(store), 3, [witness])
    await complete(store, 3, [witness])
    await assertCosigned(3, witness)
    expect(witness.requests.at(-1)).toMatch(/^old 3\n\nlog\.example/)
  })

  test('of another history is cosigned by no witness that knows the first one', async () => {
    const witness = await loopbackWitness()
    await putReleases(store, 5)
    await complete(store, 4, [witness])
    const other = new MemoryStore()
    await putReleases(other, 5)
    await putManifest(other, { ...manifestOf(2), methodology_version: '9.9.9' })
    const events = await complete(other, 5, [witness])
    expect(events.at(-1)?.reason).toBe('it answered 422: "the path does not hold\\n"')
    expect(cosignatures(other)).toEqual([])
    // A store that was restored to an earlier state.
    const earlier = new MemoryStore()
    await putReleases(earlier, 3)
    expect((await complete(earlier, 3, [witness])).at(-1)?.reason).toBe(
      'it knows 4 entries of this log, and the checkpoint has 3',
    )
  })
})

describe.for(FAULTS)('cut off at any write that %s', (fault) => {
  test.for([true, false])('the log is as whole as without witnesses (crash: %s)', async (crash) => {
    await putReleases(store, 4)
    await complete(store, 2, [])
    const whole = new FaultStore(copyOf(store))
    await complete(whole, 4, [await loopbackWitness()])
    for (let at = 1; at <= whole.writes; at++) {
      const cut = copyOf(store)
      const witness = await loopbackWitness()
      const faulty = new FaultStore(cut, { at, fault, crash })
      const run = complete(faulty, 4, [witness])
      if (at < whole.writes) await expect(run, `write ${at}`).rejects.toThrow('injected')
      else expect((await run).at(-1)?.reason).toMatch(/^injected: putIfAbsent of log\/cosignatures/)
      await complete(cut, 4, [witness])
      // Also where the last checkpoint was signed by the run that was cut off.
      await assertCosigned(4, witness, cut)
      expect((await readCheckpoint(cut, 4)).note.signatures).toHaveLength(1)
    }
  })
})

test('nothing of a run depends on the store finding cosignatures', async () => {
  await putReleases(store, 1)
  const witness = await loopbackWitness()
  const before = ({ operation }: { operation: string }) => {
    if (operation === 'list') throw new Error('injected: no list')
  }
  const events = await complete(new FaultStore(store, { before }), 1, [witness])
  expect(events.at(-1)).toEqual({ event: 'no witness was asked', size: 1, reason: 'injected: no list' })
  expect(witness.requests).toEqual([])
})

test('what one witness has left out stays out until the next checkpoint', async () => {
  await putReleases(store, 2)
  let isDown = true
  const [good, bad] = [await loopbackWitness(), witnessKey('other.example')]
  const ailing = await answeringWitness(bad, (body, response) => {
    if (isDown) response.writeHead(503).end()
    else
      response.end(
        signatureLine(cosignText(parseNote(body.slice('old 0\n\n'.length)).text, bad, COSIGNED_AT)),
      )
  })
  const witnesses = [good, ailing]
  await complete(store, 1, witnesses)
  isDown = false
  await complete(store, 1, witnesses)
  expect(cosignatures(store)).toEqual([logCosignaturePath(1, good.key.keyId)])
  await complete(store, 2, witnesses)
  for (const witness of witnesses) await assertCosigned(2, witness)
})

describe('a witness that', () => {
  const cosigned = (body: string, key = KEY) =>
    signatureLine(cosignText(parseNote(body.slice(body.indexOf('\n\n') + 2)).text, key, COSIGNED_AT))
  const endless = (response: ServerResponse) => {
    const chunk = Buffer.alloc(1024 * 1024, 'a')
    const write = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', write)
    write()
  }

  const cases: [string, (body: string, response: ServerResponse) => void, RegExp][] = [
    [
      'answers 404',
      (_, response) => response.writeHead(404).end('unknown log'),
      /^it answered 404: "unknown log"$/,
    ],
    ['answers 403', (_, response) => response.writeHead(403).end(), /^it answered 403: ""$/],
    ['answers 422', (_, response) => response.writeHead(422).end(), /^it answered 422/],
    [
      'answers 500',
      (_, response) => response.writeHead(500).end(Buffer.alloc(60_000, 0xff)),
      /^it answered 500/,
    ],
    ['knows more entries', (_, response) => conflict(response, 9), /^it knows 9 entries .* has 3$/],
    [
      'says twice that it knows other ones',
      (_, response) => conflict(response, 2),
      /^it answered 409: "2\\n"$/,
    ],
    ['knows no entry, and not that', (_, response) => conflict(response, 0), /^it knows 0 entries/],
    ['knows no number', (_, response) => conflict(response, NaN), /no number of leaves: "NaN"/],
    [
      'answers 409 alone',
      (_, response) => response.writeHead(409).end('3\n'),
      /^it answered 409 without a size: "3/,
    ],
    ['answers nothing', (_, response) => response.end(), /no signature: ""/],
    ['answers garbage', (_, response) => response.end(Buffer.alloc(99, 0xff)), /are not UTF-8/],
    ['adds garbage', (body, response) => response.end(`${cosigned(body)}\n\n`), /no signature: ""/],
    [
      'cosigns with another key',
      (body, response) => response.end(cosigned(body, witnessKey('other.example'))),
      /^it answered without a signature by witness\.example\+/,
    ],
    [
      'says that another key is its own',
      (body, response) => {
        const { bytes } = cosignText(parseNote(body.slice(7)).text, witnessKey('other.example'), COSIGNED_AT)
        response.end(signatureLine({ ...KEY.verifier, bytes }))
      },
      /^the signature by witness\.example\+.* does not hold/,
    ],
    [
      'cosigns another checkpoint',
      (body, response) => response.end(cosigned(body.replace('\n3\n', '\n4\n'))),
      /^the signature by witness\.example\+.* does not hold/,
    ],
    [
      'signs as a log does',
      (body, response) => {
        const { bytes } = signText(parseNote(body.slice(7)).text, KEY)
        response.end(signatureLine({ ...KEY.verifier, bytes }))
      },
      /does not hold/,
    ],
    ['answers a gigabyte', (_, response) => endless(response), /answers with more than 65536 bytes$/],
    ['hangs up', (_, response) => response.destroy(), /does not answer/],
    [
      'hangs up in its answer',
      (_, response) =>
        response.writeHead(200, { 'content-length': 500 }).write('— w', () => response.destroy()),
      /does not answer/,
    ],
  ]
  test.for(cases)('%s is named in the log, and nothing of it is kept', async ([, answer, reason]) => {
    await putReleases(store, 3)
    const good = await loopbackWitness('good.example')
    const bad = await answeringWitness(KEY, answer)
    const events = await complete(store, 3, [bad, good])
    expect(events.find((event) => event.reason !== undefined)?.reason).toMatch(reason)
    expect(cosignatures(store)).toEqual([logCosignaturePath(3, good.key.keyId)])
  })

  test('redirects is not followed', async () => {
    await putReleases(store, 1)
    const elsewhere = await loopbackWitness()
    for (const status of [301, 307, 308]) {
      const bad = await answeringWitness(KEY, (_, response) => {
        response.writeHead(status, { location: `${elsewhere.url}/add-checkpoint` }).end()
      })
      const events = await complete(store, 1, [bad])
      expect(events.at(-1)?.reason).toMatch(new RegExp(`^it answered ${status}`))
    }
    expect(elsewhere.requests).toEqual([])
  })

  test('is down, or answers never or too slowly, costs the time limit once', async () => {
    await putReleases(store, 1)
    const silent = await answeringWitness(KEY, () => undefined)
    const slow = await answeringWitness(KEY, (body, response) => {
      for (const byte of Buffer.from(cosigned(body)).subarray(0, 20)) response.write(Uint8Array.of(byte))
    })
    const down = { key: KEY.verifier, url: await closedUrl() }
    let asked = 0
    const askedWhenGivenUp: number[] = []
    const countingFetch: typeof fetch = (url, init) => {
      asked += 1
      init?.signal?.addEventListener('abort', () => askedWhenGivenUp.push(asked))
      return fetch(url, init)
    }
    const events = await complete(store, 1, [silent, slow, down], { timeoutMs: 200, fetch: countingFetch })
    expect(askedWhenGivenUp.slice(0, 2)).toEqual([3, 3])
    expect(events.filter(({ event }) => event === 'a witness has not cosigned the log')).toHaveLength(3)
    expect(cosignatures(store)).toEqual([])
  })

  test('is asked twice has one time limit of 5 s for both', async () => {
    await putReleases(store, 3)
    const signals: (AbortSignal | null | undefined)[] = []
    const witness = await loopbackWitness()
    await complete(copyOf(store), 2, [witness])
    const listeningFetch: typeof fetch = (url, init) => {
      signals.push(init?.signal)
      return fetch(url, init)
    }
    await complete(store, 3, [witness], { fetch: listeningFetch })
    expect(signals).toHaveLength(2)
    expect(signals[0]).toBe(signals[1])
  })
})

describe('cosignatures in the store', () => {
  const line = async (key = KEY, size = 2) =>
    signatureLine(cosignText((await readCheckpoint(store, size)).note.text, key, COSIGNED_AT))
  const put = (path: string, text: string) => store.put(path, Buffer.from(text))
  const read = async () => readCosignatures(store, await readCheckpoint(store, 2), [KEY.verifier])

  beforeEach(async () => {
    await putReleases(store, 2)
    await complete(store, 2, [])
  })

  test('are read in the order of their key ids, those of unknown keys too', async () => {
    const other = witnessKey('other.example')
    for (const key of [KEY, other]) await put(logCosignaturePath(2, key.verifier.keyId), await line(key))
    const names = (await read()).map(({ name, keyId }) => `${name}+${keyId}`)
    expect(names).toHaveLength(2)
    expect(names.map((name) => name.slice(-8))).toEqual(names.map((name) => name.slice(-8)).toSorted())
  })

  test('that are damaged are left out, and break nothing', async () => {
    const whole = await line()
    const path = logCosignaturePath(2, KEY.verifier.keyId)
    await put(path, whole)
    expect(await read()).toHaveLength(1)
    const bytes = Buffer.from(whole)
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes)
      flipped[at]! ^= 1
      await store.put(path, flipped)
      const found = await read()
      // A byte of the name makes it a line of a key that nobody here knows; the key id of the path is that of
      // the name.
      if (found.length > 0) expect(found[0]!.name).not.toBe(KEY.verifier.name)
    }
    for (const text of [
      '',
      '\n',
      whole.slice(0, -1),
      `${whole}${whole}`,
      'a'.repeat(2_000),
      await line(KEY, 1),
    ]) {
      await put(path, text)
      expect(await read(), JSON.stringify(text)).toEqual([])
    }
  })

  test('are not taken from other paths, and not in the name of the log', async () => {
    await put(`${logCosignaturesPrefix(2)}${'0'.repeat(8)}`, await line())
    await put(`${logCosignaturesPrefix(2)}x/${KEY.verifier.keyId}`, await line())
    const bytes = Buffer.alloc(72)
    const { keyId } = LOG.verifier
    await put(logCosignaturePath(2, keyId), signatureLine({ name: ORIGIN, keyId, bytes }))
    expect(await read()).toEqual([])
  })

  test('are at most 32', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => witnessKey(`w${index}.example`))
    for (const key of keys) await put(logCosignaturePath(2, key.verifier.keyId), await line(key))
    expect(await read()).toHaveLength(32)
  })
})

test('a witness behind a path, with a slash at the end of its setting, is asked below it', async () => {
  // The setting takes the slash off; see test/jobs/components/log-witnesses.test.ts.
  const paths: (string | undefined)[] = []
  const url = await listening((request, response) => {
    paths.push(request.url)
    response.writeHead(404).end()
  })
  await putReleases(store, 1)
  await complete(store, 1, [{ key: KEY.verifier, url: `${url}/a/b` }])
  expect(paths).toEqual(['/a/b/add-checkpoint'])
})
