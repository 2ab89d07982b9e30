// The tables of a settled question as CSV: all answers with the numbers of their scores, and nothing of any
// question that is not settled.
import { expect } from 'vitest'
import type { Components } from '../../../jobs/components/components.ts'
import { ANSWER_NUMBERS, answersOn } from '../../../pipeline/release/answers.ts'
import { readManifest } from '../../../pipeline/release/read.ts'
import { MemoryStore } from '../../../pipeline/store/memory.ts'
import { releasePrefix } from '../../../pipeline/store/paths.ts'
import { questionsPath } from '../../../pipeline/release/files/questions.ts'
import type { QuestionScore } from '../../../schemas/answers.ts'
import type { LeaderboardFile, QuestionsFile } from '../../../schemas/payloads.ts'
import { expectProblem } from '../../support/http/problem.ts'
import { test } from '../../support/http/fixtures.ts'
import { Clock, type TestService, release, testComponents } from '../../support/http/service.ts'
import { releasePageWorld } from '../../support/worlds/page-world.ts'
import { NOW, QUESTION, uuidOf } from '../../support/worlds/world.ts'

const SETTLED = uuidOf(1, 1)
const { resolved: _settled, ...UNSETTLED } = QUESTION

const store = new MemoryStore()
let components: Components
let service: TestService
test.beforeAll(async ({ folder, serve }) => {
  components = await testComponents({ store, folder, clock: new Clock(NOW) })
  await releasePageWorld(components)
  await release(components)
  service = await serve(components)
})

async function table(name: string, question = SETTLED): Promise<string[][]> {
  const { status, headers, text } = await service.client.get(`/view/questions/${question}/${name}.csv`)
  expect(status, text).toBe(200)
  expect(headers['content-disposition']).toBe(`attachment; filename="${name}-${question}.csv"`)
  return text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
}

const summary = () => {
  const bytes = store.objects.get(releasePrefix(2) + questionsPath(0))!
  const { questions } = JSON.parse(Buffer.from(bytes).toString()) as QuestionsFile
  return questions.find(({ question_id }) => question_id === SETTLED)!
}

/** The lines that the scores of every entity make, by kind and id. */
async function expectedAnswers(): Promise<string[][]> {
  const lines: string[][] = []
  for (const [kind, path] of [
    ['agent', '/agents/'],
    ['forecaster', '/forecaster/'],
  ] as const) {
    const board = await service.client.get(`/leaderboard/${kind}?limit=1000`)
    const ids = board
      .json<LeaderboardFile>()
      .entries.map((entry) => ('agent_id' in entry ? entry.agent_id : entry.user_id))
    for (const id of ids.toSorted()) {
      const answer = await service.client.get(`${path}${id}/scores?limit=1000`)
      const own = answer
        .json<{ scores: QuestionScore[] }>()
        .scores.find(({ question_id }) => question_id === SETTLED)
      if (own) lines.push([kind, id, ...ANSWER_NUMBERS.map((name) => String(own[name] ?? ''))])
    }
  }
  return lines
}

test('every answer is a line, by kind and id, with the numbers of its score', async () => {
  const [head, ...lines] = await table('answers')
  expect(head).toEqual(['entity_type', 'entity_id', ...ANSWER_NUMBERS])
  const expected = await expectedAnswers()
  expect(new Set(expected.map(([kind]) => kind))).toEqual(new Set(['agent', 'forecaster']))
  expect(lines).toEqual(expected)
})

test.for([1, 2, 7])('groups of %i have the same answers in the same order', async (atOnce) => {
  const manifest = (await readManifest(store, 1))!
  const groups = (most?: number) =>
    Array.fromAsync(answersOn(components, manifest, SETTLED, (query) => query(), most))
  const some = await groups(atOnce)
  expect(some.every(({ length }) => length <= atOnce)).toBe(true)
  expect(some.flat()).toEqual((await groups()).flat())
})

test('the steps of the last forecasts and the course of the average are those of the page', async () => {
  const { crowd, course } = summary()
  const [, ...steps] = await table('last-forecasts')
  expect(steps.map(([, , forecasts]) => Number(forecasts))).toEqual(crowd!.counts)
  expect([steps[0]![0], steps.at(-1)![1]]).toEqual(['0', '1'])
  const [, ...instants] = await table('course')
  expect(instants.map(([, average]) => (average === '' ? null : Number(average)))).toEqual(course ?? [])
})

test('the page of a settled question leads to its tables, and no other page of a question does', async () => {
  const pageOf = async (id: string) => (await service.client.get(`/view/questions/${id}`)).text
  expect(await pageOf(SETTLED)).toContain(`href="/view/questions/${SETTLED}/answers.csv"`)
  for (const id of Object.values(UNSETTLED)) expect(await pageOf(id)).not.toContain('.csv"')
})

test.for(Object.entries(UNSETTLED))('a question that is %s has no table', async ([, id]) => {
  for (const name of ['answers', 'last-forecasts', 'course']) {
    const answer = await service.client.get(`/view/questions/${id}/${name}.csv`)
    expectProblem(answer, 404, /^there is no table of the question \S+\. /)
  }
})

test('all scores that are looked through count as calls, at four megabytes each, besides the call and one more', async () => {
  const before = await service.client.get('/view/questions')
  const left = (headers: Record<string, unknown>) => Number(/r=(\d+)/.exec(String(headers['ratelimit']))![1])
  const after = await service.client.get(`/view/questions/${SETTLED}/answers.csv`)
  expect(left(before.headers) - left(after.headers)).toBe(2)
})
