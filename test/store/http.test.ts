// A served address is read as a store is, within limits that no server can exceed.
import { describe, expect, test } from 'vitest'
import { HttpStore } from '../../pipeline/store/http.ts'
import { objectContent } from '../../pipeline/store/object-content.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { listening } from '../support/loopback-witness.ts'
import { MIB, bytes, ofSize, readContract, text } from '../support/read-contract.ts'

type Served = Readonly<Record<string, Uint8Array>>

/** As web servers do it, with ranges or without. */
const serving = (objects: Served, hasRanges = true) =>
  listening((request, response) => {
    const found = objects[request.url!.slice(1)]
    const [, from, to] = (hasRanges && /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')) || []
    if (!found) response.writeHead(404).end()
    else if (from === undefined) response.end(found)
    else if (Number(from) >= found.byteLength) response.writeHead(416).end()
    else response.writeHead(206).end(found.subarray(Number(from), Number(to) + 1))
  })

describe('the read contract, kept by a server with ranges', () => {
  readContract(async (objects) => new HttpStore(await serving(objects)))
})

test('an object is hashed piece by piece, of a server with ranges', { tags: ['slow'] }, async () => {
  const big = ofSize(8 * MIB + 1)
  const store = new HttpStore(await serving({ big }))
  expect(await objectContent(store, 'big')).toEqual({ sha256: sha256Hex(big), sizeBytes: big.byteLength })
  expect(store.cost).toEqual({ requests: 2, bytes: big.byteLength })
})

test('of a server without ranges short objects alone are read in parts', async () => {
  const store = new HttpStore(await serving({ short: bytes('0123456789'), long: ofSize(MIB) }, false))
  expect(text(await store.range('short', 3, 4))).toBe('3456')
  await expect(store.range('long', 0, 4)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringMatching(/long answers with more than 65536 bytes$/) as string,
  })
})

test.for([
  ['log/checkpoints/00000001', 64 * 1024],
  ['log/tile/0/000', 64 * 1024],
  ['log/tile/entries/000', 512 * 1024],
  ['releases/00000001/manifest.json', 64 * MIB],
] as const)('%s has at most %d bytes', { tags: ['slow'] }, async ([path, most]) => {
  const served = { [path]: new Uint8Array(most) }
  expect((await new HttpStore(await serving(served)).get(path))!.byteLength).toBe(most)
  const longer = await serving({ [path]: new Uint8Array(most + 1) })
  await expect(new HttpStore(longer).get(path)).rejects.toThrow(`answers with more than ${most} bytes`)
})

describe('a server that fails', () => {
  /** Answers with these statuses in turn, and then with an object. */
  const failing = (...statuses: (number | undefined)[]) =>
    listening((_request, response) => {
      if (statuses.length === 0) response.end('found')
      else {
        const status = statuses.shift()
        if (status === undefined) response.destroy()
        else response.writeHead(status, { 'retry-after': '2' }).end()
      }
    })

  test('is asked again up to four times, after as long as it says', async () => {
    const waits: number[] = []
    const wait = (ms: number) => {
      waits.push(ms)
      return Promise.resolve()
    }
    const store = new HttpStore(await failing(429, undefined, 503), { wait })
    expect(text(await store.get('a'))).toBe('found')
    expect(waits).toEqual([2000, 1000, 2000])
    expect(store.cost).toEqual({ requests: 4, bytes: 5 })
    const broken = new HttpStore(await failing(500, 500, 500, 500), { wait })
    await expect(broken.get('a')).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/a answered 500$/) as string,
    })
  })

  test('is asked once by a reader who does not wait', async () => {
    const store = new HttpStore(await failing(503))
    await expect(store.get('a')).rejects.toThrow(/a answered 503$/)
    expect(store.cost.requests).toBe(1)
  })

  test('and one that leads elsewhere is not followed', async () => {
    const store = new HttpStore(await failing(302))
    await expect(store.get('a')).rejects.toThrow(/answered 302, which leads elsewhere: give the address/)
  })
})

test('another address of a server is counted with the first', async () => {
  const store = new HttpStore(`${await serving({ 'data/a': bytes('1'), b: bytes('22') })}/data/`)
  await store.get('a')
  expect(text(await store.at(store.url.replace(/\/data$/, '')).ask('b'))).toBe('22')
  expect(store.cost).toEqual({ requests: 2, bytes: 3 })
})

test.for(['ftp://x.example', 'x.example', 'https://x.example?a=b'])('%s is no address', (address) => {
  expect(() => new HttpStore(address)).toThrow(/the address of a service is http/)
})
