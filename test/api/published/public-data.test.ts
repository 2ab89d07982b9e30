// The files that anyone may read: exactly those that a manifest or the log names, whole and in parts.
import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { readManifest } from '../../../pipeline/release/read.ts'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { isPublished, releasePrefix } from '../../../pipeline/store/paths.ts'
import { completeLog } from '../../../pipeline/transparency/publish.ts'
import { fileReply } from '../../../api/http/ranges.ts'
import type { DataIndex } from '../../../schemas/answers.ts'
import { suiteFolder } from '../../support/folder.ts'
import { expectValid } from '../../support/json-schema.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import { Clock, type TestService, release, testComponents, testService } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, releaseWorld } from '../../support/worlds/world.ts'
import { LOG_KEY } from '../../support/worlds/written-log.ts'
import { SERVICE } from '../../../api/turns.ts'

const store = new MemoryStore()
const clock = new Clock(NOW)
const folder = await suiteFolder()
let service: TestService
let index: DataIndex

test.beforeAll(async ({ serve }) => {
  const components = { ...(await testComponents({ store, folder, clock })), signers: [LOG_KEY] }
  await releaseWorld(components, { asOf: new Date('2026-02-28T06:00:00.000Z') })
  await release(components)
  await completeLog(components, 2)
  service = await serve(components)
  index = (await get('index.json')).json<DataIndex>()
})

const get = (path: string, headers: Record<string, string> = {}) =>
  service.client.get(`/data/${path}`, headers)

