// Reads all answers to one settled question from the scores of a release. The scores are in the order of
// entities.
import type { QuestionScore } from '../../schemas/answers.ts'
import { GAIN_COLUMNS, PUBLISHED_PAIR_METRICS } from '../../schemas/metrics.ts'
import type { ManifestFile, ReleaseManifest } from '../../schemas/manifests.ts'
import type { EntityType } from '../../schemas/tables.ts'
import type { PipelineComponents } from '../components.ts'
import { literal, parquet, withDatabase } from '../duckdb.ts'
import { releasePrefix } from '../store/paths.ts'
import { isScoresPath } from './row-groups.ts'

/** More answers would take over 50 MB of memory while they are sent. */
const ANSWERS_AT_ONCE = 20_000

/** The numbers of a score that differ between the answers to one question. */
export const ANSWER_NUMBERS = [
  ...PUBLISHED_PAIR_METRICS,
  'witnessed',
  'contested',
  'priced',
  ...GAIN_COLUMNS,
] as const satisfies (keyof QuestionScore)[]

export type EntityAnswer = { entity_type: EntityType; entity_id: string } & Record<
  (typeof ANSWER_NUMBERS)[number],
  number | bigint | boolean | null
>

/** Returns the bytes that a search for the answers to a question reads. */
export function scoredBytes({ files }: ReleaseManifest): number {
  return files.filter(({ path }) => isScoresPath(path)).reduce((sum, file) => sum + file.size_bytes, 0)
}

/**
 * Yields the answers in the order of the scores, some at a time. Asks for 20,000 in each query, beginning
 * behind the last entity, so that a slow caller holds neither memory nor a turn.
 *
 * @param inTurn runs a query; it may wait for others.
 * @throws ServiceError `notFound` if retention has deleted the scores.
 */
export async function* answersOn(
  context: Pick<PipelineComponents, 'store' | 'local' | 'openDatabase'>,
  { release, files }: ReleaseManifest,
  questionId: string,
  inTurn: <T>(query: () => Promise<T>) => Promise<T>,
  atOnce = ANSWERS_AT_ONCE,
): AsyncGenerator<EntityAnswer[]> {
  const { store, local } = context
  for (const file of files.filter(({ path }) => isScoresPath(path))) {
    const object = releasePrefix(release) + file.path
    try {
      for (let after: string | undefined = ''; after !== undefined;) {
        const last = after
        const blocks: EntityAnswer[][] = await inTurn(() =>
          local.reading(() => answersIn(context, object, file, questionId, last, atOnce)),
        )
        yield* blocks
        const found = blocks.flat()
        after = found.length < atOnce ? undefined : found.at(-1)!.entity_id
      }
    } finally {
      // Delete the copy, or a node would keep one of each release that it is asked for. In a folder the file
      // is no copy.
      if (store.localPath(object) === undefined) await local.forget(object)
    }
  }
}

/**
 * Returns the first answers in a file of scores behind an entity, in blocks, so that other work runs between
 * two of them. DuckDB keeps the order of the rows.
 */
async function answersIn(
  { local, openDatabase }: Pick<PipelineComponents, 'local' | 'openDatabase'>,
  object: string,
  { sha256, size_bytes: sizeBytes }: ManifestFile,
  questionId: string,
  after: string,
  atOnce: number,
): Promise<EntityAnswer[][]> {
  const path = await local.path(object, { sha256, sizeBytes })
  return withDatabase(openDatabase, (database) =>
    Array.fromAsync(
      database.rowBlocks<EntityAnswer>(
        `SELECT entity_type, entity_id, ${ANSWER_NUMBERS.join(', ')} FROM ${parquet([path])}
       WHERE question_id = ${literal(questionId)} AND settled AND entity_id > ${literal(after)}
       LIMIT ${atOnce}`,
      ),
    ),
  )
}
