// A node goes over to a new release while it is asked: no answer is wrong, and what callers asked of the last
// release is read first.
import { beforeAll, expect, test } from 'vitest'
import { readManifest } from '../../../pipeline/release/read.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { manifestPath, releasePrefix } from '../../../pipeline/store/paths.ts'
import { Expected } from '../../support/http/expected-answers.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { FaultStore } from '../../support/faults/fault-store.ts'
import {
  type Client,
  Clock,
  SECRET,
  release,
  testComponents,
  testService,
} from '../../support/http/service.ts'
import { type AskedPath, judged, newestIn, startAsking, wrongIn } from '../../support/http/steady-asking.ts'
import { copyOf } from '../../support/store-content.ts'
import { FORECASTERS, NOW, copyReleasedWorld, forecasterId } from '../../support/worlds/world.ts'

const PATH = `/forecaster/${forecasterId(0)}/verification`
const VIEW = `/view/forecasters/${forecasterId(0)}`

let released: MemoryStore
let agentId: string
beforeAll(async () => {
  released = new MemoryStore()
  agentId = (await copyReleasedWorld(released)).agentId
})

const ids = Array.from({ length: FORECASTERS }, (_, index) => forecasterId(index))

function everyKind(): AskedPath[] {
  const entities = [
    { id: agentId, type: 'agent', path: `/agents/${agentId}` },
    ...ids.map((id) => ({ id, type: 'forecaster', path: `/forecaster/${id}` })),
  ]
  return entities.flatMap(({ id, type, path }): AskedPath[] => [
    { kind: 'published', path: `${path}/verification`, published: { id, kind: 'verification' } },
    { kind: 'published', path: `${path}/metrics`, published: { id, kind: 'metrics' } },
    { kind: 'published', path: `${path}/rankings`, published: { id, kind: 'rankings' } },
    { kind: 'published', path, published: { id, kind: 'profile' } },
    { kind: 'badge', path: `${path}/badge.svg` },
    { kind: 'leaderboard', path: `/leaderboard/${type}` },
    { kind: 'snapshots', path: `/snapshots/${type}/${id}` },
    { kind: 'scores', path: `${path}/scores?limit=5` },
    { kind: 'current release', path: '/releases/current' },
    { kind: 'page', path: `/view/${type}s/${id}` },
    {
      kind: 'bulk',
      path: '/verification/bulk',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ entity_type: 'forecaster', ids }),
    },
  ])
}

/** Puts into a store what another one has of a release, its manifest last. */
async function publish(number: number, from: MemoryStore, to: MemoryStore): Promise<void> {
  const manifest = manifestPath(number)
  const added = [...from.objects.keys()].filter((path) => !to.objects.has(path) && path !== manifest)
  for (const path of [...added, manifest]) await to.put(path, from.objects.get(path)!)
}

/** Stores that have one release more each, beginning with the second. */
async function laterReleases(count: number): Promise<MemoryStore[]> {
  const clock = new Clock(NOW)
  const store = copyOf(released)
  const components = await testComponents({ store, clock })
  const stores: MemoryStore[] = []
  for (let number = 2; number < 2 + count; number++) {
    clock.set(new Date(Date.parse(NOW) + number * 20 * 3_600_000).toISOString())
    await release(components)
    stores.push(copyOf(store))
  }
  return stores
}

async function currentOf(client: Client): Promise<number> {
  return (await client.get('/releases/current')).json<{ release: number }>().release
}

