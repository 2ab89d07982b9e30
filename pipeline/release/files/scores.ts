// Parts of Parquet with one row per pair of an entity and a question, and the hashes of their row groups.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { withDatabase } from '../../duckdb.ts'
import { writeScores } from '../../engine/scores-file.ts'
import { PAIR_METRIC_NAMES, PAIR_COLUMNS } from '../../scoring/pairs.ts'
import { partPath, partsOf } from '../parts.ts'
import { ROW_GROUPS_FOLDER, SCORES_FOLDER, rowGroupsOutput, rowGroupsPath } from '../row-groups.ts'
import { type Input, NULL, formatOf, wholeOf } from '../stage/lines.ts'
import { partFiles } from '../stage/part-files.ts'
import type { Publishing } from '../stage/publishing.ts'
import { Spool, spooled } from '../stage/spool.ts'
import { entityTypeOf } from '../stage/tally.ts'
import { unitsIn } from '../stage/units.ts'
import type { ScoredKind } from './kind.ts'

/** The columns of a line that DuckDB reads, with their types. */
const PAIR_TYPES = {
  entity: 'INTEGER',
  entity_type: 'VARCHAR',
  entity_id: 'VARCHAR',
  question: 'INTEGER',
  question_id: 'VARCHAR',
  outcome: 'VARCHAR',
  resolved_ms: 'BIGINT',
  settled: 'INTEGER',
  settled_ms: 'BIGINT',
  cluster: 'VARCHAR',
  week: 'VARCHAR',
  joint: 'INTEGER',
  unit_questions: 'INTEGER',
  place: 'INTEGER',
  ...Object.fromEntries(
    PAIR_METRIC_NAMES.map((name) => [name, PAIR_COLUMNS[name] === 'int32' ? 'INTEGER' : 'DOUBLE']),
  ),
}
const SCORE_LINE_COLUMNS = [
  'scores_part',
  ...(Object.keys(PAIR_TYPES) as (keyof typeof PAIR_TYPES)[]),
] as const
const SCORE_LINES = formatOf('an entity and a question', SCORE_LINE_COLUMNS, {
  entity: 'number',
  place: 'number',
})

/** Reads pairs in order, makes the parts with DuckDB, and puts them. */
async function* publish({ context, provenance, put }: Publishing, input: Input): AsyncIterable<string> {
  const path = join(context.directory, 'staged.tsv')
  const made = join(context.directory, 'staged.parquet')
  let spool: Spool | undefined
  try {
    const { at } = SCORE_LINES
    yield* unitsIn(input, SCORE_LINES, async (first) => {
      const part = {
        path: partPath(SCORES_FOLDER, wholeOf(first[at.scores_part]!)),
        entity_type: entityTypeOf(first[at.entity_type]!),
        first_id: first[at.entity_id],
      }
      const lines = (spool = await Spool.open(path))
      return {
        take: (fields) => (fields[at.question] === NULL ? undefined : lines.add(fields.slice(1))),
        async end() {
          await lines.close()
          await withDatabase(context.openDatabase, (database) =>
            writeScores(database, made, pairsIn(path), provenance),
          )
          const bytes = await readFile(made)
          const printed = await put({ ...part, rows: lines.count, bytes })
          return printed + (await put(rowGroupsOutput(part.path, bytes)))
        },
      }
    })
  } finally {
    await spool?.[Symbol.asyncDispose]()
    for (const file of [path, made]) await rm(file, { force: true })
  }
}

/**
 * Returns SQL for the pairs in a file of lines. Sorts them although they are in order: DuckDB ends row groups
 * at the ends of vectors, and sorting makes each vector whole.
 */
function pairsIn(path: string): string {
  return `(SELECT *, make_timestamptz(resolved_ms * 1000) AS resolved_at,
      make_timestamptz(settled_ms * 1000) AS settled_at, settled = 1 AND judged = 1 AS contested
      FROM ${spooled(path, PAIR_TYPES)})
    ORDER BY entity, place`
}

export const SCORES: ScoredKind = {
  name: 'scores',
  places: [SCORES_FOLDER, ROW_GROUPS_FOLDER],
  begin({ shards, partSizes, inTurn, writeScores: write, provenance }) {
    for (const { path, firstPair, pairs } of partsOf(SCORES_FOLDER, shards, partSizes)) {
      inTurn.add(path, (location) => write(location, firstPair, firstPair + pairs, provenance))
    }
  },
  async *make({ shards, partSizes, inTurn, ranked }) {
    for (const part of partsOf(SCORES_FOLDER, shards, partSizes)) {
      const { path, entityType: entity_type, pairs: rows } = part
      const bytes = await inTurn.read(path)
      yield { path, entity_type, first_id: ranked[part.firstEntity]!.entityId, rows, bytes }
      yield rowGroupsOutput(path, bytes)
    }
  },
  publish,
  arrange: (staged) =>
    partFiles(staged, SCORES_FOLDER).flatMap((file) => [file, staged.take(rowGroupsPath(file.path))]),
}
