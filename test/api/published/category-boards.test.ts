// The board of a category as JSON: the entries of its files, page by page, in any release that has it.
import { expect } from 'vitest'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { releasePrefix } from '../../../pipeline/store/paths.ts'
import { REFERENCES_PATH } from '../../../pipeline/release/files/references.ts'
import type { CategoriesFile, CategoryBoardEntry, CategoryBoardFile } from '../../../schemas/payloads.ts'
import type { ReferencesFile } from '../../../schemas/references.ts'
import { ENTITY_TYPES, type EntityType } from '../../../schemas/tables.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import { Clock, type TestService, release, testComponents } from '../../support/http/service.ts'
import { expectValid } from '../../support/json-schema.ts'
import { releasePageWorld } from '../../support/worlds/page-world.ts'
import { NOW } from '../../support/worlds/world.ts'

interface Page {
  release: number
  entries: CategoryBoardEntry[]
  next_cursor: string | null
}

const store = new MemoryStore()
let service: TestService
test.beforeAll(async ({ folder, serve }) => {
  const components = await testComponents({ store, folder, clock: new Clock(NOW) })
  await releasePageWorld(components)
  await release(components)
  service = await serve(components)
})

const published = <File>(path: string) =>
  JSON.parse(Buffer.from(store.objects.get(`${releasePrefix(1)}${path}`)!).toString()) as File
const board = (kind: EntityType) =>
  published<CategoryBoardFile>(`categories/000001/${kind}/000000.json`).entries

const get = (kind: EntityType, query: string) =>
  service.client.get(`/leaderboard/${kind}?category=simulated${query}`)

async function page(kind: EntityType, query = ''): Promise<Page> {
  const answer = await get(kind, query)
  expect(answer.status, answer.text).toBe(200)
  expectValid('category-board-page', answer.json())
  expectValid('any-board-page', answer.json())
  return answer.json<Page>()
}

test.for(ENTITY_TYPES)('has every %s of the board once, on pages of any size, in its order', async (kind) => {
  const expected = board(kind)
  expect(expected.length).toBeGreaterThan(1)
  for (const limit of [1, expected.length, 1000]) {
    const seen: CategoryBoardEntry[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const next: Page = await page(kind, `&limit=${limit}${cursor && `&cursor=${cursor}`}`)
      expect(next.entries.length).toBeLessThanOrEqual(limit)
      seen.push(...next.entries)
      cursor = next.next_cursor
    }
    expect(seen).toEqual(expected)
  }
})

test('says that it certifies nobody, and has no name of a person', async () => {
  const { text } = await get('forecaster', '')
  expect(text).toContain('"notice":"A board by category ranks. It certifies nobody."')
  expect(text).not.toContain('"name"')
})

test('an earlier release has its own board, in the same bytes', async () => {
  const [then, now] = [await get('agent', '&release=1'), await get('agent', '')]
  expect(then.json()).toMatchObject({ release: 1, entries: board('agent') })
  expect(now.json()).toMatchObject({ release: 2 })
  for (const { headers } of [then, now]) expect(headers['cache-control']).toBe('public, max-age=60')
  const [first] = [await page('agent', '&release=1&limit=1')]
  expect((await page('agent', `&cursor=${first.next_cursor}`)).release).toBe(1)
})

test('a board has the references of the pools of its ranked entries, and none where nobody is ranked', async () => {
  const { references } = published<ReferencesFile>(REFERENCES_PATH)
  for (const kind of ENTITY_TYPES) {
    for (const [query, category] of [
      ['category=simulated', 'simulated'],
      ['', null],
    ] as const) {
      const answer = (await service.client.get(`/leaderboard/${kind}?${query}`)).json<ReferencesFile>()
      const own = references.filter((row) => row.category === category && row.entity_type === kind)
      expect(own.map(({ reference }) => reference)).toEqual(['always_half', 'base_rate', 'median'])
      expect(answer.references).toEqual(own)
    }
  }
  const nobody = await service.client.get('/leaderboard/agent?q=no%20such%20name')
  expect(nobody.json<ReferencesFile>().references).toEqual([])
})

test('a search finds entries of the board by their names', async () => {
  const [, second] = board('agent') as { agent_id: string; name: string }[]
  const { entries } = await page('agent', `&name=${encodeURIComponent(second!.name)}`)
  expect(entries).toContainEqual(second)
  expect((await page('agent', '&q=no%20such%20name')).entries).toEqual([])
})

test('a board that nobody has enough questions for is empty, in every category without one', async () => {
  const empty = published<CategoriesFile>('categories/index.json').categories.find(
    ({ ranked_agents }) => ranked_agents === 0,
  )!
  const path = `/leaderboard/agent?category=${encodeURIComponent(empty.category)}`
  expect((await service.client.get(path)).json()).toMatchObject({
    category: empty.category,
    entries: [],
    next_cursor: null,
  })
})

test('an unknown category is refused, with where the known ones are', async () => {
  expectProblem(
    await service.client.get('/leaderboard/agent?category=Simulated'),
    404,
    /^no question of release 2 has the category "Simulated": \/view\/topics lists the categories$/,
  )
})