test(
  'every answer is wholly of one release, signed, and none is older than the one before',
  { tags: ['slow'] },
  async () => {
    const later = await laterReleases(4)
    const expected = new Expected({ served: SECRET, published: SECRET })
    for (let number = 1; number <= 5; number++) {
      await expected.add(later.at(-1)!, (await readManifest(later.at(-1)!, number))!)
    }
    const store = copyOf(released)
    const { url, client } = await testService({ store })
    const asking = startAsking(url, everyKind(), { connections: 16, perSecond: 2_000 })
    await expect.poll(asking.count).toBeGreaterThan(200)
    for (const [index, from] of later.entries()) {
      await publish(2 + index, from, store)
      await expect.poll(() => currentOf(client)).toBe(2 + index)
      const known = asking.count()
      await expect.poll(asking.count).toBeGreaterThan(known + 200)
    }
    await asking.stop()
    const all = judged(asking.answers(), expected)
    expect(wrongIn(all)).toEqual([])
    const named = ['published', 'leaderboard', 'snapshots', 'scores', 'current release', 'page', 'bulk']
    expect(newestIn(all)).toEqual(Object.fromEntries(named.map((kind) => [kind, 5])))
  },
)

const READ_OF_SECOND = ['forecaster/', 'scores/', 'leaderboard/']
const isShardOfDay = (path: string) => /^snapshots\/[^/]*\/forecaster\//.test(path)

/**
 * A node that is asked, on a store whose shards of the second release are held back, and what it has read of
 * them, of its scores, its leaderboard and of snapshots.
 */
async function heldNode() {
  const [later] = await laterReleases(1)
  const store = copyOf(released)
  const gate = Promise.withResolvers<void>()
  const calls: string[] = []
  const held = new FaultStore(store, {
    before: ({ operation, path }) => {
      const isShard = path.startsWith(`${releasePrefix(2)}forecaster/`)
      const isRead = READ_OF_SECOND.some((start) => path.startsWith(`${releasePrefix(2)}${start}`))
      if (isRead || isShardOfDay(path)) calls.push(`${operation} ${path}`)
      return isShard ? gate.promise : undefined
    },
  })
  // It rests where nobody asks for so long, and then goes over at once.
  const { client } = await testService({ store: held, settings: { REFRESH_MS: '500' } })
  const answered = async () => (await client.get(PATH)).json<{ release: number }>().release
  expect(await answered()).toBe(1)
  const shard = `get ${releasePrefix(2)}forecaster/${forecasterId(0)}.json`
  return { client, answered, calls, shard, letGo: gate.resolve, publish: () => publish(2, later!, store) }
}

test(
  'what was asked of the last release is read before the next one is served, and by no call',
  { tags: ['slow'] },
  async () => {
    const { answered, calls, shard, letGo, publish: published } = await heldNode()
    await published()
    await expect
      .poll(async () => {
        expect(await answered()).toBe(1)
        return calls
      })
      .toEqual([shard])
    letGo()
    await expect.poll(answered).toBe(2)
    expect(calls).toEqual([shard])
  },
)

test(
  'a file of which nothing was asked of one release is open in the next one too',
  { tags: ['slow'] },
  async () => {
    const later = await laterReleases(2)
    const store = copyOf(released)
    const shards: string[] = []
    const watched = new FaultStore(store, {
      before: ({ path }) => void (path.startsWith(`${releasePrefix(3)}forecaster/`) && shards.push(path)),
    })
    const { client } = await testService({ store: watched, settings: { REFRESH_MS: '500' } })
    await client.get(PATH)
    for (const [index, from] of later.entries()) {
      await publish(2 + index, from, store)
      await expect.poll(() => currentOf(client)).toBe(2 + index)
    }
    const known = [...shards]
    expect(known).toEqual([`${releasePrefix(3)}forecaster/${forecasterId(0)}.json`])
    expect((await client.get(PATH)).json()).toMatchObject({ release: 3 })
    expect(shards).toEqual(known)
  },
)

