// What the calls about releases answer: what a release consists of, what it corrects, when the next one is
// due.
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runImport } from '../../../jobs/import/import.ts'
import { parseOptions } from '../../../pipeline/import/options.ts'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { readManifest } from '../../../pipeline/release/read.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { manifestPath } from '../../../pipeline/store/paths.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import { suiteFolder } from '../../support/folder.ts'
import { expectValid } from '../../support/json-schema.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { Clock, importRows, release, startTestService, testComponents } from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'

const folder = await suiteFolder()
let released: MemoryStore
beforeAll(async () => {
  released = new MemoryStore()
  await copyReleasedWorld(released)
})

/** The released world, served an hour later. */
async function served(store = copyOf(released), settings: Record<string, string> = {}) {
  const clock = new Clock(new Date(Date.parse(NOW) + 3_600_000).toISOString())
  const components = await testComponents({ folder, clock, store, settings })
  const service = await startTestService(components)
  onTestFinished(service.stop)
  return { components, client: service.client }
}

test('GET /releases/current answers the manifest of the release that is served, and when the next is due', async () => {
  const { components, client } = await served()
  const answer = await client.get('/releases/current')
  expect(answer.status, answer.text).toBe(200)
  expectValid('current-release', answer.json())
  const { next_due_at, ...manifest } = answer.json<{ next_due_at: string }>()
  expect(manifest).toEqual(await readManifest(components.store, 1))
  expect(next_due_at).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:00\.000Z$/)
})

test(
  'a corrected outcome is told by the release that corrects it, and the one before stays as it was',
  { tags: ['slow'] },
  async () => {
    const { components, client } = await served()
    const before = (await client.get('/releases/1')).json()
    const corrected = `question_id,outcome,resolved_at\n${uuidOf(1, 0)},no,2026-01-21T00:00:00.000Z\n`
    await importRows(components, 'resolutions', corrected)
    await release(components)
    await expect
      .poll(async () => (await client.get('/releases/current')).json<{ release: number }>().release)
      .toBe(2)
    for (const path of ['/releases/current', '/releases/2']) {
      expect((await client.get(path)).json()).toMatchObject({
        corrections: [{ question_id: uuidOf(1, 0), column: 'outcome', from: 'yes', to: 'no' }],
      })
    }
    expect((await client.get('/releases/1')).json()).toEqual(before)
  },
)

test('a thinned release says since when', { tags: ['slow'] }, async () => {
  const { components, client } = await served()
  await release(components)
  await expect.poll(async () => (await client.get('/releases/2')).status).toBe(200)
  expect((await client.get('/releases/1')).json()).toMatchObject({ release: 1, thinned_at: null })
  await thinReleases(components, 2, 1)
  const answer = await client.get('/releases/1')
  expectValid('published-release', answer.json())
  expect(answer.json()).toMatchObject({ release: 1, thinned_at: components.now().toISOString() })
})

describe('refused', () => {
  test('a release that has not been made: 404 names the current one, and costs no read', async () => {
    const store = new FaultStore(copyOf(released))
    const { client } = await served(store as unknown as MemoryStore)
    await client.get('/releases/1')
    const reads = store.calls.length
    expectProblem(await client.get('/releases/99999999'), 404, /no release 99999999: the current one is 1$/)
    expect(store.calls.slice(reads).filter(({ path }) => path.includes('99999999'))).toEqual([])
  })

  test.for(['0', '01', '-1', '1.0', '999999999', 'first'])(
    '%s is no number of a release: 422',
    async (text) => {
      const { client } = await served()
      expectProblem(await client.get(`/releases/${text}`), 422, /must be the number of a release/)
    },
  )

  test('before the first release: 404 says when it is due', async () => {
    const { client } = await served(new MemoryStore())
    expectProblem(
      await client.get('/releases/current'),
      404,
      /no release has been made yet; the first one is due at 20/,
    )
    expectProblem(await client.get('/releases/1'), 404, /no release 1: none has been made yet/)
  })

  test('a release whose manifest is damaged or gone: 503', { tags: ['slow'] }, async () => {
    const store = copyOf(released)
    const { components, client } = await served(store)
    await release(components)
    await expect.poll(async () => (await client.get('/releases/2')).status).toBe(200)
    const whole = (await store.get(manifestPath(1)))!
    await store.put(
      manifestPath(1),
      whole.map((byte, at) => (at === 100 ? byte ^ 1 : byte)),
    )
    expectProblem(await client.get('/releases/1'), 503, /./)
    await store.delete(manifestPath(1))
    expectProblem(await client.get('/releases/1'), 503, /./)
  })
})

