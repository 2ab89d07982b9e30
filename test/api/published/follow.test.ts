// A node follows the store: releases, questions and keys that others wrote, also after the store was away.
import { beforeAll, describe, expect, test } from 'vitest'
import { readManifest, readReleaseShard, shardFile } from '../../../pipeline/release/read.ts'
import { canonical, sha256Hex } from '../../../pipeline/proof/canonical.ts'
import { manifestPath, releasePrefix, shardPath } from '../../../pipeline/store/paths.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { FaultStore, madeByCalls } from '../../support/faults/fault-store.ts'
import {
  Clock,
  bearer,
  importRows,
  registerAgent,
  release,
  testComponents,
  testService,
} from '../../support/http/service.ts'
import { copyOf, setRecord } from '../../support/store-content.ts'
import {
  NOW,
  QUESTION,
  forecasterId,
  copyReleasedWorld,
  releaseWorld,
  uuidOf,
} from '../../support/worlds/world.ts'

const PATH = `/forecaster/${forecasterId(0)}/verification`

/** A store of which a node sees nothing new while it is held. */
function holdable(inner: Store) {
  let gate: PromiseWithResolvers<void> | undefined
  const store = new FaultStore(inner, {
    before: ({ operation }) => (operation === 'range' ? gate?.promise : undefined),
  })
  return {
    store,
    hold: () => {
      gate = Promise.withResolvers()
    },
    letGo: () => gate?.resolve(),
  }
}

/** The released world, for each test to copy. */
let released: MemoryStore
beforeAll(async () => {
  released = new MemoryStore()
  await copyReleasedWorld(released)
})

/** Gives each forecaster a shard of its own in the first release, and returns their ids. */
async function splitForecasters(store: MemoryStore): Promise<string[]> {
  const manifest = (await readManifest(store, 1))!
  const file = shardFile(manifest.files, 'forecaster', forecasterId(0))!
  const shard = await readReleaseShard(store, 1, file)
  const split = Object.entries(shard.entities).map(([id, entity]) => {
    const bytes = canonical({ ...shard, entities: { [id]: entity } })
    const path = shardPath('forecaster', id)
    store.objects.set(releasePrefix(1) + path, bytes)
    return { path, rows: 1, size_bytes: bytes.byteLength, sha256: sha256Hex(bytes) }
  })
  const files = manifest.files.flatMap((other) => (other === file ? split : [other]))
  setRecord(store, manifestPath(1), { ...manifest, files })
  return Object.keys(shard.entities)
}