test('a file that cannot be read keeps no other one from being opened', { tags: ['slow'] }, async () => {
  const [later] = await laterReleases(1)
  const store = copyOf(released)
  const shards: string[] = []
  const failing = new FaultStore(store, {
    before: ({ path }) => {
      const isAgents = path.startsWith(`${releasePrefix(2)}agent/`)
      if (isAgents || path.startsWith(`${releasePrefix(2)}forecaster/`)) shards.push(path)
      if (isAgents) throw new Error('no answer')
    },
  })
  const { client } = await testService({ store: failing, settings: { REFRESH_MS: '500' } })
  // What was asked for last is read first.
  for (const path of [PATH, `/agents/${agentId}/verification`])
    expect((await client.get(path)).status).toBe(200)
  await publish(2, later!, store)
  await expect.poll(() => currentOf(client)).toBe(2)
  const known = [...shards]
  expect(known[0]).toMatch(/agent\//)
  expect((await client.get(PATH)).json()).toMatchObject({ release: 2 })
  expect(shards).toEqual(known)
})

test(
  'a page that was asked for is rendered again before the next release is served',
  { tags: ['slow'] },
  async () => {
    const { client, answered, calls, letGo, publish: published } = await heldNode()
    const page = async () => /release(?:"|&quot;):(\d)/.exec((await client.get(VIEW)).text)![1]
    expect(await page()).toBe('1')
    await published()
    letGo()
    await expect.poll(answered).toBe(2)
    const read = [...calls]
    expect(read.join()).toContain('/scores/')
    expect(await page()).toBe('2')
    expect(calls).toEqual(read)
  },
)

test(
  'scores that were asked for are opened before the next release is served',
  { tags: ['slow'] },
  async () => {
    const { client, answered, calls, letGo, publish: published } = await heldNode()
    const scores = async () =>
      (await client.get(`/forecaster/${forecasterId(0)}/scores`)).json<{ release: number }>().release
    expect(await scores()).toBe(1)
    await published()
    letGo()
    await expect.poll(answered).toBe(2)
    const read = calls.length
    expect(await scores()).toBe(2)
    expect(calls.slice(read)).toEqual([expect.stringMatching(/^range .*\/scores\//)])
  },
)

test(
  'the leaderboard and the history that were asked for are read before the next release is served',
  { tags: ['slow'] },
  async () => {
    const { client, answered, calls, letGo, publish: published } = await heldNode()
    const leaderboard = async () =>
      (await client.get('/leaderboard/forecaster?limit=3')).json<{ release: number }>().release
    const history = async () =>
      (await client.get(`/snapshots/forecaster/${forecasterId(0)}`)).json<{ snapshots: object[] }>().snapshots
    expect(await leaderboard()).toBe(1)
    expect(await history()).toHaveLength(1)
    await published()
    letGo()
    await expect.poll(answered).toBe(2)
    const read = [...calls]
    expect(read.join()).toMatch(/leaderboard\/.*snapshots\//)
    expect(await leaderboard()).toBe(2)
    expect(await history()).toHaveLength(2)
    expect(calls).toEqual(read)
  },
)

test(
  'a store that does not give what was asked for does not keep the next release back for long',
  { tags: ['slow'] },
  async () => {
    const { client, calls, shard, letGo, publish: published } = await heldNode()
    await published()
    await expect.poll(() => currentOf(client)).toBe(2)
    expect(calls).toEqual([shard])
    const waiting = client.get(PATH)
    letGo()
    expect((await waiting).json()).toMatchObject({ release: 2 })
  },
)

test('a shard that is damaged is told of, and the rest is served', { tags: ['slow'] }, async () => {
  const [later] = await laterReleases(1)
  const shard = `${releasePrefix(2)}forecaster/${forecasterId(0)}.json`
  later!.objects.set(shard, later!.objects.get(shard)!.toReversed())
  const store = copyOf(released)
  const { client } = await testService({ store })
  const agent = `/agents/${agentId}/verification`
  for (const path of [PATH, agent]) expect((await client.get(path)).status).toBe(200)
  await publish(2, later!, store)
  const current = async () => (await client.get(agent)).json<{ release: number }>().release
  await expect.poll(current).toBe(2)
  expectProblem(await client.get(PATH), 503, /damaged/)
})
