// The moves on a leaderboard are the differences of the ranks that two releases published, and nothing is
// shown where there is no release a month older, or no files of it.
import { expect } from 'vitest'
import { thinReleases } from '../../../pipeline/release/retention.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { suiteFolder } from '../../support/folder.ts'
import { test } from '../../support/http/fixtures.ts'
import {
  Clock,
  type TestService,
  importRows,
  release,
  startTestService,
  testComponents,
} from '../../support/http/service.ts'
import { copyOf } from '../../support/store-content.ts'
import { NOW, copyReleasedWorld, uuidOf } from '../../support/worlds/world.ts'

const LATER = '2026-04-01T12:00:00.000Z'
const clock = new Clock(NOW)
const folder = await suiteFolder()
const store = new MemoryStore()
const serviceOver = async (over: MemoryStore) =>
  startTestService(await testComponents({ store: over, folder, clock }))
let service: TestService

test.beforeAll(async ({ serve }) => {
  await copyReleasedWorld(store)
  const components = await testComponents({ store, folder, clock })
  clock.set('2026-03-20T12:00:00.000Z')
  await release(components)
  clock.set(LATER)
  // Whoever was the nearest to these outcomes is now the furthest from them.
  const lines = Array.from({ length: 52 }, (_, index) => {
    return `${uuidOf(1, index)},${index % 3 === 0 ? 'no' : 'yes'},2026-02-20T00:00:00.000Z\n`
  })
  await importRows(components, 'resolutions', `question_id,outcome,resolved_at\n${lines.join('')}`)
  await release(components)
  service = await serve(components)
})

async function ranksIn(number: number): Promise<Map<string, number>> {
  const answer = await service.client.get(`/leaderboard/forecaster?release=${number}`)
  const { entries } = answer.json<{ entries: { user_id: string; rank: number | null }[] }>()
  return new Map(entries.flatMap(({ user_id, rank }) => (rank === null ? [] : [[user_id, rank]])))
}

test('each move is the difference of two published ranks, in signs and in words', async () => {
  const [before, now] = [await ranksIn(1), await ranksIn(3)]
  const { text } = await service.client.get('/view/forecasters')
  const rows = new Map(
    Array.from(
      text.matchAll(/<tr><td class="n place">(.*?)<\/td>.*?\/view\/forecasters\/([0-9a-f-]{36})/g),
      ([, cell, id]) => [id!, cell!],
    ),
  )
  expect(rows.size).toBe(now.size)
  const moves = [...now].map(([id, rank]) => [id, before.get(id)! - rank] as const)
  expect(new Set(moves.map(([, up]) => Math.sign(up)))).toEqual(new Set([-1, 1]))
  for (const [id, up] of moves) {
    const [sign, word] = up > 0 ? ['▲', 'up'] : ['▼', 'down']
    if (up === 0) expect(rows.get(id)).not.toMatch(/[▲▼]/)
    else
      expect(rows.get(id)).toContain(
        `>${sign}\u00a0${Math.abs(up)}</span><span class="unseen">${word} ${Math.abs(up)}</span>`,
      )
  }
  expect(text).toContain('places since <a href="/view/releases/1">release 1</a>')
})

test('nothing is shown without a release a month older, or once that is thinned', async () => {
  for (const earlier of [1, 2]) {
    expect((await service.client.get(`/view/forecasters?release=${earlier}`)).text).not.toMatch(/[▲▼]/)
  }
  const thinned = copyOf(store)
  await thinReleases({ store: thinned, now: clock.now, log: () => undefined }, 3, 2)
  const over = await serviceOver(thinned)
  expect((await over.client.get('/view/forecasters')).text).not.toMatch(/[▲▼]/)
  await over.stop()
})
