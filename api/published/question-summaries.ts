// The settled questions of a release, as it tells of them.
import { questionsFile } from '../../pipeline/release/files/questions.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { QuestionSummary, QuestionsFile } from '../../schemas/payloads.ts'
import type { ReleaseFiles } from './release-files.ts'

export class QuestionSummaries {
  readonly #files: ReleaseFiles

  constructor(files: ReleaseFiles) {
    this.#files = files
  }

  /**
   * Returns undefined for a question that is not settled in the release, or that nobody forecast.
   *
   * @throws ServiceError as `readReleaseFile` does.
   */
  async find(manifest: ReleaseManifest, questionId: string): Promise<QuestionSummary | undefined> {
    const file = questionsFile(manifest.files, questionId)
    const page = file && (await this.#files.parsed<QuestionsFile>(manifest, file.path))
    return page?.questions.find(({ question_id }) => question_id === questionId)
  }
}
