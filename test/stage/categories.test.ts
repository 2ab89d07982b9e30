// The boards by category of a release in stages, of which no more than a page is held.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileWriter } from 'hyparquet-writer'
import { expect, test } from 'vitest'
import type { CategoryEntry } from '../../pipeline/release/category-boards.ts'
import { ParquetRows } from '../../pipeline/release/rows-parquet.ts'
import { sha256Hex } from '../../pipeline/proof/canonical.ts'
import { publishLines } from '../../pipeline/release/stage/publish.ts'
import { type Input, lineOfFields } from '../../pipeline/release/stage/lines.ts'
import { planStages } from '../../pipeline/release/stage/plan.ts'
import { MemoryStore } from '../../pipeline/store/memory.ts'
import { releasePrefix } from '../../pipeline/store/paths.ts'
import { categoryPath } from '../../pipeline/release/category-boards.ts'
import type { CategoryBoardFile } from '../../schemas/payloads.ts'
import { testFolder } from '../support/folder.ts'
import { testComponents } from '../support/http/service.ts'
import { inputOf, textOf } from '../support/stage-lines.ts'
import { send } from '../support/tables.ts'
import { uuidOf } from '../support/worlds/world.ts'
import { UNTOLD_FACTS } from '../support/worlds/scored-world.ts'

const POOL = uuidOf(2, 0)

/** The lines of one board, best first, each entity with a skill of its own. */
function boardLines(again: 0 | 1, entities: number): string[] {
  return Array.from({ length: entities }, (_, number) => {
    const value = 500_000 - number
    const entityId = uuidOf(2, number)
    const entry: CategoryEntry = {
      entityType: 'forecaster',
      entityId,
      facts: UNTOLD_FACTS,
      pool: POOL,
      pool_size: entities,
      scores: {
        skill: value / 1e6,
        board_interval: { lower: (value - 2) / 1e6, upper: (value + 2) / 1e6 },
        contested_questions: 30,
        resolved_questions: 30,
        brier: 0.2,
        expected_calibration_error: 0.1,
      },
    }
    return lineOfFields([0, 'forecaster', again, entityId, entities, POOL, value, JSON.stringify(entry)])
  })
}

/** The components of a store with a planned release and one category. */
async function plannedRelease() {
  const store = new MemoryStore()
  const at = new Date('2026-01-01T00:00:00.000Z')
  const question = { question_id: uuidOf(1, 0), title: 'a question', category: 'law', opened_at: at }
  await send(store, 'questions', 'a', [
    { ...question, closes_at: new Date(at.getTime() + 1), recorded_at: at },
  ])
  const components = await testComponents({ store })
  await planStages(components, {})
  return { store, components }
}

test('puts each page of a board before it reads the lines after the page', async () => {
  const { store, components } = await plannedRelease()
  const page = (number: number) => store.get(releasePrefix(1) + categoryPath(0, 'forecaster', number))
  const lines = boardLines(1, 250)
  async function* input(): Input {
    yield Buffer.from(boardLines(0, 250).join(''))
    for (const from of [0, 100, 200]) {
      expect(await page(from / 100)).toBeUndefined()
      if (from > 0) expect(await page(from / 100 - 1)).toBeDefined()
      yield Buffer.from(lines.slice(from, from + 100).join(''))
    }
  }
  const printed = await textOf(publishLines(components, { release: 1, files: 'categories' }, input()))
  expect(printed.match(/categories\/[^"]*/g)).toEqual([
    ...[0, 1, 2].map((number) => categoryPath(0, 'forecaster', number)),
    'categories/index.json',
    'categories/boards.parquet',
  ])
  const { entries } = JSON.parse(Buffer.from((await page(1))!).toString()) as CategoryBoardFile
  expect(entries[0]).toMatchObject({ rank: 101, rank_interval: { lower: 97, upper: 105 } })
})

test('refuses a board whose entries do not all come twice', async () => {
  const { components } = await plannedRelease()
  const [counted, ranked] = [boardLines(0, 3), boardLines(1, 3)]
  for (const lines of [counted, ranked, [...counted, ...ranked.slice(1)]]) {
    const published = textOf(
      publishLines(components, { release: 1, files: 'categories' }, inputOf(lines.join(''))),
    )
    await expect(published).rejects.toThrow('not every forecaster of category 0 comes twice')
  }
})

test(
  'a table that goes to a file piece by piece has the bytes of one in memory',
  { tags: ['slow'] },
  async () => {
    const location = join(await testFolder(), 'table.parquet')
    const columns = [{ name: 'entity_id', type: 'STRING' }] as const
    const [inMemory, inFile] = [
      new ParquetRows(columns),
      new ParquetRows(columns, undefined, fileWriter(location)),
    ]
    // More than a megabyte, which is what the writer to a file holds.
    for (let number = 0; number < 30_000; number++) {
      const row = [sha256Hex(Uint8Array.of(number, number >> 8))]
      for (const table of [inMemory, inFile]) table.add(row)
    }
    inFile.end()
    const bytes = inMemory.finish()
    expect(bytes.byteLength).toBeGreaterThan(1_500_000)
    expect(Buffer.compare(await readFile(location), bytes)).toBe(0)
  },
)
