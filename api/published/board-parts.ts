// The parts that answer from the lists of a release: boards, categories, owners and questions.
import type { Categories } from './categories.ts'
import type { Leaderboard } from './leaderboard.ts'
import type { OwnerSearch } from './owner-search.ts'
import type { People } from './people.ts'
import type { QuestionSummaries } from './question-summaries.ts'
import type { References } from './references.ts'

export interface BoardParts {
  leaderboard: Leaderboard
  people: People
  categories: Categories
  references: References
  owners: Pick<OwnerSearch, 'found'>
  summaries: Pick<QuestionSummaries, 'find'>
}
