// Compressed answers: which calls have them, by which of the caller's words, and with which entity tags.
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { STYLE } from '../../../api/pages/assets.ts'
import { testWith } from '../../support/http/fixtures.ts'
import { type TestService } from '../../support/http/service.ts'
import { QUESTION, forecasterId } from '../../support/worlds/world.ts'

let service: TestService
const test = testWith({ ANONYMOUS_PER_MINUTE: '100', ANONYMOUS_PER_MONTH: '1000' })
test.beforeAll(({ service: given }) => {
  service = given
})

const get = (path: string, accepted?: string, headers: Record<string, string> = {}) =>
  service.client.get(path, { ...headers, ...(accepted !== undefined && { 'Accept-Encoding': accepted }) })

const DECODED = { br: brotliDecompressSync, gzip: gunzipSync }

const COMPRESSED = [
  '/',
  '/view/agents',
  `/view/forecasters/${forecasterId(0)}`,
  '/view/questions',
  `/view/questions/${QUESTION.open}`,
  '/view/methodology',
  '/view/terms',
  '/operator',
  STYLE.path,
  '/sandbox/view/agents',
  '/openapi.json',
  '/docs',
  '/docs/data',
]

describe.for(COMPRESSED)('%s', (path) => {
  test('is the same bytes in every form, each with a tag of its own', async () => {
    const plain = await get(path)
    expect(plain.headers).not.toHaveProperty('content-encoding')
    const tags = new Set([plain.headers.etag])
    for (const coding of ['br', 'gzip'] as const) {
      const answer = await get(path, coding)
      expect(answer.headers['content-encoding']).toBe(coding)
      expect(answer.headers['content-length']).toBe(String(answer.bytes.length))
      expect(answer.headers['content-type']).toBe(plain.headers['content-type'])
      expect(answer.bytes.length).toBeLessThan(plain.bytes.length * 0.7)
      expect(DECODED[coding](answer.bytes).equals(plain.bytes)).toBe(true)
      expect(answer.headers.etag).toMatch(/^"[0-9a-f]{64}-(br|gzip)"$/)
      tags.add(answer.headers.etag)
    }
    expect(tags.size).toBe(3)
  })

  test('says that it depends on what the caller takes, in each form and when nothing has changed', async () => {
    for (const accepted of [undefined, 'br', 'gzip']) {
      const { headers } = await get(path, accepted)
      expect(headers.vary).toContain('Accept-Encoding')
      const again = await get(path, accepted, { 'If-None-Match': headers.etag! })
      expect(again.status).toBe(304)
      expect(again.bytes).toHaveLength(0)
      expect(again.headers.etag).toBe(headers.etag)
      expect(again.headers.vary).toContain('Accept-Encoding')
    }
  })

  test('is sent whole to a caller who has another form', async () => {
    const { headers } = await get(path, 'gzip')
    expect((await get(path, 'br', { 'If-None-Match': headers.etag! })).status).toBe(200)
    expect((await get(path, undefined, { 'If-None-Match': headers.etag! })).status).toBe(200)
  })

  test('has the same headers for HEAD', async () => {
    const { headers } = await get(path, 'gzip')
    const head = await service.client.send('HEAD', path, { headers: { 'Accept-Encoding': 'gzip' } })
    expect(head.bytes).toHaveLength(0)
    for (const name of ['content-encoding', 'content-length', 'etag', 'vary']) {
      expect(head.headers[name], name).toBe(headers[name])
    }
  })
})

test.for([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP', 'gzip'],
  ['*', 'br'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=0', undefined],
  ['identity, gzip;q=0.1', undefined],
  ['deflate', undefined],
  ['identity;q=0', undefined],
  ['', undefined],
  ['br\u00a0; q=oops,,;', undefined],
] as const)('Accept-Encoding: %s gets %s', async ([accepted, coding]) => {
  const { status, headers } = await get('/view/terms', accepted)
  expect(status).toBe(200)
  expect(headers['content-encoding']).toBe(coding)
})

test('a part of an answer cannot be asked for, in whatever form', async () => {
  const answer = await get('/view/terms', 'gzip', { Range: 'bytes=0-9' })
  expect(answer.status).toBe(200)
  expect(answer.headers).not.toHaveProperty('accept-ranges')
})

test.for([
  `/forecaster/${forecasterId(0)}/verification`,
  '/leaderboard/forecaster',
  `/forecaster/${forecasterId(0)}/badge.svg`,
  '/questions',
  '/releases/current',
  '/methodology',
  '/livez',
])('%s goes as it is', async (path) => {
  const plain = await get(path)
  const answer = await get(path, 'br, gzip')
  expect(answer.status).toBe(200)
  expect(answer.headers).not.toHaveProperty('content-encoding')
  expect(answer.headers.vary ?? '').not.toContain('Accept-Encoding')
  expect(answer.headers['x-service-signature']).toBe(plain.headers['x-service-signature'])
  if (path !== '/livez') expect(answer.bytes.equals(plain.bytes)).toBe(true)
})
