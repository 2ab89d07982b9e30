// Makes the boards by category of a release: takes entries, and gives pages and the rows of a table.
import type { CategoryFacts } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import type { Database } from '../duckdb.ts'
import type { CategoryScores } from '../scoring/categories.ts'
import { type Boards, BoardCounts, boardsOf, rankIn } from '../scoring/ranking.ts'
import type { Writer } from 'hyparquet-writer'
import { padded } from '../store/paths.ts'
import {
  type BoardPlace,
  ENTRIES_PER_PAGE,
  boardPagePath,
  inOrderOfPlaces,
  boardPlace,
} from './board-order.ts'
import { listFile } from './list-file.ts'
import type { OutputFile } from './output.ts'
import { type Provenance, type RankedEntity, agentFacts, idMember } from './payloads.ts'
import { ParquetRows } from './rows-parquet.ts'

export const CATEGORIES_FOLDER = 'categories/'

/** The index of the categories, inside a release. */
export const CATEGORIES_PATH = `${CATEGORIES_FOLDER}index.json`

/** The rows of all boards. */
export const CATEGORIES_PARQUET_PATH = `${CATEGORIES_FOLDER}boards.parquet`

/** The folder of the pages of a board. `category` is its number in the index. */
export function categoryFolder(category: number, entityType: EntityType): string {
  return `${CATEGORIES_FOLDER}${padded(category, 6)}/${entityType}/`
}

/** The path of a page of a board, by its number from 0. */
export function categoryPath(category: number, entityType: EntityType, page: number): string {
  return boardPagePath(categoryFolder(category, entityType), page)
}

/** An entity in a category, with as many contested questions there as a rank takes. */
export interface CategoryEntry extends Pick<RankedEntity, 'entityType' | 'entityId' | 'facts'> {
  pool: string | null
  pool_size: number | null
  scores: Omit<CategoryScores, 'category'>
}

/** A category, without the numbers of its entities. */
export type CategoryQuestions = Omit<
  CategoryFacts,
  'agents' | 'forecasters' | 'ranked_agents' | 'ranked_forecasters'
>

/** Returns the entries of an entity, each with the number of its category. */
export function categoryEntries({
  entityType,
  entityId,
  facts,
  metrics: { pool, pool_size },
  listing,
}: RankedEntity): { category: number; entry: CategoryEntry }[] {
  const named = { entityType, entityId, facts }
  return listing.categories.map(({ category, ...scores }) => {
    return { category, entry: { ...named, pool, pool_size, scores } }
  })
}

/** Returns the boards of all categories in order, each with its entries in the order of ids. */
export function* categoryBoards(
  entities: readonly RankedEntity[],
): Iterable<{ category: number; entityType: EntityType; entries: CategoryEntry[] }> {
  const all = Map.groupBy(entities.flatMap(categoryEntries), ({ category }) => category)
  for (const [category, members] of [...all].sort(([a], [b]) => a - b)) {
    const kinds = Map.groupBy(members, ({ entry }) => entry.entityType)
    for (const entityType of ENTITY_TYPES) {
      const own = kinds.get(entityType)
      if (own) yield { category, entityType, entries: own.map(({ entry }) => entry) }
    }
  }
}

/** The files of the categories under way. Boards come in the order of categories, and then of kinds. */
export class CategoryFiles {
  readonly #categories: readonly CategoryQuestions[]
  readonly #provenance: Provenance
  readonly #members = new Map<string, number>()
  readonly #ranked = new Map<string, number>()
  readonly #table: ParquetRows
  rows = 0

  /** @param writer takes the bytes of the table; without it they are held in memory. */
  constructor(categories: readonly CategoryQuestions[], provenance: Provenance, writer?: Writer) {
    this.#categories = categories
    this.#provenance = provenance
    this.#table = new ParquetRows(BOARD_ROW_COLUMNS, undefined, writer)
  }

  /** Takes the number of entities of a kind with a settled pair in a category. */
  members({ category, entityType, entities }: CategoryMembers): void {
    this.#members.set(boardKey(category, entityType), entities)
  }

  /** Yields the pages of a board, given all its entries. `number` is that of the category. */
  *pages(number: number, entityType: EntityType, entries: readonly CategoryEntry[]): Iterable<OutputFile> {
    const board = this.board(number, entityType)
    for (const entry of entries) board.count(entry)
    for (const entry of entries.toSorted(entriesByPlace)) yield* board.add(entry)
    yield* board.end()
  }

