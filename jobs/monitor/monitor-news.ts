// The news of `fvs monitor`, and their words.
import { ServiceError } from '../../schemas/errors.ts'
import { printable } from '../../pipeline/printable.ts'
import type { ServedCorrection } from '../../pipeline/transparency/log-reader.ts'

/** Texts that contradict each other: a checkpoint, a record, and the proof of the record. */
export type Evidence = Partial<Record<'checkpoint' | 'record' | 'proof', string>>

export interface Inconsistency {
  type: 'inconsistent'
  /** Null if it is not about one entity. */
  entity: string | null
  detail: string
  kept: Evidence
  found: Evidence
}

export interface RecordChange {
  type: 'certificate.won' | 'certificate.lost' | 'title.changed' | 'retirement.changed'
  entity: string
  release: number
  as_of: string
  /** Null where there was no record, or no retirement. */
  from: string | null
  to: string | null
}

export interface CorrectionNews {
  type: 'correction'
  release: number
  /** The entities that the service shows a score of on the question. */
  entities: string[]
  correction: ServedCorrection
}

export type News = Inconsistency | RecordChange | CorrectionNews

/**
 * Returns the result of a check, or the inconsistency that it finds.
 *
 * @throws ServiceError `unavailable` for a service that does not answer, which contradicts nothing.
 */
export async function checked<T>(
  evidence: Omit<Inconsistency, 'type' | 'detail'>,
  check: () => Promise<T>,
): Promise<T | Inconsistency> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'unavailable') throw error
    return { type: 'inconsistent', detail: error.message, ...evidence }
  }
}

export function isInconsistency(value: unknown): value is Inconsistency {
  return (value as { type?: unknown } | null)?.type === 'inconsistent'
}

const TITLES = {
  'certificate.won': 'certificate won',
  'certificate.lost': 'certificate lost',
  'title.changed': 'title changed',
  'retirement.changed': 'retirement changed',
}

/** Returns one line, and below an inconsistency its evidence. */
export function newsText(news: News): string {
  if (news.type === 'inconsistent') {
    const { entity, detail, kept, found } = news
    const texts = (evidence: Evidence) => Object.values(evidence).join('\n')
    return `${printable(`inconsistent: ${entity ?? 'the log'}: ${detail}`)}\n\nkept:\n${texts(kept)}\nfound:\n${texts(found)}`
  }
  return printable(news.type === 'correction' ? correctionText(news) : changeText(news))
}

function correctionText({ release, entities, correction }: CorrectionNews): string {
  const { question_id: question, column, from, to, reason } = correction
  const whose = entities.length === 0 ? 'which may have been scored' : `scored: ${entities.join(', ')}`
  const why = reason === null ? '' : `, because ${JSON.stringify(reason)}`
  return `correction: the ${column} of the question ${question}, ${from} → ${to}, in release ${release}${why}; ${whose}`
}

function changeText({ type, entity, release, as_of: asOf, from, to }: RecordChange): string {
  return `${TITLES[type]}: ${entity}, ${from ?? 'none before'} → ${to ?? 'none'}, in release ${release} as of ${asOf}`
}
