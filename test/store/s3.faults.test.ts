// @module-tag slow
import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openStore } from '../../pipeline/store/open.ts'
import { probeStore } from '../../pipeline/store/probe.ts'
import { type Store, putExactly, putOnce } from '../../pipeline/store/store.ts'
import {
  type LoopbackS3,
  type S3Answer,
  type S3Behaviour,
  loopbackS3,
  s3Error,
} from '../support/faults/loopback-s3.ts'
import { localFile } from '../support/local-file.ts'
import { storeContract } from '../support/store-contract.ts'

/** How long a store waits for a server that answers nothing. */
const SILENCE_MS = 50
/** For a server that fails later; every other test waits as long as the service does. */
const TIMEOUT_MS = 250

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
  vi.stubEnv('AWS_REGION', 'us-east-1')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

// The loopback server must keep the contract itself, or its faults below would prove nothing.
storeContract('a loopback server that does what S3 does', async () => (await openLoopback()).store)

describe('an S3 server that lists its objects', () => {
  test('gives the time of each, and where it gives none the time is an invalid date', async () => {
    const { store, modifiedAt } = await openLoopback()
    const then = new Date('2026-01-31T12:00:00.000Z')
    for (const path of ['a', 'b']) await store.put(path, bytes('1'))
    modifiedAt.set('/bucket/some/a', then)
    modifiedAt.delete('/bucket/some/b')
    const [a, b] = await Array.fromAsync(store.list(''))
    expect(a).toEqual({ path: 'a', sizeBytes: 1, modifiedAt: then })
    expect(b!.modifiedAt.getTime()).toBeNaN()
  })

  test('and the folders of its console, and objects of others, leaves these out', async () => {
    const { store, objects } = await openLoopback()
    await store.put('inbox/a', bytes('1'))
    for (const key of ['', 'inbox/', 'inbox/../../b', 'inbox//a', '.store', 'inbox/ä', 'inbox/\u001b[31m'])
      objects.set(`/bucket/some/${key}`, bytes('other'))
    const listed = await Array.fromAsync(store.list(''), ({ path }) => path)
    expect(listed).toEqual(['inbox/a'])
  })
})

describe('an S3 server that ignores If-None-Match', () => {
  const ignores: S3Behaviour = (request, obey) => {
    request.ifNoneMatch = undefined
    return obey()
  }

  test('is refused by the probe, which says why', async () => {
    const { store, objects } = await openLoopback(ignores)
    await expect(probeStore(store, 'id')).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(
        /^the store s3:\/\/bucket\/some\/ accepts .*; .*If-None-Match/,
      ) as string,
    })
    expect([...objects.keys()]).toEqual([])
  })
})