  /** Begins a board. It takes every entry twice: to count them all, and then in order to rank each. */
  board(number: number, entity_type: EntityType) {
    const { category } = this.#categories[number]!
    const stamp = [this.#provenance.release, new Date(this.#provenance.as_of)]
    const counts = new BoardCounts()
    let boards: Boards | undefined
    let page: RankedEntry[] = []
    let ranked = 0
    const endPage = (): OutputFile[] => {
      if (page.length === 0) return []
      const path = categoryPath(number, entity_type, Math.ceil(ranked / ENTRIES_PER_PAGE) - 1)
      const entries = page.map(publishedEntry)
      page = []
      return [listFile(path, 'entries', entries, { ...this.#provenance, category, entity_type })]
    }
    return {
      count: (entry: CategoryEntry): void => counts.take(standingOf(entry)),
      /** Returns the page that the entry completes. */
      add: (entry: CategoryEntry): OutputFile[] => {
        boards ??= boardsOf(counts.tally)
        const { rank, rank_interval } = rankIn(boards, standingOf(entry))
        page.push({ ...entry, rank, rank_interval })
        this.#table.add([...stamp, ...boardRow(category, page.at(-1)!)])
        this.rows += 1
        ranked += 1
        return page.length === ENTRIES_PER_PAGE ? endPage() : []
      },
      /** Returns the last page, unless it was complete. */
      end: (): OutputFile[] => {
        this.#ranked.set(boardKey(number, entity_type), ranked)
        return endPage()
      },
    }
  }

  /** Returns the index of all boards, after the last board. */
  index(): OutputFile {
    const categories = this.#categories.map((questions, number): CategoryFacts => {
      const [agent, forecaster] = [boardKey(number, 'agent'), boardKey(number, 'forecaster')]
      return {
        ...questions,
        agents: this.#members.get(agent) ?? 0,
        forecasters: this.#members.get(forecaster) ?? 0,
        ranked_agents: this.#ranked.get(agent) ?? 0,
        ranked_forecasters: this.#ranked.get(forecaster) ?? 0,
      }
    })
    return listFile(CATEGORIES_PATH, 'categories', categories, { ...this.#provenance })
  }

  /** Returns the table of all boards, after the last board. */
  table(): OutputFile {
    return { path: CATEGORIES_PARQUET_PATH, rows: this.rows, bytes: this.#table.finish() }
  }

  /** Completes the table if a writer takes its bytes. */
  endTable(): void {
    this.#table.end()
  }
}

function boardKey(category: number, entityType: EntityType): string {
  return `${category} ${entityType}`
}

interface RankedEntry extends CategoryEntry {
  rank: number | null
  rank_interval: { lower: number; upper: number } | null
}

function standingOf({ facts, pool, scores: { skill, board_interval } }: CategoryEntry) {
  return {
    isRetired: facts.retired_at !== null,
    scores: { eligible: true, pool, skill, board_interval },
  }
}

/**
 * Returns the keys of the order of a board. They depend on whether an entry can have a rank, not on the rank.
 */
export function placeInCategory({ facts, pool, pool_size, scores }: CategoryEntry): BoardPlace {
  return boardPlace({ ...scores, rank: facts.retired_at === null ? 1 : null, pool, pool_size })
}

function entriesByPlace(a: CategoryEntry, b: CategoryEntry): number {
  const places = inOrderOfPlaces(placeInCategory(a), placeInCategory(b))
  return places || (a.entityId < b.entityId ? -1 : 1)
}

function publishedEntry(entry: RankedEntry): object {
  const { rank, rank_interval, pool, pool_size, scores } = entry
  return {
    ...idMember(entry),
    ...agentFacts(entry, ['name', 'retired_at']),
    rank,
    rank_interval,
    pool,
    pool_size,
    ...scores,
  }
}

const BOARD_ROW_COLUMNS = [
  { name: 'release', type: 'INT32' },
  { name: 'as_of', type: 'INSTANT' },
  { name: 'category', type: 'STRING' },
  { name: 'entity_type', type: 'STRING' },
  { name: 'entity_id', type: 'STRING' },
  { name: 'pool', type: 'STRING' },
  { name: 'rank', type: 'INT32' },
  { name: 'rank_lower', type: 'INT32' },
  { name: 'rank_upper', type: 'INT32' },
  { name: 'skill', type: 'DOUBLE' },
  { name: 'board_lower', type: 'DOUBLE' },
  { name: 'board_upper', type: 'DOUBLE' },
  { name: 'contested_questions', type: 'INT32' },
  { name: 'resolved_questions', type: 'INT32' },
  { name: 'brier', type: 'DOUBLE' },
  { name: 'expected_calibration_error', type: 'DOUBLE' },
] as const

function boardRow(category: string, entry: RankedEntry): unknown[] {
  const { entityType, entityId, pool, rank, rank_interval, scores } = entry
  const { skill, board_interval, contested_questions, resolved_questions, brier } = scores
  return [
    category,
    entityType,
    entityId,
    pool,
    rank,
    rank_interval?.lower ?? null,
    rank_interval?.upper ?? null,
    skill,
    board_interval?.lower ?? null,
    board_interval?.upper ?? null,
    contested_questions,
    resolved_questions,
    brier,
    scores.expected_calibration_error,
  ]
}

/** The number of entities of a kind with a settled pair in a category. */
export interface CategoryMembers {
  category: number
  entityType: EntityType
  entities: number
}

/** Counts the members of the categories, from the table `scored`. Grain: one row per category and kind. */
export async function categoryMembers(database: Database): Promise<CategoryMembers[]> {
  return database.rows<CategoryMembers>(
    `SELECT category, entity_type::VARCHAR AS "entityType", count(DISTINCT entity)::INTEGER AS entities
     FROM scored WHERE settled = 1 AND category >= 0 GROUP BY ALL ORDER BY ALL`,
  )
}

/** Returns the categories in the order of their numbers, from the tables `category` and `question`. */
export async function categoriesAt(database: Database): Promise<CategoryQuestions[]> {
  const rows = await database.rows<{
    category: string
    questions: number
    settled_questions: number
    opened_at: Date
    closes_at: Date
  }>(
    `SELECT category, questions, coalesce(settled, 0)::INTEGER AS settled_questions, opened_at, closes_at
     FROM category LEFT JOIN (SELECT category_number, sum(settled) AS settled FROM question GROUP BY ALL)
       USING (category_number)
     ORDER BY category_number`,
  )
  return rows.map(({ opened_at, closes_at, ...row }) => {
    return { ...row, opened_at: opened_at.toISOString(), closes_at: closes_at.toISOString() }
  })
}
