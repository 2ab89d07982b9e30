// `fvs stage publish categories`: reads entities by category in order, and puts all boards by category.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileWriter } from 'hyparquet-writer'
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
import { localFile } from '../release/public-tables.ts'
import type { OutputFile } from '../release/shards.ts'
import type { ReleaseContext } from '../release/state.ts'
import { CATEGORIES_PARQUET_PATH } from '../store/paths.ts'
import { attachCurrent } from '../tables/views.ts'
import { type Input, NULL, formatOf, isSet, jsonOf, wholeOf } from './lines.ts'
import { BY_PLACE } from './lists.ts'
import { type Planned, planned, unitsIn } from './planned.ts'
import { entityTypeOf } from './tally.ts'

const COLUMNS = [
  'category',
  'entity_type',
  'again',
  'entity_id',
  'pool_size',
  'pool',
  'value',
  'content',
] as const
const CATEGORIES = formatOf('an entity in a category', COLUMNS, {
  category: 'number',
  entity_type: 'text',
  again: 'number',
  ...BY_PLACE,
})
const AT = CATEGORIES.at

/** Puts the boards, the index and the Parquet file. Yields a line for each, those of a board at once. */
export async function* categoryLines(
  context: ReleaseContext,
  release: number,
  input: Input,
): AsyncIterable<string> {
  const { plan, provenance, put } = await planned(context, release)
  const categories = await plannedCategories(context, plan)
  const location = join(context.directory, 'staged.parquet')
  try {
    const files = new CategoryFiles(categories, provenance, fileWriter(location))
    yield* unitsIn(
      input,
      CATEGORIES,
      (first) => {
        const type = first[AT.entity_type]!
        const [category, entityType] = [wholeOf(first[AT.category]!), entityTypeOf(type)]
        if (!categories[category]) throw new ServiceError('invalid', `there is no category ${category}`)
        const board = files.board(category, entityType)
        let unranked = 0
        let printed = ''
        const putAll = async (pages: readonly OutputFile[]) => {
          for (const page of pages) printed += await put(page)
        }
        return {
          take(fields) {
            const content = fields[AT.content]!
            if (fields[AT.entity_id] === NULL) {
              return files.members({ category, entityType, entities: wholeOf(content) })
            }
            const entry = jsonOf(content) as CategoryEntry
            const isAgain = isSet(fields[AT.again]!)
            unranked += isAgain ? -1 : 1
            return isAgain ? putAll(board.add(entry)) : board.count(entry)
          },
          async end() {
            if (unranked !== 0) {
              throw new ServiceError('invalid', `not every ${type} of category ${category} comes twice`)
            }
            await putAll(board.end())
            return printed
          },
        }
      },
      ['category', 'entity_type'],
    )
    yield await put(files.index(), { categories: files.rows })
    files.endTable()
    yield await put({ path: CATEGORIES_PARQUET_PATH, rows: files.rows, file: await localFile(location) })
  } finally {
    await rm(location, { force: true })
  }
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