describe('an S3 server that never answers', () => {
  const silent: S3Behaviour = () => 'silence'
  const calls: Record<string, (store: Store) => Promise<unknown>> = {
    get: (store) => store.get('a'),
    range: (store) => store.range('a', 0, 1),
    list: (store) => Array.fromAsync(store.list('a')),
    putIfAbsent: (store) => store.putIfAbsent('a', bytes('1')),
    put: (store) => store.put('a', bytes('1')),
    delete: (store) => store.delete('a'),
    'the probe': (store) => probeStore(store, 'id'),
  }
  test.for(Object.entries(calls))('makes %s unavailable when the time is up', async ([, call]) => {
    const { store } = await openLoopback(silent, SILENCE_MS)
    await expect(call(store)).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 5 })
  })

  test('does not delay a caller that gives up earlier', async () => {
    const { store } = await openLoopback(silent, 60_000)
    await expect(store.get('a', AbortSignal.timeout(50))).rejects.toMatchObject({ kind: 'unavailable' })
    const put = store.putIfAbsent('a', bytes('1'), AbortSignal.timeout(50))
    await expect(put).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

describe('an S3 server that falls silent or hangs up in the middle of an object', () => {
  test.for(['silence', 'hang up'] as const)('%s: the read is unavailable, never short', async (ending) => {
    const cut: S3Behaviour = ({ method }, obey) =>
      method === 'GET' ? { ...obey(), cut: { afterBytes: 5, ending } } : obey()
    const { store } = await openLoopback(cut, TIMEOUT_MS)
    await store.put('a', bytes('0123456789'))
    await expect(store.get('a')).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(store.range('a', 0, 8)).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

describe('an S3 server that is not running', () => {
  test('is unavailable', async () => {
    const gone = await unusedEndpoint()
    const store = await opened('s3://bucket', gone, TIMEOUT_MS)
    await expect(store.get('a')).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

describe('an S3 server with a rival write under way', () => {
  test('answers 409, and is asked again', async () => {
    const { store, objects, requests } = await openLoopback((request, obey) =>
      request.method === 'PUT' && count(requests, 'PUT') === 1
        ? s3Error(409, 'ConditionalRequestConflict')
        : obey(),
    )
    expect(await store.putIfAbsent('a', bytes('1'))).toBe(true)
    expect(count(requests, 'PUT')).toBe(2)
    expect(objects.size).toBe(1)
  })

  test('answers 409 and then 412, which is a lost race', async () => {
    const { store, objects, requests } = await openLoopback((request, obey) => {
      if (request.method !== 'PUT' || count(requests, 'PUT') > 1) return obey()
      objects.set(request.path, bytes('the rival'))
      return s3Error(409, 'ConditionalRequestConflict')
    })
    expect(await store.putIfAbsent('a', bytes('1'))).toBe(false)
  })

  test('is unavailable when the conflict does not end', async () => {
    const { store } = await openLoopback(({ method }, obey) =>
      method === 'PUT' ? s3Error(409, 'ConditionalRequestConflict') : obey(),
    )
    await expect(store.putIfAbsent('a', bytes('1'))).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

describe('an S3 server that fails after it has stored', () => {
  /** The first write of each object takes effect and is answered with an error. */
  const failsAfterStoring: S3Behaviour = (request, obey) => {
    const first = request.method === 'PUT' && obey().status === 200
    return first ? s3Error(500, 'InternalError') : obey()
  }

  test('refuses the repetition, and putOnce finds its own bytes', async () => {
    const { store, requests } = await openLoopback(failsAfterStoring)
    expect(await putOnce(store, 'a', bytes('1'))).toBe('same')
    expect(count(requests, 'PUT')).toBe(2)
    await putExactly(store, 'b', bytes('2'))
    expect(await putOnce(store, 'a', bytes('2'))).toBe('different')
  })

  test('still passes the probe, because no second create succeeded', async () => {
    const { store } = await openLoopback(failsAfterStoring)
    await expect(probeStore(store, 'id')).resolves.toBeInstanceOf(Date)
  })
})

describe('an S3 server that takes a file', () => {
  const CONTENT = new Uint8Array(20 * 1024 * 1024).map((_, index) => (index * 31 + (index >> 8)) & 0xff)

  test('is told its size and its hash, which are signed', async () => {
    const { store, requests } = await openLoopback()
    const file = await localFile(CONTENT)
    await store.put('a', file)
    expect(requests).toMatchObject([{ method: 'PUT', contentSha256: file.sha256 }])
  })

  test('and hangs up in the middle is sent the whole file again, until it has tried enough', async () => {
    const file = await localFile(CONTENT)
    const { store, objects } = await openLoopback(undefined, undefined, 2)
    expect(await store.putIfAbsent('a', file)).toBe(true)
    expect(Buffer.compare(objects.get('/bucket/some/a')!, CONTENT)).toBe(0)
    const always = await openLoopback(undefined, undefined, 3)
    await expect(always.store.putIfAbsent('a', file)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(always.objects.size).toBe(0)
    expect(await putOnce(always.store, 'a', file)).toBe('created')
  })

  test('and fails after it has stored refuses the repetition, and putOnce finds its own bytes', async () => {
    const { store, requests } = await openLoopback((request, obey) =>
      request.method === 'PUT' && obey().status === 200 ? s3Error(500, 'InternalError') : obey(),
    )
    expect(await putOnce(store, 'a', await localFile(CONTENT))).toBe('same')
    expect(count(requests, 'PUT')).toBe(2)
  })

  test('and answers 409 is asked again', async () => {
    const { store, objects, requests } = await openLoopback((request, obey) =>
      request.method === 'PUT' && count(requests, 'PUT') === 1
        ? s3Error(409, 'ConditionalRequestConflict')
        : obey(),
    )
    expect(await store.putIfAbsent('a', await localFile(CONTENT))).toBe(true)
    expect(objects.get('/bucket/some/a')).toHaveLength(CONTENT.byteLength)
  })

  test('and falls silent is unavailable when the time is up', async () => {
    const { store } = await openLoopback(() => 'silence', SILENCE_MS)
    const file = await localFile(bytes('1'))
    await expect(store.put('a', file)).rejects.toMatchObject({ kind: 'unavailable' })
    const put = store.putIfAbsent('a', file, AbortSignal.timeout(50))
    await expect(put).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test('refuses one that has changed since it was hashed', async () => {
    const { store, objects } = await openLoopback()
    const file = await localFile(CONTENT)
    await writeFile(file.location, CONTENT.toReversed())
    await expect(store.put('a', file)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('XAmzContentSHA256Mismatch') as string,
    })
    expect(objects.size).toBe(0)
  })
})

describe('an S3 server that refuses', () => {
  const page: S3Answer = { status: 404, headers: { 'content-type': 'text/html' }, body: '<p>Not here</p>' }
  const refusals: [string, S3Answer, string][] = [
    ['403 AccessDenied', s3Error(403, 'AccessDenied'), 'HTTP 403: AccessDenied: as the test wants'],
    ['404 NoSuchBucket', s3Error(404, 'NoSuchBucket'), 'HTTP 404: there is no bucket "bucket"'],
    ['404 NoSuchBucket and no more', namedOnly('NoSuchBucket'), 'HTTP 404: there is no bucket "bucket"'],
    ["404 and a proxy's own page", page, 'HTTP 404: NotFound'],
    ['503 SlowDown', s3Error(503, 'SlowDown'), 'HTTP 503: SlowDown: as the test wants'],
    ['403 and no body', { status: 403 }, 'HTTP 403'],
  ]
  test.for(refusals)('with %s is unavailable, and the message says so', async ([, answer, reason]) => {
    const { store } = await openLoopback(() => answer)
    await Promise.all(
      [
        store.get('a'),
        store.range('a', 0, 1),
        store.putIfAbsent('a', bytes('1')),
        store.put('a', bytes('1')),
      ].map((call) =>
        expect(call).rejects.toMatchObject({
          kind: 'unavailable',
          message: `the store did not answer for a (${reason})`,
        }),
      ),
    )
    await expect(Array.fromAsync(store.list('a'))).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(probeStore(store, 'id')).rejects.toMatchObject({
      kind: 'unavailable',
      message: `s3://bucket/some/: the store did not answer for probe/id (${reason})`,
    })
  })
})

async function openLoopback(
  behave?: S3Behaviour,
  requestTimeoutMs?: number,
  cuts?: number,
): Promise<LoopbackS3 & { store: Store }> {
  const server = await loopbackS3(behave, cuts)
  const store = await opened('s3://bucket/some', server.endpoint, requestTimeoutMs)
  return { ...server, store }
}

const opened = (url: string, s3Endpoint: string, requestTimeoutMs?: number) =>
  openStore({ url, s3Endpoint, requestTimeoutMs }, 'fail')

async function unusedEndpoint(): Promise<string> {
  const { createServer } = await import('node:net')
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}

/** An error without a message, as some servers answer. */
function namedOnly(code: string): S3Answer {
  const { headers } = s3Error(404, code)
  return { status: 404, headers: headers!, body: `<Error><Code>${code}</Code></Error>` }
}

function count(requests: { method: string }[], wanted: string): number {
  return requests.filter(({ method }) => method === wanted).length
}

function bytes(content: string): Uint8Array {
  return new TextEncoder().encode(content)
}
