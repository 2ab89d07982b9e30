// Finds the corrections, in the releases since the last look, that may have moved the entities of
// `fvs monitor`.
import { z } from 'zod'
import type { SignedCheckpoint } from '../../pipeline/proof/checkpoint.ts'
import { noteText } from '../../pipeline/proof/note.ts'
import type { LogReader } from '../../pipeline/transparency/log-reader.ts'
import { entityPath } from './monitor-entity.ts'
import { type CorrectionNews, type Inconsistency, checked } from './monitor-news.ts'
import { jsonOf } from '../command-line/read-place.ts'

/** Releases of one call, so that it stays within the limit of reads. The next call goes on. */
const MOST_RELEASES = 200
/** Pages of scores of an entity. A page of 100 is one call, and larger ones count double. */
const MOST_PAGES = 50
const PAGE_BYTES = 4 * 1024 * 1024

interface Corrections {
  /** The last release that was read. */
  to: number
  news: CorrectionNews[]
}

/** @throws ServiceError `unavailable` if the service does not answer. */
export function correctionsSince(
  log: LogReader,
  head: SignedCheckpoint,
  from: number,
  entities: readonly string[],
): Promise<Corrections | Inconsistency> {
  const evidence = { entity: null, kept: { checkpoint: noteText(head.note) }, found: {} }
  return checked(evidence, async () => {
    const to = Math.min(head.checkpoint.size, from + MOST_RELEASES)
    const news: CorrectionNews[] = []
    for (let release = from + 1; release <= to; release++) {
      const { corrections } = await log.manifest(head, release)
      for (const correction of corrections) {
        if (correction.pairs > 0) news.push({ type: 'correction', release, entities: [], correction })
      }
    }
    return { to, news: news.length === 0 ? news : await ofEntities(log, news, entities) }
  })
}

/**
 * Keeps the corrections of questions that an entity has a score on, as the service says. Also keeps those
 * after which a question may have no scores, and all for an entity with more scores than are read.
 */
async function ofEntities(
  log: LogReader,
  news: readonly CorrectionNews[],
  entities: readonly string[],
): Promise<CorrectionNews[]> {
  const scored = new Map<string, ReadonlySet<string> | undefined>()
  for (const entity of entities) scored.set(entity, await scoredQuestions(log, entity))
  const isUnknown = [...scored.values()].includes(undefined)
  return news
    .map((one) => ({
      ...one,
      entities: entities.filter((entity) => scored.get(entity)?.has(one.correction.question_id)),
    }))
    .filter(
      ({ entities: whose, correction: { column, to } }) =>
        whose.length > 0 || isUnknown || (column === 'outcome' && to !== 'yes' && to !== 'no'),
    )
}

const scoresPage = z.looseObject({
  scores: z.array(z.looseObject({ question_id: z.string() })),
  next_cursor: z.string().nullable(),
})

/** Returns undefined if there are more than are read, or if the answer is not understood. */
async function scoredQuestions(log: LogReader, entity: string): Promise<Set<string> | undefined> {
  const found = new Set<string>()
  let cursor: string | null = ''
  for (let page = 0; page < MOST_PAGES && cursor !== null; page++) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const bytes = await log.service.ask(`${entityPath(entity)}/scores?limit=100${query}`, PAGE_BYTES)
    if (!bytes) return found
    const { data } = scoresPage.safeParse(jsonOf(bytes))
    if (!data) return undefined
    for (const { question_id } of data.scores) found.add(question_id)
    cursor = data.next_cursor
  }
  return cursor === null ? found : undefined
}
