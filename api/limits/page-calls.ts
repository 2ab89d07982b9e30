// As how many calls a page of a list counts, because a large one costs as much as many small ones.

/** The entries of a usual page, which is one call. */
const USUAL_ENTRIES = 100
const ENTRIES_PER_CALL = 50

/** A page of 1,000 entries counts as 20 calls. */
export function callsOfPage({ query }: { query: { limit: number } }): number {
  return query.limit <= USUAL_ENTRIES ? 1 : Math.ceil(query.limit / ENTRIES_PER_CALL)
}

/** A page of 100 questions with their texts, up to 40,000 characters each, counts as 10 calls. */
const QUESTIONS_WITH_TEXTS_PER_CALL = 10

export function callsOfTexts(limit: number): number {
  return Math.ceil(limit / QUESTIONS_WITH_TEXTS_PER_CALL)
}
