// `fvs stage publish categories`: reads entities by category in order, and puts all boards by category.
import { ServiceError } from '../../schemas/errors.ts'
import { withDatabase } from '../duckdb.ts'
import { createQuestions } from '../engine/queries.ts'
import {
  type CategoryEntry,
  CategoryFiles,
  type CategoryQuestions,
  categoriesAt,
} from '../release/categories.ts'
import { versionsOf } from '../release/plan.ts'
import type { OutputFile } from '../release/shards.ts'
import type { ReleaseContext } from '../release/state.ts'
import { CATEGORIES_PATH } from '../store/paths.ts'
import { attachCurrent } from '../tables/views.ts'
import {
  type Fields,
  type Format,
  type Input,
  NULL,
  inOrderOf,
  jsonOf,
  linesIn,
  strictly,
  wholeOf,
} from './lines.ts'
import { type Planned, planned } from './planned.ts'
import { entityTypeOf } from './tally.ts'

const COLUMNS = ['category', 'entity_type', 'entity_id', 'content'] as const
const CATEGORIES: Format = {
  of: 'an entity in a category',
  columns: COLUMNS,
  compare: strictly(inOrderOf(COLUMNS, { category: 'number', entity_type: 'text', entity_id: 'text' })),
}

/** Puts the boards, the index and the Parquet file. Yields a line for each. */
export async function* categoryLines(
  context: ReleaseContext,
  release: number,
  input: Input,
): AsyncIterable<string> {
  const { plan, provenance, put } = await planned(context, release)
  const categories = await plannedCategories(context, plan)
  const files = new CategoryFiles(categories, provenance)
  const putAll = async (made: Iterable<OutputFile>) => {
    let lines = ''
    for (const file of made) {
      lines += await put(file, file.path === CATEGORIES_PATH ? { categories: files.rows } : {})
    }
    return lines
  }
  let first: Fields | undefined
  let entries: CategoryEntry[] = []
  const end = (): Promise<string> => {
    if (entries.length === 0) return Promise.resolve('')
    const board = files.board(wholeOf(first![0]!), entityTypeOf(first![1]!), entries)
    entries = []
    return putAll(board)
  }
  for await (const lines of linesIn(input, CATEGORIES)) {
    for (const fields of lines) {
      const [category, entityType, entityId, content] = fields as [string, string, string, string]
      if (!categories[wholeOf(category)])
        throw new ServiceError('invalid', `there is no category ${category}`)
      if (first?.[0] !== category || first[1] !== entityType) {
        yield await end()
        first = fields
      }
      if (entityId !== NULL) entries.push(jsonOf(content) as CategoryEntry)
      else {
        files.members({
          category: wholeOf(category),
          entityType: entityTypeOf(entityType),
          entities: wholeOf(content),
        })
      }
    }
  }
  yield await end()
  yield await putAll(files.ends())
}

/** Returns the categories of the tables of a plan. */
export async function plannedCategories(
  { store, local, openDatabase }: ReleaseContext,
  plan: Planned['plan'],
): Promise<CategoryQuestions[]> {
  const versions = await versionsOf(store, plan)
  return withDatabase(openDatabase, (database) =>
    local.reading(async () => {
      for (const table of ['questions', 'resolutions'] as const) {
        await attachCurrent(database, local, { ...versions[table], table })
      }
      await createQuestions(database, new Date(plan.as_of))
      return categoriesAt(database)
    }),
  )
}
