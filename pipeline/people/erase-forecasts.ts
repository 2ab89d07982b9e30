// Erases the forecasts of a person: they count for nothing from the next release on. Their rows stay where
// they are, because earlier releases were made from them.
import type { PipelineComponents } from '../components.ts'
import type { ErasedPerson } from '../../schemas/manifests.ts'
import { ServiceError } from '../../schemas/errors.ts'
import { readErased, recordErased } from '../tables/erased.ts'
import { PeopleNames } from './names.ts'

type EraseContext = Pick<PipelineComponents, 'store' | 'now'>

/**
 * Refuses a reason that has the name of the person: releases publish it for good.
 *
 * @throws ServiceError `invalid`.
 */
export async function assertNamesNobody(
  { store }: EraseContext,
  userId: string,
  reason: string,
): Promise<void> {
  const names = new PeopleNames(store)
  await names.refresh()
  const name = names.nameOf(userId)
  if (name === null || !wordsOf(reason).includes(wordsOf(name))) return
  throw new ServiceError(
    'invalid',
    `the reason has the name of ${userId}, and every later release publishes it: give one without the name; nothing was changed`,
  )
}

/** The words of a text in lower case, between spaces, so that a short name is not found inside a word. */
const wordsOf = (text: string) =>
  ` ${text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter(Boolean)
    .join(' ')} `

/**
 * Records that the forecasts of a person are erased. An erasure that was made before keeps its time and its
 * reason.
 */
export async function eraseForecasts(
  { store, now }: EraseContext,
  userId: string,
  reason: string,
): Promise<{ person: ErasedPerson; wasErased: boolean }> {
  const own: ErasedPerson = { user_id: userId, erased_at: now().toISOString(), reason }
  const isNew = await recordErased(store, own)
  const person = isNew ? own : await readErased(store, userId)
  if (person) return { person, wasErased: !isNew }
  throw new ServiceError('unavailable', `the store does not show the erasure of ${userId}; run again`)
}
