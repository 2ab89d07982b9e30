// The parts that work their answers out of the tables of a release when they are asked.
import type { EntityAnswer } from '../../pipeline/release/answers.ts'
import type { QuestionRationales } from '../../schemas/answers.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Asker } from '../turns.ts'
import type { Comparisons } from './comparisons.ts'
import type { Reports } from './reports.ts'
import type { Scores } from './scores.ts'
import type { keptTitleChanges } from './titles.ts'

export interface ComputedParts {
  scores: Scores
  comparisons: Pick<Comparisons, 'comparisonOf'>
  reports: Pick<Reports, 'rowsOf'>
  /** Whose title a release changed; undefined where its files or those of the one before it are deleted. */
  titleChanges: ReturnType<typeof keptTitleChanges>
  /** Yields the answers of everyone to a settled question of a release, some at a time. */
  answersOn: (manifest: ReleaseManifest, questionId: string, asker: Asker) => AsyncGenerator<EntityAnswer[]>
  /** Why agents forecast as they did on a question; nothing before its outcome is known. */
  rationalesOn: (questionId: string) => Promise<QuestionRationales>
}
