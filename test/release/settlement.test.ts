// A question whose outcome comes before its close counts in the numbers of entities from its close on, which
// comes without any new row.
import { beforeAll, expect, test } from 'vitest'
import type { Components } from '../../jobs/components/components.ts'
import { auditRelease } from '../../pipeline/audit/release.ts'
import { readManifest } from '../../pipeline/release/read.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { suiteFolder } from '../support/folder.ts'
import { Clock, SECRET, importRows, release, testComponents } from '../support/http/service.ts'
import { copyOf, recordIn } from '../support/store-content.ts'
import { FORECASTERS, NOW, copyReleasedWorld, csvOf, forecasterId, uuidOf } from '../support/worlds/world.ts'

const QUESTION = uuidOf(1, 2000)
const CLOSES = '2026-03-01T18:00:00.000Z'
const people = Array.from({ length: FORECASTERS }, (_, index) => forecasterId(index))

const folder = await suiteFolder()
/** Two releases: the second knows the outcome, and the question has not closed. */
const ended = new MemoryStore()

const on = (store: MemoryStore, at: string): Promise<Components> =>
  testComponents({ store, folder, clock: new Clock(at) })

/** The verification of a person in a release. */
async function verificationOf(store: MemoryStore, number: number, who: string) {
  const { files } = (await readManifest(store, number))!
  const { path } = files.find((file) => file.path.startsWith('forecaster/'))!
  const { entities } = recordIn(store, releasePrefix(number) + path) as {
    entities: Record<string, { verification: { payload: Record<string, number> } }>
  }
  return entities[who]!.verification.payload
}

beforeAll(async () => {
  await copyReleasedWorld(ended)
  const components = await on(ended, NOW)
  const question = `question_id,title,opened_at,closes_at\n${QUESTION},Before six?,2026-01-01T00:00:00Z,${CLOSES}\n`
  await importRows(components, 'questions', question)
  const lines = people.map((id) => `forecaster,${id},${QUESTION},0.8,2026-01-02T00:00:00Z`)
  await importRows(components, 'forecasts', csvOf(lines))
  const outcome = `question_id,outcome,resolved_at\n${QUESTION},yes,2026-03-01T11:00:00Z\n`
  await importRows(components, 'resolutions', outcome)
  await release(components)
})

test('until then its pairs stand in the scores, and count for nothing', async () => {
  const [before, after] = await Promise.all([1, 2].map((number) => verificationOf(ended, number, people[0]!)))
  expect([before!['pending_questions'], after!['pending_questions']]).toEqual([0, 1])
  for (const name of ['resolved_questions', 'contested_questions', 'skill', 'evidence']) {
    expect(after![name], name).toBe(before![name])
  }
  const { questions, next_change_at } = (await readManifest(ended, 2))!
  expect([questions.early, next_change_at]).toEqual([1, CLOSES])
})

test(
  'a run before the close has nothing to release, and one at the close has',
  { tags: ['slow'] },
  async () => {
    const store = copyOf(ended)
    const wanted = { ifChanged: true }
    expect(await release(await on(store, '2026-03-01T17:59:59.999Z'), wanted)).toMatchObject({ made: false })
    expect(await release(await on(store, CLOSES), wanted)).toMatchObject({ made: true, release: 3 })
    const settled = await verificationOf(store, 3, people[0]!)
    expect([settled['pending_questions'], settled['contested_questions']]).toEqual([0, 53])
    expect((await readManifest(store, 3))!.next_change_at).toBeNull()
    expect(await release(await on(store, '2026-03-01T19:00:00.000Z'), wanted)).toMatchObject({ made: false })
  },
)

test('an audit derives the release at the close', { tags: ['slow'] }, async () => {
  const store = copyOf(ended)
  await release(await on(store, CLOSES))
  const components = await on(store, CLOSES)
  using database = await components.openDatabase()
  const { faults } = await auditRelease({ ...components, database, secrets: [SECRET] }, 3)
  expect(faults).toEqual([])
})

test(
  'a release says of each category how its questions stand, and since when the oldest is overdue',
  { tags: ['slow'] },
  async () => {
    const store = new MemoryStore()
    await copyReleasedWorld(store)
    const components = await on(store, NOW)
    const line = (number: number, category: string, closes: string) =>
      `${uuidOf(1, 3000 + number)},Will it?,${category},2026-01-01T00:00:00Z,${closes}`
    const lines = [
      line(1, 'a', '2026-02-20T00:00:00Z'),
      line(2, 'a', '2026-02-10T00:00:00Z'),
      line(3, 'a', '2026-04-01T00:00:00Z'),
      line(4, 'b', '2026-04-01T00:00:00Z'),
      line(5, 'b', '2026-04-01T00:00:00Z'),
      line(6, 'b', '2026-02-01T00:00:00Z'),
    ]
    await importRows(
      components,
      'questions',
      ['question_id,title,category,opened_at,closes_at', ...lines, ''].join('\n'),
    )
    const outcomes = [
      `${uuidOf(1, 3005)},yes,2026-02-25T00:00:00Z`,
      `${uuidOf(1, 3006)},annulled,2026-02-25T00:00:00Z`,
    ]
    await importRows(
      components,
      'resolutions',
      ['question_id,outcome,resolved_at', ...outcomes, ''].join('\n'),
    )
    await release(components)
    const { categories, ...all } = (await readManifest(store, 2))!.questions
    const none = { open: 0, overdue: 0, oldest_overdue_at: null, annulled: 0, early: 0 }
    expect(categories!.filter(({ category }) => category === 'a' || category === 'b')).toEqual([
      { ...none, category: 'a', open: 1, overdue: 2, oldest_overdue_at: '2026-02-10T00:00:00.000Z' },
      { ...none, category: 'b', open: 1, annulled: 1, early: 1 },
    ])
    for (const state of ['open', 'overdue', 'annulled', 'early'] as const) {
      expect(
        categories!.reduce((sum, one) => sum + one[state], 0),
        state,
      ).toBe(all[state])
    }
  },
)
