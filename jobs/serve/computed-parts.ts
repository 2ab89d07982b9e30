// The parts that work out answers from the tables of a release on request.
import { Comparisons } from '../../api/published/comparisons.ts'
import type { ReleaseFiles } from '../../api/published/release-files.ts'
import { Reports } from '../../api/published/reports.ts'
import { Scores } from '../../api/published/scores.ts'
import { keptTitleChanges } from '../../api/published/titles.ts'
import { WorkedOut, wholeTables } from '../../api/published/worked-out.ts'
import type { Asker } from '../../api/turns.ts'
import { answersOn } from '../../pipeline/release/answers.ts'
import { readRationales } from '../../pipeline/release/rationales.ts'
import { compareEntities, unscoredQuestions } from '../../pipeline/release/forecasts-of.ts'
import type { ReleaseManifest } from '../../schemas/manifests.ts'
import type { Components } from '../components/components.ts'

export function computedParts(components: Components, files: ReleaseFiles) {
  const { store, methodology } = components
  const scores = new Scores(store, files)
  const kept = new WorkedOut()
  return {
    scores,
    reports: new Reports(
      {
        scores,
        unscored: (...question) => unscoredQuestions(components, ...question),
        rules: methodology.parameters,
      },
      kept,
    ),
    comparisons: new Comparisons((manifest, two) => compareEntities(components, manifest, two), kept),
    titleChanges: keptTitleChanges(components, kept),
    answersOn: (manifest: ReleaseManifest, questionId: string, asker: Asker) =>
      answersOn(components, manifest, questionId, wholeTables.inParts(asker)),
    rationalesOn: (questionId: string) => readRationales(store, questionId),
  }
}
