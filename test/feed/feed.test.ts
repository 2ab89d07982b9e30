// The feed: whatever happens is told once and in order, whoever writes it and wherever a writer
// ends.
import { beforeEach, describe, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { runUndo } from '../../jobs/import/imports.ts'
import { Feed } from '../../pipeline/feed/feed.ts'
import { FeedWriter, MOST_AT_ONCE } from '../../pipeline/feed/writer.ts'
import { thinReleases } from '../../pipeline/release/retention.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { importIdOf } from '../../pipeline/tables/import-id.ts'
import type { FeedEvent } from '../../schemas/feed.ts'
import { FAULTS, FaultStore } from '../support/faults/fault-store.ts'
import { suiteFolder } from '../support/folder.ts'
import { expectValid } from '../support/json-schema.ts'
import { pointersOf } from '../support/http/problem.ts'
import { Clock, importRows, release, testComponents, testService } from '../support/http/service.ts'
import { copyOf } from '../support/store-content.ts'
import { copyReleasedWorld, uuidOf } from '../support/worlds/world.ts'

const folder = await suiteFolder()
const START = '2026-03-01T12:00:00.000Z'
const clock = new Clock(START)
let store: MemoryStore
let components: Components

beforeEach(async () => {
  clock.set(START)
  store = new MemoryStore()
  components = await testComponents({ store, folder, clock })
})

const write = (by: Components = components, mostAtOnce?: number) => new FeedWriter(by, mostAtOnce).write()
/** Every event of the feed, a page of `limit` at a time. */
async function told(limit = 1000, from: MemoryStore = store): Promise<FeedEvent[]> {
  const feed = new Feed(from, clock.now)
  const all: FeedEvent[] = []
  for (let after: string | undefined; ;) {
    const { events, next } = await feed.after(after, limit)
    if (events.length === 0) return all
    all.push(...events)
    after = next
  }
}
const typesOf = (events: readonly FeedEvent[]) => events.map(({ type }) => type)
const id = (n: number) => uuidOf(50, n)
const HEAD = 'question_id,title,category,opened_at,closes_at'
const questions = (...lines: string[]) =>
  importRows(components, 'questions', `${[HEAD, ...lines].join('\n')}\n`)
const resolve = (line: string) =>
  importRows(components, 'resolutions', `question_id,outcome,resolved_at\n${line}\n`)
const pass = async (at: string) => {
  clock.set(at)
  await write()
}

describe('the feed', () => {
  test('tells the life of a question', { tags: ['slow'] }, async () => {
    await write()
    await questions(
      `${id(1)},Open already?,weather,2026-01-01T00:00:00Z,2026-04-01T00:00:00Z`,
      `${id(2)},Opens later?,,2026-03-02T00:00:00Z,2026-03-03T00:00:00Z`,
      `${id(3)},Over long ago?,,2025-01-01T00:00:00Z,2025-02-01T00:00:00Z`,
    )
    await write()
    await pass('2026-03-02T06:00:00.000Z')
    await questions(`${id(1)},Open still?,weather,2026-01-01T00:00:00Z,2026-05-01T00:00:00Z`)
    await write()
    await pass('2026-03-03T00:00:00.000Z')
    await resolve(`${id(2)},no,2026-03-03T00:00:00Z`)
    await write()
    await resolve(`${id(2)},yes,2026-03-03T00:00:00Z`)
    await resolve(`${id(2)},open,2026-03-03T00:00:00Z`)
    await write()
    const events = await told()
    expect(events).toMatchObject([
      { type: 'question.opened', question_id: id(1), title: 'Open already?', category: 'weather' },
      { type: 'question.opened', question_id: id(2), at: '2026-03-02T00:00:00.000Z' },
      {
        type: 'question.changed',
        question_id: id(1),
        changes: {
          title: { from: 'Open already?', to: 'Open still?' },
          closes_at: { from: '2026-04-01T00:00:00.000Z', to: '2026-05-01T00:00:00.000Z' },
        },
      },
      { type: 'question.closed', question_id: id(2), at: '2026-03-03T00:00:00.000Z' },
      { type: 'question.resolved', question_id: id(2), outcome: 'no' },
      { type: 'question.corrected', question_id: id(2), from: 'no', to: 'yes' },
      { type: 'question.corrected', question_id: id(2), from: 'yes', to: 'open' },
    ])
    expect(new Set(events.map((event) => event.id)).size).toBe(events.length)
  })

  test('tells nothing twice where the clock is set back', { tags: ['slow'] }, async () => {
    await questions(`${id(1)},Open soon?,,2026-03-01T12:30:00Z,2026-04-01T00:00:00Z`)
    await write()
    await pass('2026-03-01T13:00:00.000Z')
    await questions(`${id(2)},Open later?,,2026-03-02T00:00:00Z,2026-04-01T00:00:00Z`)
    await pass('2026-03-01T12:10:00.000Z')
    await pass('2026-03-01T13:10:00.000Z')
    expect(typesOf(await told())).toEqual(['question.opened'])
  })

  test('tells of releases, and whose certification has changed', { tags: ['slow'] }, async () => {
    await write()
    await copyReleasedWorld(store)
    await write()
    const events = await told()
    const [first] = events.filter(({ type }) => type === 'release.published')
    expect(first).toMatchObject({ release: 1, certifications_known: true })
    const changed = events.filter((event) => event.type === 'certification.changed')
    expect(changed.length).toBeGreaterThan(0)
    for (const { from, to } of changed) {
      expect(from).toBeNull()
      expect(to).toMatch(/^\w+$/)
    }
    const before = events.length
    clock.set('2026-03-02T12:00:00.000Z')
    await release(components, {})
    await write()
    expect(typesOf((await told()).slice(before))).toContain('release.published')
  })

  test('says so where the release before was thinned', { tags: ['slow'] }, async () => {
    await copyReleasedWorld(store)
    await write()
    clock.set('2026-03-02T12:00:00.000Z')
    await release(components, {})
    await thinReleases(components, 2, 1)
    await write(await testComponents({ store, folder, clock }))
    expect(await told()).toContainEqual(
      expect.objectContaining({ type: 'release.published', release: 2, certifications_known: false }),
    )
  })

  test(
    'tells what an undone import takes back, with the release that leaves it out',
    { tags: ['slow'] },
    async () => {
      await questions(`${id(1)},Was it?,,2026-01-01T00:00:00Z,2026-02-01T00:00:00Z`)
      await questions(`${id(2)},By mistake?,,2026-01-01T00:00:00Z,2026-04-01T00:00:00Z`)
      const { import_id: outcome } = (await resolve(`${id(1)},yes,2026-02-01T00:00:00Z`)) as {
        import_id: string
      }
      await release(components, {})
      await write()
      await runUndo(components, importIdOf(outcome), 'the wrong file')
      await runUndo(components, importIdOf('questions-2'), 'the wrong file')
      clock.set('2026-03-01T13:00:00.000Z')
      await release(components, {})
      await write()
      expect(await told()).toMatchObject([
        { type: 'question.corrected', question_id: id(1), from: 'yes', to: 'open', reason: 'the wrong file' },
        { type: 'question.removed', question_id: id(2), reason: 'the wrong file' },
        { type: 'release.published', release: 2 },
      ])
    },
  )

  test(
    'tells what came, went and came again since the last write, each in its turn',
    { tags: ['slow'] },
    async () => {
      await questions(`${id(1)},Kept?,,2026-01-01T00:00:00Z,2026-04-01T00:00:00Z`)
      await write()
      await questions(`${id(2)},By mistake?,,2026-01-01T00:00:00Z,2026-04-01T00:00:00Z`)
      await runUndo(components, importIdOf('questions-2'), 'the wrong file')
      clock.set('2026-03-01T13:00:00.000Z')
      await release(components, {})
      clock.set('2026-03-01T14:00:00.000Z')
      await questions(`${id(2)},On purpose?,,2026-01-01T00:00:00Z,2026-04-02T00:00:00Z`)
      await write()
      const events = await told()
      expect(events.filter(({ type }) => type.startsWith('question.'))).toMatchObject([
        { type: 'question.opened', question_id: id(2), closes_at: '2026-04-01T00:00:00.000Z' },
        { type: 'question.removed', question_id: id(2), reason: 'the wrong file' },
        { type: 'question.opened', question_id: id(2), closes_at: '2026-04-02T00:00:00.000Z' },
      ])
      expect(typesOf(events).at(-1)).toBe('release.published')
    },
  )

  test('tells a large import a part at a time, all of it', { tags: ['slow'] }, async () => {
    await write()
    const count = 2 * MOST_AT_ONCE + 1
    await questions(
      ...Array.from(
        { length: count },
        (_, n) => `${id(n)},Q ${n}?,,2026-01-01T00:00:00Z,2026-03-02T00:00:00Z`,
      ),
    )
    await write()
    await pass('2026-03-02T00:00:00.000Z')
    const events = await told()
    expect(typesOf(events)).toEqual([
      ...Array<string>(count).fill('question.opened'),
      ...Array<string>(count).fill('question.closed'),
    ])
    expect(await new Feed(store, clock.now).last()).toBe(7)
    expect(await told(7)).toEqual(events)
  })
})

describe('writers', () => {
  test('that write at once write one feed', { tags: ['slow'] }, async () => {
    await write()
    await questions(...[1, 2, 3].map((n) => `${id(n)},Q?,,2026-01-01T00:00:00Z,2026-03-02T00:00:00Z`))
    await resolve(`${id(1)},no,2026-02-01T00:00:00Z`)
    clock.set('2026-03-02T00:00:00.000Z')
    await Promise.all([write(), write(), write()])
    expect(typesOf(await told())).toEqual([
      ...Array<string>(3).fill('question.opened'),
      'question.resolved',
      ...Array<string>(3).fill('question.closed'),
    ])
  })

  test.for(FAULTS)(
    'that end at a write that %s are followed by others without a gap',
    { tags: ['slow'] },
    async (fault) => {
      await write()
      await questions(...[1, 2].map((n) => `${id(n)},Q?,,2026-01-01T00:00:00Z,2026-03-02T00:00:00Z`))
      await resolve(`${id(1)},no,2026-02-01T00:00:00Z`)
      clock.set('2026-03-02T00:00:00.000Z')
      const whole = copyOf(store)
      await write(await testComponents({ store: whole, folder, clock }), 2)
      const expected = await told(1000, whole)
      expect(expected).toHaveLength(5)
      for (let at = 1; at <= 3; at++) {
        const cut = copyOf(store)
        const failing = new FaultStore(cut, { at, fault, crash: true })
        await expect(write(await testComponents({ store: failing, folder, clock }), 2)).rejects.toMatchObject(
          {
            kind: 'unavailable',
          },
        )
        await write(await testComponents({ store: cut, folder, clock }), 2)
        expect(await told(1000, cut)).toEqual(expected)
      }
    },
  )
})

describe('GET /feed', () => {
  test('answers pages whose cursors stay good', { tags: ['slow'] }, async () => {
    await write()
    await questions(...[1, 2, 3].map((n) => `${id(n)},Q?,,2026-01-01T00:00:00Z,2026-03-02T00:00:00Z`))
    await write()
    const { client } = await testService(components)
    const page = async (query = '') => {
      const answer = await client.get(`/feed${query}`)
      expect(answer.status, answer.text).toBe(200)
      expectValid('feed-page', answer.json())
      return answer.json<{ events: FeedEvent[]; next: string }>()
    }
    const end = await page('?after=end')
    expect(end).toEqual({ events: [], next: '3_0' })
    const first = await page('?limit=2')
    expect(first.events.map((event) => event.id)).toEqual(['2_0', '2_1'])
    expect((await page(`?after=${first.next}`)).events.map((event) => event.id)).toEqual(['2_2'])
    await pass('2026-03-02T00:00:00.000Z')
    expect(typesOf((await page(`?after=${end.next}`)).events)).toEqual(Array(3).fill('question.closed'))
    expect((await page(`?after=${first.next}`)).events).toHaveLength(4)
    for (const wrong of ['9_0', '2_9', '0_0', 'x', '1_0_0']) {
      expect(pointersOf(await client.get(`/feed?after=${wrong}`))).toEqual(['/after'])
    }
  })
})