describe('a node', () => {
  test('serves a release that another process made', { tags: ['slow'] }, async () => {
    const clock = new Clock(NOW)
    const store = new MemoryStore()
    const components = await testComponents({ store, clock })
    const { client } = await testService(await testComponents({ store, clock }))
    expect((await client.get(PATH)).status).toBe(404)
    await releaseWorld(components)
    await expect.poll(async () => (await client.get(PATH)).status).toBe(200)
    const first = await client.get(PATH)
    clock.set('2026-03-01T13:00:00.000Z')
    await release(components)
    await expect.poll(async () => (await client.get(PATH)).json<{ release: number }>().release).toBe(2)
    const second = await client.get(PATH, { 'If-None-Match': first.headers.etag! })
    expect(second.status).toBe(200)
    expect(second.headers.etag).not.toBe(first.headers.etag)
    expect(second.json()).toMatchObject({ as_of: '2026-03-01T13:00:00.000Z' })
  })

  test('beside another shares agents, keys, questions and forecasts with it at once', async () => {
    const store = copyOf(released)
    const clock = new Clock(NOW)
    const [one, two] = [await testService({ store, clock }), await testService({ store, clock })]
    const { agentId, key } = await registerAgent(one.client)
    const answer = await two.client.post(
      `/agents/${agentId}/forecast`,
      { question_id: QUESTION.open, probability: 0.5 },
      bearer(key),
    )
    expect(answer.status).toBe(200)
    expect((await two.client.get(`/agents/${agentId}/verification`)).text).toContain(
      'no release has covered it yet',
    )
  })

  test('sees a resolution, and takes no forecast from then on', { tags: ['slow'] }, async () => {
    const clock = new Clock(NOW)
    const components = await testComponents({ store: copyOf(released), clock })
    const { client } = await testService(components)
    const { agentId, key } = await registerAgent(client)
    const submit = async () =>
      (
        await client.post(
          `/agents/${agentId}/forecast`,
          { question_id: QUESTION.open, probability: 0.5 },
          bearer(key),
        )
      ).status
    expect(await submit()).toBe(200)
    await importRows(
      components,
      'resolutions',
      `question_id,outcome,resolved_at\n${QUESTION.open},no,${NOW}\n`,
    )
    await expect.poll(submit).toBe(409)
    expect((await client.get(`/questions/${QUESTION.open}`)).json()).toMatchObject({
      status: 'resolved',
      outcome: 'no',
    })
  })

  test(
    'sees that a resolution was withdrawn: the question takes forecasts again, and what stood stands',
    { tags: ['slow'] },
    async () => {
      const clock = new Clock(NOW)
      const components = await testComponents({ store: copyOf(released), clock })
      const { client } = await testService(components)
      const { agentId, key } = await registerAgent(client)
      const submit = (probability: number) =>
        client.post(`/agents/${agentId}/forecast`, { question_id: QUESTION.open, probability }, bearer(key))
      const standing = async () =>
        (await client.get(`/agents/${agentId}/forecasts`, bearer(key)))
          .json<{ forecasts: { probability: number }[] }>()
          .forecasts.map(({ probability }) => probability)
      const resolve = (outcome: string) => {
        clock.set(new Date(clock.now().getTime() + 60_000).toISOString())
        const line = `${QUESTION.open},${outcome},${clock.now().toISOString()}`
        return importRows(components, 'resolutions', `question_id,outcome,resolved_at\n${line}\n`)
      }
      expect((await submit(0.25)).status).toBe(200)
      await resolve('yes')
      await expect.poll(async () => (await submit(0.5)).json()['type']).toBe('/problems/question-resolved')
      await expect.poll(standing).toEqual([])
      await resolve('open')
      const question = async () => (await client.get(`/questions/${QUESTION.open}`)).json()
      await expect.poll(question).toMatchObject({ status: 'open', outcome: null, resolved_at: null })
      await expect.poll(standing).toEqual([0.25])
      expect((await submit(0.75)).status).toBe(200)
      await expect.poll(standing).toEqual([0.75])
      const page = (await client.get(`/view/questions/${QUESTION.open}`)).text
      expect(page).toMatch(
        /What was changed.*<td>outcome<\/td><td><bdi>yes<\/bdi><\/td><td><bdi>open<\/bdi><\/td>/s,
      )
    },
  )

  test(
    'shows the snapshots of all days although it learns of their releases at once',
    { tags: ['slow'] },
    async () => {
      const clock = new Clock(NOW)
      const store = copyOf(released)
      const components = await testComponents({ store, clock })
      const held = holdable(store)
      const { client } = await testService({ store: held.store, clock })
      const history = async () =>
        (await client.get(`/snapshots/forecaster/${forecasterId(0)}`))
          .json<{ snapshots: { date: string }[] }>()
          .snapshots.map(({ date }) => date)
      expect(await history()).toEqual(['2026-03-01'])
      held.hold()
      for (const day of ['2026-03-02', '2026-03-03']) {
        clock.set(`${day}T00:00:00.000Z`)
        await release(components)
      }
      await release(components)
      held.letGo()
      await expect.poll(history).toEqual(['2026-03-01', '2026-03-02', '2026-03-03'])
    },
  )

  test(
    'serves what it knows while the store is away, counts that, and catches up',
    { tags: ['slow'] },
    async () => {
      const clock = new Clock(NOW)
      const store = copyOf(released)
      const components = await testComponents({ store, clock })
      let away = false
      const flaky = new FaultStore(store, {
        before: () => {
          if (away) throw new Error('away')
        },
      })
      const { client } = await testService({ store: flaky, clock })
      const before = await client.get(PATH)
      away = true
      const failures = async () =>
        Number(
          /^fvs_refresh_failures_total\{environment="production"\} (\d+)$/m.exec(
            (await client.get('/metrics')).text,
          )?.[1],
        )
      await expect.poll(failures).toBeGreaterThan(0)
      expect((await client.get(PATH)).bytes).toEqual(before.bytes)
      await release(components)
      await importRows(
        components,
        'questions',
        `question_id,title,opened_at,closes_at\n${uuidOf(5, 1)},t,2026-01-01T00:00:00Z,2027-01-01T00:00:00Z\n`,
      )
      away = false
      await expect.poll(async () => (await client.get(PATH)).json<{ release: number }>().release).toBe(2)
      await expect.poll(async () => (await client.get(`/questions/${uuidOf(5, 1)}`)).status).toBe(200)
    },
  )

  test(
    'reads the questions again when it has seen a change and failed to read it',
    { tags: ['slow'] },
    async () => {
      const store = copyOf(released)
      const components = await testComponents({ store, clock: new Clock('2026-03-01T14:00:00.000Z') })
      let failures = 0
      let failing = false
      const flaky = new FaultStore(store, {
        before: ({ operation, path }) => {
          if (!failing || operation !== 'range' || !path.startsWith('tables/questions/')) return
          failures += 1
          failing = failures < 3
          throw new Error('reset by peer')
        },
      })
      const { client } = await testService({ store: flaky })
      failing = true
      const line = `${uuidOf(5, 1)},t,2026-01-01T00:00:00Z,2027-01-01T00:00:00Z`
      await importRows(components, 'questions', `question_id,title,opened_at,closes_at\n${line}\n`)
      await expect.poll(async () => (await client.get(`/questions?limit=1000`)).text).toContain(uuidOf(5, 1))
      expect(failures).toBe(3)
    },
  )

  test('reads a shard once for any number of payloads, and a question book once per change', async () => {
    const store = copyOf(released)
    const counting = new FaultStore(store)
    const { client } = await testService({ store: counting, settings: { REFRESH_MS: '60000' } })
    counting.calls.length = 0
    const paths = Array.from({ length: 6 }, (_, index) => `/forecaster/${forecasterId(index)}`).flatMap(
      (path) => [`${path}/verification`, `${path}/metrics`, `${path}/rankings`],
    )
    await Promise.all([...paths, ...paths].map((path) => client.get(path)))
    await Promise.all(Array.from({ length: 20 }, () => client.get(`/questions/${QUESTION.open}`)))
    expect(madeByCalls(counting).map(({ operation, path }) => `${operation} ${path}`)).toEqual([
      `get releases/00000001/forecaster/${forecasterId(0)}.json`,
    ])
  })

  test('with a cache too small for a shard serves it all the same', { tags: ['slow'] }, async () => {
    const store = copyOf(released)
    for (const SHARD_CACHE_BYTES of ['0', '10']) {
      const { client } = await testService({ store, settings: { SHARD_CACHE_BYTES } })
      expect((await client.get(PATH)).status).toBe(200)
      expect((await client.get(`/snapshots/forecaster/${forecasterId(0)}`)).status).toBe(200)
    }
  })

  test('with a cache too small for the shards that are read at once answers for all of them', async () => {
    const store = copyOf(released)
    const ids = await splitForecasters(store)
    // Enough for the first that is read, and not for the second beside it.
    const { client } = await testService({ store, settings: { SHARD_CACHE_BYTES: '20000' } })
    const answer = await client.post('/verification/bulk', { entity_type: 'forecaster', ids })
    expect(answer.status).toBe(200)
    const { results } = answer.json<{ results: { status: string }[] }>()
    expect(results.map(({ status }) => status)).toEqual(ids.map(() => 'ok'))
  })
})
