// The parts that answer from the lists of a release: boards, categories, owners and questions.
import { Boards } from '../../api/published/boards.ts'
import { Categories } from '../../api/published/categories.ts'
import { Leaderboard } from '../../api/published/leaderboard.ts'
import { OwnerSearch } from '../../api/published/owner-search.ts'
import { QuestionSummaries } from '../../api/published/question-summaries.ts'
import { References } from '../../api/published/references.ts'
import type { ReleaseFiles } from '../../api/published/release-files.ts'
import { PeopleNames } from '../../pipeline/people/names.ts'
import type { Components } from '../components/components.ts'

export function boardParts({ store }: Components, files: ReleaseFiles) {
  const people = new PeopleNames(store)
  const boards = new Boards(files, people)
  const references = new References(files)
  return {
    people,
    references,
    leaderboard: new Leaderboard(files, boards, references),
    categories: new Categories(files, boards, references),
    owners: new OwnerSearch(files),
    summaries: new QuestionSummaries(files),
  }
}