test(
  'GET /releases.atom is a feed of the releases with their corrections, the newest first',
  { tags: ['slow'] },
  async () => {
    const { components, client } = await served()
    const alone = await client.get('/releases.atom')
    expect(alone.headers['content-type']).toBe('application/atom+xml; charset=utf-8')
    expect(alone.text.match(/<entry>/g)).toHaveLength(1)
    const corrected = [
      'question_id,outcome,resolved_at',
      `${uuidOf(1, 0)},no,2026-01-21T00:00:00.000Z`,
      `${uuidOf(1, 1)},open,2026-02-15T00:00:00.000Z`,
    ]
    const now = components.now().toISOString()
    const options = parseOptions('resolutions', { correct: '<typo> & more' })
    const file = new Blob([`${corrected.join('\n')}\n`]).stream()
    await runImport(components, 'resolutions', file, options)
    await release(components)
    await expect.poll(async () => (await client.get('/releases.atom')).text.match(/<entry>/g)?.length).toBe(2)
    const { text } = await client.get('/releases.atom')
    const [newest, oldest] = text.split('<entry>').slice(1) as [string, string]
    expect(newest).toContain('Release 2: 3 corrections')
    expect(newest).toContain(
      `Question ${uuidOf(1, 0)}: outcome was yes and is no, as said at ${now}, because: &lt;typo&gt; &amp; more. 7 of the entities have forecast it, and 7 are scored on it.`,
    )
    expect(newest).toContain(
      `Question ${uuidOf(1, 1)}: resolved_at was 2026-01-22T00:00:00.000Z and is none, as said at ${now}`,
    )
    expect(newest).toContain('href="releases/2"')
    expect(oldest).toContain('Release 1')
    expect(oldest).not.toContain('correction')
    const ids = [newest, oldest].map((entry) => /<id>(.*?)<\/id>/.exec(entry)![1]!)
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(id).toMatch(/^ni:\/\/\/sha-256;[\w-]{43}$/)
    // Another node gives the same bytes.
    const other = await startTestService(await testComponents({ folder, store: components.store }))
    onTestFinished(other.stop)
    expect((await other.client.get('/releases.atom')).text).toBe(text)
  },
)

test(
  'no two installations share an id in their feeds, and one that knows its address links to it',
  { tags: ['slow'] },
  async () => {
    const feedOf = async (mark: string, settings = {}) => {
      const { client } = await served(Object.assign(copyOf(released), { mark }), settings)
      const { text } = await client.get('/releases.atom')
      const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, each]) => each!)
      return { ids: found(/<id>(.*?)<\/id>/g), links: found(/href="(.*?)"/g) }
    }
    const [one, again, other] = [await feedOf('one'), await feedOf('one'), await feedOf('other')]
    expect(one).toEqual(again)
    expect(new Set([...one.ids, ...other.ids]).size).toBe(4)
    expect(one.links).toEqual(['releases.atom', 'releases/current', 'releases/1'])
    const known = await feedOf('one', { PUBLIC_URL: 'https://fvs.example/a&b/' })
    const base = 'https://fvs.example/a&amp;b/'
    expect(known).toEqual({
      ids: [`${base}releases.atom`, `${base}releases/1`],
      links: [`${base}releases.atom`, `${base}releases/current`, `${base}releases/1`],
    })
  },
)
