// Reads what a release says of settled questions, a file of a few hundred at a time.
import { questionsFile, readReleaseFile } from '../../pipeline/release/read.ts'
import type { Store } from '../../pipeline/store/store.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { QuestionSummary, QuestionsFile } from '../../schemas/payloads.ts'
import { ShardCache } from './shard-cache.ts'

/** Some tens of files. */
const CACHE_BYTES = 32 * 1024 * 1024
/** A parsed file takes this many times the memory of its text. */
const PARSED_FACTOR = 3

export class QuestionSummaries {
  readonly #store: Store
  readonly #files = new ShardCache<Map<string, QuestionSummary>>(CACHE_BYTES)

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Returns undefined for a question that is not settled in the release, or that nobody forecast, and for
   * every question where the release has no such files.
   *
   * @throws ServiceError as `readReleaseFile` does.
   */
  async find({ release, files }: ReleaseManifest, questionId: string): Promise<QuestionSummary | undefined> {
    const file = questionsFile(files, questionId)
    if (!file) return undefined
    const summaries = await this.#files.get(`${release} ${file.path}`, async () => {
      const { questions } = await readReleaseFile<QuestionsFile>(this.#store, release, file)
      const value = new Map(questions.map((summary) => [summary.question_id, summary]))
      return { value, sizeBytes: PARSED_FACTOR * file.size_bytes }
    })
    return summaries.get(questionId)
  }
}
