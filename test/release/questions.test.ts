// What a release says of settled questions, against a plain computation over random worlds.
import { expect, test } from 'vitest'
import { orderEveryone } from '../../pipeline/engine/duckdb-engine.ts'
import { questionFiles } from '../../pipeline/release/files/questions.ts'
import { METHODOLOGY } from '../../pipeline/scoring/methodology.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { compact } from '../../pipeline/tables/compact.ts'
import { currentVersions } from '../../pipeline/tables/delta-log.ts'
import { type QuestionsFile, type QuestionSummary, questionsFile } from '../../schemas/payloads.ts'
import { SCORED_TABLES, type TableName } from '../../schemas/tables.ts'
import { suiteFolder } from '../support/folder.ts'
import { summariesPlainly } from '../support/plain/question-summary.ts'
import type { World } from '../support/plain/world.ts'
import { randomWorld } from '../support/worlds/random-world.ts'
import { asPublished, isHidden, tablesOf } from '../support/worlds/stored-world.ts'
import { openWorker, send } from '../support/tables.ts'

const folder = await suiteFolder()
const PROVENANCE = {
  methodology_version: METHODOLOGY.version,
  release: 1,
  as_of: '1970-01-15T00:00:00.000Z',
  environment: 'production',
} as const

async function filesOf(world: World, name: string): Promise<QuestionsFile[]> {
  const store = new MemoryStore()
  using worker = await openWorker(store, `${folder}/${name}`)
  for (const [table, rows] of Object.entries(tablesOf(world))) {
    if (rows.length > 0) await send(store, table as TableName, 'a', rows)
  }
  for (const table of SCORED_TABLES) await compact(worker, table)
  const context = { ...worker, methodology: METHODOLOGY }
  const asOf = new Date(world.as_of_ms)
  const { entities } = await orderEveryone(context, await currentVersions(store), asOf)
  const files = await Array.fromAsync(
    questionFiles(worker.database, (entity) => entities[entity]!, PROVENANCE),
  )
  return files.map(({ bytes, path, rows, first_id: first }, number) => {
    const file = questionsFile.parse(JSON.parse(new TextDecoder().decode(bytes)))
    expect(path).toBe(`questions/00${number}.json`)
    expect([rows, first]).toEqual([file.questions.length, file.questions[0]!.question_id])
    return file
  })
}

test.each([
  { seed: 1, people: 7, agents: 6, owners: 2, questions: 90, noise: 0.7 },
  { seed: 2, people: 3, agents: 9, owners: 5, questions: 320, noise: 1 },
  { seed: 3, people: 2, agents: 6, owners: 1, questions: 50, noise: 0.3 },
  { seed: 4, people: 0, agents: 8, owners: 0, questions: 40, noise: 0.7 },
  { seed: 5, people: 40, agents: 0, owners: 0, questions: 30, noise: 0.5 },
])(
  'the last forecasts, the ends, the course and the surprise of $questions questions by $people people and $agents agents',
  { tags: ['slow'] },
  async (shape) => {
    const world = asPublished(randomWorld(shape))
    const files = await filesOf(world, String(shape.seed))
    const summaries = files.flatMap(({ questions }) => questions)
    expect(summaries).toEqual(summariesPlainly(world, isHidden))
    expect(files.slice(0, -1).every(({ questions }) => questions.length === 256)).toBe(true)
    const has = (of: (summary: QuestionSummary) => boolean) => summaries.some(of)
    expect(has(({ course }) => course !== null)).toBe(true)
    expect(has(({ withdrawn }) => withdrawn > 0)).toBe(true)
  },
)

test(
  'a question that has not closed is in no file, though its outcome is known',
  { tags: ['slow'] },
  async () => {
    const whole = randomWorld({ seed: 1, people: 7, agents: 6, owners: 2, questions: 90, noise: 0.7 })
    const world = asPublished({ ...whole, as_of_ms: 42 * 86_400_000 })
    const open = world.questions.filter(
      ({ closes_at_ms, outcome }) => outcome !== null && closes_at_ms > world.as_of_ms,
    )
    expect(open.length).toBeGreaterThan(0)
    const files = await filesOf(world, 'open')
    expect(files.flatMap(({ questions }) => questions)).toEqual(summariesPlainly(world, isHidden))
    expect(open.filter(({ id }) => JSON.stringify(files).includes(id))).toEqual([])
  },
)
