// The outcome of a whole event as the outcomes of its questions.
import type { z } from 'zod'
import type { ImportContext } from '../../pipeline/import/take-in.ts'
import { onKnown } from '../../pipeline/import/waiting.ts'
import { literal } from '../../pipeline/duckdb.ts'
import { type Fault, ServiceError } from '../../schemas/errors.ts'
import type { eventOutcome } from '../../schemas/requests.ts'
import type { EventKind } from '../../schemas/tables.ts'

export type EventOutcome = Omit<z.output<typeof eventOutcome>, 'reason'>

interface EventQuestion {
  question_id: string
  kind: EventKind | null
  position: bigint | null
}

/**
 * Returns the rows of the resolutions, one for each question of the event.
 *
 * @throws ServiceError `notFound` for an event without a question, `invalid` for ids that are not of the
 * event, and for `highest` where the event is not ordered.
 */
export async function eventResolutions(
  context: ImportContext,
  eventId: string,
  said: EventOutcome,
): Promise<object[]> {
  const questions = await onKnown(context, () =>
    context.database.rows<EventQuestion>(
      `SELECT question_id, kind, position FROM current_questions LEFT JOIN current_events USING (event_id)
       WHERE event_id = ${literal(eventId)} ORDER BY position, question_id`,
    ),
  )
  const [first] = questions
  if (!first) {
    throw new ServiceError(
      'notFound',
      `no question has the event_id ${JSON.stringify(eventId)}; nothing was written`,
    )
  }
  const { yes, highest, annulled = [] } = said
  const faults = faultsOf(eventId, said, questions)
  if (faults.length > 0) throw new ServiceError('invalid', 'the outcome of the event is invalid', { faults })
  const reached = questions.find(({ question_id }) => question_id === highest)?.position
  const endsYes = ({ question_id, position }: EventQuestion) =>
    yes ? yes.includes(question_id) : reached !== undefined && position! <= reached!
  const { resolved_at, known_at } = said
  return questions.map((question) => ({
    question_id: question.question_id,
    outcome: annulled.includes(question.question_id) ? 'annulled' : endsYes(question) ? 'yes' : 'no',
    resolved_at,
    ...(known_at !== undefined && { known_at }),
  }))
}

/** The faults of an outcome beside its combination of yes and no. */
function faultsOf(
  eventId: string,
  { yes = [], highest, annulled = [] }: EventOutcome,
  questions: readonly EventQuestion[],
): Fault[] {
  const event = JSON.stringify(eventId)
  const known = new Set(questions.map(({ question_id }) => question_id))
  const kind = questions[0]!.kind ?? 'independent'
  const named = [
    ...yes.map((id, index) => ({ pointer: `/yes/${index}`, id })),
    ...annulled.map((id, index) => ({ pointer: `/annulled/${index}`, id })),
    ...(highest ? [{ pointer: '/highest', id: highest }] : []),
  ]
  const strangers = named.filter(({ id }) => !known.has(id))
  const both = named.filter(
    ({ pointer, id }) => pointer.startsWith('/annulled') && (yes.includes(id) || id === highest),
  )
  return [
    ...strangers.map(({ pointer, id }) => ({
      pointer,
      detail: `question ${id} is not one of the event ${event}`,
    })),
    ...both.map(({ pointer, id }) => ({
      pointer,
      detail: `question ${id} is to end yes too; leave it out here or there`,
    })),
    ...(highest !== undefined && kind !== 'ordered'
      ? [
          {
            pointer: '/highest',
            detail: `is for an ordered event only, and ${event} is ${kind}; name the questions that end yes by "yes"`,
          },
        ]
      : []),
  ]
}
