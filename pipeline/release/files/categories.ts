// Boards by category: pages of JSON, an index of the categories, and one Parquet file of all boards.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileWriter } from 'hyparquet-writer'
import { ServiceError } from '../../../schemas/errors.ts'
import { BY_PLACE } from '../board-order.ts'
import {
  CATEGORIES_FOLDER,
  CATEGORIES_PARQUET_PATH,
  CATEGORIES_PATH,
  type CategoryEntry,
  CategoryFiles,
  categoryBoards,
  categoryMembers,
} from '../category-boards.ts'
import type { OutputFile } from '../output.ts'
import { isListed } from '../payloads.ts'
import { localFile } from '../public-tables.ts'
import { type Fields, type Input, NULL, formatOf, isSet, jsonInField, wholeOf } from '../stage/lines.ts'
import { plannedCategories } from '../stage/planned-categories.ts'
import type { Publishing } from '../stage/publishing.ts'
import { stagedRows } from '../stage/staged-files.ts'
import { entityTypeOf } from '../stage/tally.ts'
import { unitsIn } from '../stage/units.ts'
import type { ScoredKind } from './kind.ts'

const CATEGORY_LINE_COLUMNS = [
  'category',
  'entity_type',
  'again',
  'entity_id',
  'pool_size',
  'pool',
  'value',
  'content',
] as const
const CATEGORY_LINES = formatOf('an entity in a category', CATEGORY_LINE_COLUMNS, {
  category: 'number',
  entity_type: 'text',
  again: 'number',
  ...BY_PLACE,
})
const CATEGORY_AT = CATEGORY_LINES.at

/** Puts the boards, the index and the Parquet file. Yields the lines of a board at once. */
async function* publish({ context, plan, provenance, put }: Publishing, input: Input): AsyncIterable<string> {
  const categories = await plannedCategories(context, plan)
  const location = join(context.directory, 'staged.parquet')
  try {
    const files = new CategoryFiles(categories, provenance, fileWriter(location))
    const begin = (first: Fields) => {
      const category = wholeOf(first[CATEGORY_AT.category]!)
      if (!categories[category]) throw new ServiceError('invalid', `there is no category ${category}`)
      return boardUnit(files, category, first[CATEGORY_AT.entity_type]!, put)
    }
    yield* unitsIn(input, CATEGORY_LINES, begin, ['category', 'entity_type'])
    yield await put(files.index(), { counts: { categories: files.rows } })
    files.endTable()
    yield await put({ path: CATEGORIES_PARQUET_PATH, rows: files.rows, file: await localFile(location) })
  } finally {
    await rm(location, { force: true })
  }
}

/** Makes a board. Every entry must come twice: once for counting, then in order for ranking. */
function boardUnit(files: CategoryFiles, category: number, type: string, put: Publishing['put']) {
  const entityType = entityTypeOf(type)
  const board = files.board(category, entityType)
  let unranked = 0
  let printed = ''
  const putAll = async (pages: readonly OutputFile[]) => {
    for (const page of pages) printed += await put(page)
  }
  return {
    take(fields: Fields) {
      const content = fields[CATEGORY_AT.content]!
      if (fields[CATEGORY_AT.entity_id] === NULL) {
        return files.members({ category, entityType, entities: wholeOf(content) })
      }
      const entry = jsonInField(content) as CategoryEntry
      const isAgain = isSet(fields[CATEGORY_AT.again]!)
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
}

export const CATEGORIES: ScoredKind = {
  name: 'categories',
  places: [CATEGORIES_FOLDER],
  async *make({ context, ranked, categories, provenance }) {
    const files = new CategoryFiles(categories, provenance)
    for (const counted of await categoryMembers(context.database)) files.members(counted)
    for (const { category, entityType, entries } of categoryBoards(ranked.filter(isListed))) {
      yield* files.pages(category, entityType, entries)
    }
    yield files.index()
    yield files.table()
  },
  publish,
  arrange(staged) {
    const rows = staged.sum('entries by category')
    const index = staged.take(CATEGORIES_PATH)
    staged.assertEqual(CATEGORIES_PATH, 'categories', index.counts?.['categories'], rows)
    const table = staged.take(CATEGORIES_PARQUET_PATH, { rows })
    const pages = staged.pathsIn(CATEGORIES_FOLDER).map((path) => staged.take(path))
    staged.assertEqual(CATEGORIES_FOLDER, 'rows', stagedRows(pages), rows)
    return [...pages, index, table]
  },
}
