// As how many calls a page of a list counts, because a large one costs as much as many small ones.

/** The entries of a usual page, which is one call. */
const USUAL_ENTRIES = 100
const ENTRIES_PER_CALL = 50

/** A page of 1,000 entries counts as 20 calls. */
export function callsOfPage({ query }: { query: { limit: number } }): number {
  return query.limit <= USUAL_ENTRIES ? 1 : Math.ceil(query.limit / ENTRIES_PER_CALL)
}

const ROWS_PER_CALL = 500

/** A board as CSV: 60,000 rows take some 300 ms of the main thread. */
export function callsOfRows(rows: number): number {
  return Math.max(1, Math.ceil(rows / ROWS_PER_CALL))
}

const SCORES_PER_CALL = 200

/** The scores of an entity as CSV: 5,000 rows take some 100 ms of the main thread. */
export function callsOfScores(rows: number): number {
  return Math.max(1, Math.ceil(rows / SCORES_PER_CALL))
}

const SHOWN_PER_CALL = 1_000

/** Questions that a page sorts, and shows some of: as how many further calls they count. */
export function callsOfShown(questions: number): number {
  return Math.floor(questions / SHOWN_PER_CALL)
}

/** As how many further calls a card counts that has to be drawn: it takes some 33 ms of a thread. */
export const CALLS_OF_DRAWING = 7

const BYTES_PER_CALL = 4 * 1024 * 1024

/** A file counts by its bytes, whether they are sent or looked through. */
export function callsOfBytes(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BYTES_PER_CALL))
}

const LOOKUPS_PER_CALL = 10

/**
 * A page of 100 entries that are looked up one by one counts as 10 calls, such as that of a search, or of
 * questions with their texts of up to 40,000 characters each.
 */
export function callsOfLookups(limit: number): number {
  return Math.ceil(limit / LOOKUPS_PER_CALL)
}
