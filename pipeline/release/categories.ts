// Makes the boards by category of a release: pages of JSON, an index of the categories, and one Parquet file.
import type { CategoryFacts } from '../../schemas/payloads.ts'
import { ENTITY_TYPES, type EntityType } from '../../schemas/tables.ts'
import type { Database } from '../duckdb.ts'
import { canonical } from '../proof/canonical.ts'
import type { CategoryScores } from '../scoring/categories.ts'
import { boardsOf, rankIn, tallyOf } from '../scoring/ranking.ts'
import { CATEGORIES_PARQUET_PATH, CATEGORIES_PATH, categoryPath } from '../store/paths.ts'
import { ENTRIES_PER_PAGE, inOrderOfPlaces, placeOf } from './leaderboard.ts'
import { type Provenance, type RankedEntity, nameIn, nameOf, retirementOf } from './payloads.ts'
import { ParquetRows } from './rows-parquet.ts'
import type { OutputFile } from './shards.ts'

/** An entity in a category in which it has as many contested questions as a rank takes. */
export interface CategoryEntry extends Pick<RankedEntity, 'entityType' | 'entityId' | 'retiredAtMs'> {
  /** Of an agent; null for a person. */
  name: string | null
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
  name,
  retiredAtMs,
  metrics: { pool, pool_size },
  listing,
}: RankedEntity): { category: number; entry: CategoryEntry }[] {
  const named = { entityType, entityId, name, retiredAtMs }
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
  readonly #rows = new ParquetRows(COLUMNS)
  rows = 0

  constructor(categories: readonly CategoryQuestions[], provenance: Provenance) {
    this.#categories = categories
    this.#provenance = provenance
  }

  /** Takes how many entities of a kind have a settled pair in a category. */
  members({ category, entityType, entities }: CategoryMembers): void {
    this.#members.set(keyOf(category, entityType), entities)
  }

  /** Yields the pages of a board, by the number of the category. */
  *board(number: number, entity_type: EntityType, entries: readonly CategoryEntry[]): Iterable<OutputFile> {
    const { category } = this.#categories[number]!
    const ranked = rankedEntries(entries)
    for (let from = 0; from < ranked.length; from += ENTRIES_PER_PAGE) {
      const page = ranked.slice(from, from + ENTRIES_PER_PAGE)
      yield {
        path: categoryPath(number, entity_type, from / ENTRIES_PER_PAGE),
        rows: page.length,
        bytes: canonical({ ...this.#provenance, category, entity_type, entries: page.map(publishedEntry) }),
      }
    }
    const of = [this.#provenance.release, new Date(this.#provenance.as_of)]
    for (const entry of ranked) this.#rows.add([...of, ...rowOf(category, entry)])
    this.rows += ranked.length
    this.#ranked.set(keyOf(number, entity_type), ranked.length)
  }

  /** Yields the files of all boards, after the last board. */
  *ends(): Iterable<OutputFile> {
    const categories = this.#categories.map((questions, number): CategoryFacts => {
      const [agent, forecaster] = [keyOf(number, 'agent'), keyOf(number, 'forecaster')]
      return {
        ...questions,
        agents: this.#members.get(agent) ?? 0,
        forecasters: this.#members.get(forecaster) ?? 0,
        ranked_agents: this.#ranked.get(agent) ?? 0,
        ranked_forecasters: this.#ranked.get(forecaster) ?? 0,
      }
    })
    const bytes = canonical({ ...this.#provenance, categories })
    yield { path: CATEGORIES_PATH, rows: categories.length, bytes }
    yield { path: CATEGORIES_PARQUET_PATH, rows: this.rows, bytes: this.#rows.finish() }
  }
}

function keyOf(category: number, entityType: EntityType): string {
  return `${category} ${entityType}`
}

interface RankedEntry extends CategoryEntry {
  rank: number | null
  rank_interval: { lower: number; upper: number } | null
}

/** Ranks the entries of a board among each other, and puts them in the order of the main board. */
function rankedEntries(entries: readonly CategoryEntry[]): RankedEntry[] {
  const boards = boardsOf(tallyOf(entries.map(standingOf)))
  const ranked = entries.map((entry): RankedEntry => {
    const { rank, rank_interval } = rankIn(boards, standingOf(entry))
    return { ...entry, rank, rank_interval }
  })
  return ranked.sort((a, b) => inOrderOfPlaces(placeIn(a), placeIn(b)) || (a.entityId < b.entityId ? -1 : 1))
}

function standingOf({ retiredAtMs, pool, scores: { skill, board_interval } }: CategoryEntry) {
  const unused = { voice: false, skill_interval: null }
  return {
    isRetired: retiredAtMs !== null,
    scores: { eligible: true, pool, skill, board_interval, ...unused },
  }
}

function placeIn({ rank, pool, pool_size, scores }: RankedEntry) {
  return placeOf({ ...scores, rank, pool, pool_size })
}

function publishedEntry(entry: RankedEntry): object {
  const { rank, rank_interval, pool, pool_size, scores } = entry
  return {
    ...nameOf(entry),
    ...nameIn(entry),
    ...retirementOf(entry),
    rank,
    rank_interval,
    pool,
    pool_size,
    ...scores,
  }
}

const COLUMNS = [
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

function rowOf(category: string, entry: RankedEntry): unknown[] {
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

/** How many entities of a kind have a settled pair in a category. */
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