/** The paths of everything that anyone may read. */
async function publicPaths(): Promise<string[]> {
  const named = await Promise.all(
    [1, 2].map(async (number) => {
      const { files } = (await readManifest(store, number))!
      const own = files.map(({ path }) => path).filter(isPublished)
      return ['manifest.json', ...own].map((path) => releasePrefix(number) + path)
    }),
  )
  const others = [...store.objects.keys()].filter((path) => /^(?:snapshots|log)\//.test(path))
  return [...named.flat(), ...others].sort()
}

describe('what is there', () => {
  test('the index lists every public file of the current release as it is', async () => {
    expectValid('data-index', index)
    expect(index).toMatchObject({ release: 2, public_data: 'releases', log_size: 2 })
    expect(index.snapshots).toEqual(['2026-02-28', '2026-03-01'])
    const own = (await publicPaths()).filter((path) => path.startsWith(releasePrefix(2)))
    expect(index.files.map(({ path }) => path).toSorted()).toEqual(own)
    for (const { path, size_bytes, sha256 } of index.files) {
      const stored = store.objects.get(path)!
      expect([stored.byteLength, sha256Hex(stored)]).toEqual([size_bytes, sha256])
    }
  })

  test(
    'every public file has the bytes of the store, its hash, and an age: for ever where nobody deletes it',
    { tags: ['slow'] },
    async () => {
      for (const path of await publicPaths()) {
        const answer = await get(path)
        const stored = Buffer.from(store.objects.get(path)!)
        expect(answer.status, path).toBe(200)
        expect(answer.bytes.equals(stored), path).toBe(true)
        const digest = `sha-256=:${Buffer.from(sha256Hex(stored), 'hex').toString('base64')}:`
        expect(answer.headers, path).toMatchObject({
          etag: `"${sha256Hex(stored)}"`,
          'content-digest': digest,
          'repr-digest': digest,
          'content-length': String(stored.byteLength),
          'accept-ranges': 'bytes',
          'cache-control': /^releases\/.*\/(?!manifest\.json)/.test(path)
            ? 'public, max-age=60'
            : 'public, max-age=31536000, immutable',
        })
      }
    },
  )

  test('“current” stands for the last release, for a minute', async () => {
    for (const file of ['manifest.json', 'scores/000.parquet']) {
      const [current, numbered] = await Promise.all([
        get(`releases/current/${file}`),
        get(`releases/00000002/${file}`),
      ])
      expect(current.bytes.equals(numbered.bytes)).toBe(true)
      expect(current.headers['cache-control']).toBe('public, max-age=60')
    }
  })

  test('a file that retention has deleted is named as such', async () => {
    const thinned = copyOf(store)
    const components = await testComponents({ store: thinned, folder, clock })
    await thinReleases(components, 2, 1)
    const { client } = await testService(components)
    expect((await client.get('/data/releases/00000001/manifest.json')).status).toBe(200)
    expectProblem(await client.get('/data/releases/00000001/scores/000.parquet'), 404, /was thinned/)
  })
})

test('the views read only what is public, at the address that was called or the one that is set', async () => {
  const { headers, text } = await get('views.sql')
  expect(headers['content-type']).toBe('application/sql; charset=utf-8')
  const viewsIn = (sql: string) => [...sql.matchAll(/CREATE OR REPLACE VIEW (\w+)/g)].map(([, name]) => name)
  // The others need public tables.
  expect(viewsIn(text)).toEqual(['leaderboard', 'reference_forecasts', 'calibration_bins'])
  const paths = [...text.matchAll(new RegExp(`'${service.url}/data/(.*)'`, 'g'))].map(([, path]) => path)
  for (const path of paths) expect(index.files.map((file) => file.path)).toContain(path)
  const settings = { PUBLIC_URL: 'https://example.org/fvs', PUBLIC_DATA: 'tables' }
  const { client } = await testService(await testComponents({ store, folder, clock, settings }))
  const all = (await client.get('/data/views.sql')).text
  expect(all).toContain("'https://example.org/fvs/data/releases/00000002/entities/000.parquet'")
  expect(viewsIn(all)).toHaveLength(6)
})

describe('what is not there', () => {
  test('no object but the public ones, by any spelling of any path', { tags: ['slow'] }, async () => {
    const open = new Set([...(await publicPaths()), 'index.json'])
    const paths = [...store.objects.keys(), ...open]
    const hostile = fc.constantFrom(
      '..',
      '.',
      '%2e%2e',
      '%2F',
      '\\',
      '%00',
      '',
      'current',
      'pairs',
      '1',
      'é',
      '%',
    )
    const asked = fc
      .tuple(fc.constantFrom(...paths), fc.array(fc.tuple(fc.nat(6), hostile), { maxLength: 3 }))
      .map(([path, insertions]) => {
        const parts = path.split('/')
        for (const [at, part] of insertions) parts.splice(at, 0, part)
        return parts.join('/')
      })
    const hashes = new Set((await publicPaths()).map((path) => sha256Hex(store.objects.get(path)!)))
    hashes.add(sha256Hex((await get('index.json')).bytes))
    await fc.assert(
      fc.asyncProperty(asked, async (path) => {
        // A client that takes `..` away asks for another call.
        fc.pre(new URL(`http://x/data/${path}`).pathname.startsWith('/data/'))
        const { status, bytes } = await get(path)
        if (open.has(path)) expect(status, path).toBe(200)
        // Another spelling may name a public file too, and no other object.
        else if (status === 200) expect(hashes, path).toContain(sha256Hex(bytes))
        else expect([400, 404, 422], path).toContain(status)
      }),
      { numRuns: 400 },
    )
  })

  test('each private object is asked for by its own path', async () => {
    const open = new Set(await publicPaths())
    const closed = [...store.objects.keys()].filter((path) => !open.has(path))
    const kinds = new Set(
      closed.map((path) =>
        path
          .replace(/\d{8}\//, '')
          .split('/')
          .slice(0, 2)
          .join('/'),
      ),
    )
    for (const kind of ['releases/forecasts.tree', 'releases/plan.json', 'tables/forecasts']) {
      expect(kinds).toContain(kind)
    }
    for (const path of closed) expectProblem(await get(path), 404, /no such file|no files public/)
  })

  test('in a bucket, by the policy of the documentation', async () => {
    const docs = await readFile(new URL('../../../docs/data.md', import.meta.url), 'utf8')
    const [, json] = /<!-- policy -->\s+```json\n([^]*?)```/.exec(docs)!
    const { Statement } = JSON.parse(json!) as { Statement: { Resource: string[] }[] }
    // In a policy `*` stands for any text, also with slashes, and `?` for any character.
    const patternOf = (arn: string) =>
      arn.replace('arn:aws:s3:::BUCKET/PREFIX/', '').replaceAll('?', '.').replaceAll('*', '.*')
    const patterns = Statement[0]!.Resource.map((arn) => new RegExp(`^${patternOf(arn)}$`))
    const letOut = [...store.objects.keys()].filter((path) => patterns.some((one) => one.test(path)))
    expect(letOut.toSorted()).toEqual(await publicPaths())
  })

  test('nothing with PUBLIC_DATA=none', async () => {
    const none = await testComponents({ store, folder, clock, settings: { PUBLIC_DATA: 'none' } })
    const { client } = await testService(none)
    for (const path of [...(await publicPaths()), 'index.json']) {
      expectProblem(await client.get(`/data/${path}`), 404, /no such file|no files public/)
    }
  })
})

describe('a part of a file', () => {
  const FILE = 'releases/00000002/scores/000.parquet'
  const stored = () => Buffer.from(store.objects.get(FILE)!)

  test('any range has the bytes of the file, and says which these are', async () => {
    const size = stored().byteLength
    await fc.assert(
      fc.asyncProperty(fc.nat(size - 1), fc.nat(2 * size), async (first, last) => {
        const answer = await get(FILE, { Range: `bytes=${first}-${first + last}` })
        const end = Math.min(size, first + last + 1)
        expect(answer.status).toBe(206)
        expect(answer.headers['content-range']).toBe(`bytes ${first}-${end - 1}/${size}`)
        expect(answer.headers).not.toHaveProperty('content-digest')
        expect(answer.bytes.equals(stored().subarray(first, end))).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test.for([
    ['bytes=5-', (size: number) => [5, size]],
    ['bytes=-8', (size: number) => [size - 8, size]],
    ['bytes=-99999999', (size: number) => [0, size]],
  ] as const)('%s', async ([range, bounds]) => {
    const [start, end] = bounds(stored().byteLength)
    const answer = await get(FILE, { Range: range })
    expect(answer.status).toBe(206)
    expect(answer.bytes.equals(stored().subarray(start, end))).toBe(true)
  })

  test.for(['bytes=0-1,5-6', 'bytes=9-5', 'bytes=-', 'lines=1-2', 'bytes=a-b'])(
    'the whole for %s',
    async (range) => {
      const answer = await get(FILE, { Range: range })
      expect([answer.status, answer.bytes.byteLength]).toEqual([200, stored().byteLength])
    },
  )

  test.for(['bytes=99999999-', 'bytes=-0'])('none for %s', async (range) => {
    const answer = await get(FILE, { Range: range })
    expectProblem(answer, 416, /begins after the last/, 'range-not-satisfiable')
    expect(answer.headers['content-range']).toBe(`bytes */${stored().byteLength}`)
  })

  test('only of the version that the reader has', async () => {
    const tag = `"${sha256Hex(stored())}"`
    const status = async (condition: string) =>
      (await get(FILE, { Range: 'bytes=0-9', 'If-Range': condition })).status
    expect(await status(tag)).toBe(206)
    expect(await status(`W/${tag}`)).toBe(200)
    expect(await status('"another"')).toBe(200)
    expect((await get(FILE, { 'If-None-Match': tag })).status).toBe(304)
  })

  test('the head alone, with the size of the whole', async () => {
    const { status, headers, bytes } = await service.client.send('HEAD', `/data/${FILE}`, {
      headers: { Range: 'bytes=0-9' },
    })
    expect([status, bytes.byteLength]).toEqual([200, 0])
    expect(headers['content-length']).toBe(String(stored().byteLength))
  })

  test('counts one call for each four megabytes', async () => {
    const MB = 1024 * 1024
    const counted: number[] = []
    const ask = (range: string | undefined, isHead = false) =>
      fileReply(
        {
          isHead,
          header: (name) => (name === 'range' ? range : undefined),
          asker: { ...SERVICE, countMore: (calls) => Promise.resolve(void counted.push(calls)) },
        },
        { sizeBytes: 10 * MB, sha256: 'a'.repeat(64), headers: {}, read: async function* () {} },
      )
    await ask(undefined)
    await ask(`bytes=0-${4 * MB - 1}`)
    await ask(`bytes=0-${4 * MB}`)
    await ask(undefined, true)
    expect(counted).toEqual([2, 0, 1])
  })
})

test('a file that is damaged is not sent as if it were whole', async () => {
  const path = 'releases/00000002/entities/000.parquet'
  const damaged = copyOf(store)
  const { client } = await testService(await testComponents({ store: damaged, folder, clock }))
  damaged.objects.set(path, damaged.objects.get(path)!.subarray(0, 100))
  expectProblem(await client.get(`/data/${path}`), 503, /is damaged/)
  damaged.objects.delete(path)
  expectProblem(await client.get(`/data/${path}`), 503, /is damaged/)
})
