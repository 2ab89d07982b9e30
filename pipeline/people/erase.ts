// Erases a person: takes the name back, and leaves the forecasts out if asked.
import type { PipelineComponents } from '../components.ts'
import { literal } from '../duckdb.ts'
import type { ErasedPerson } from '../../schemas/manifests.ts'
import { ServiceError } from '../../schemas/errors.ts'
import type { Store } from '../store/store.ts'
import { TableLog } from '../tables/delta-log.ts'
import { erasedPeople } from '../tables/left-out.ts'
import { attachTable } from '../tables/views.ts'
import { type Erasure, PeopleNames, changeNames } from './names.ts'

type EraseContext = Pick<PipelineComponents, 'store' | 'local' | 'database' | 'now'>

export interface ErasedName {
  erasure: Erasure
  /** Whether the person had a name until now. */
  wasNamed: boolean
}

export interface ErasedForecasts {
  person: ErasedPerson
  wasErased: boolean
}

/**
 * Takes a name back: no object has it any more, and no import brings it again. With `forecasts`, releases
 * leave out the person's forecasts too, from the next one on. An earlier erasure keeps its time and its
 * reason.
 *
 * @throws ServiceError `notFound` if the store knows no such person, `invalid` for a reason that would
 *   publish the name: nothing was changed.
 */
export async function erasePerson(
  context: EraseContext,
  { userId, reason, forecasts }: { userId: string; reason: string; forecasts: boolean },
): Promise<ErasedName & { forecasts: ErasedForecasts | undefined }> {
  const { store, local, now } = context
  const names = new PeopleNames(store)
  await names.refresh()
  const name = names.nameOf(userId)
  if (forecasts) assertNamesNobody(userId, name, reason)
  const isKnown = name !== null || names.erasureOf(userId) !== undefined
  if (!isKnown && !(await local.reading(() => isInTable(context, userId)))) {
    throw new ServiceError('notFound', `the store knows no person ${userId}`)
  }
  const erased = { erased_at: now().toISOString(), reason }
  await changeNames(store, new Map([[userId, { erased }]]))
  await names.refresh()
  return {
    erasure: names.erasureOf(userId)!,
    wasNamed: name !== null,
    forecasts: forecasts ? await eraseForecasts(store, { user_id: userId, ...erased }) : undefined,
  }
}

/** Refuses a reason with the name of the person, because releases publish the reason for good. */
function assertNamesNobody(userId: string, name: string | null, reason: string): void {
  if (name === null || !wordsOf(reason).includes(wordsOf(name))) return
  throw new ServiceError(
    'invalid',
    `the reason has the name of ${userId}, and every later release publishes it: give one without the name; nothing was changed`,
  )
}

/**
 * Returns the words of a text in lower case between spaces, so that a short name is not found inside a word.
 */
const wordsOf = (text: string) =>
  ` ${text
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter(Boolean)
    .join(' ')} `

async function isInTable(
  { store, local, database }: Pick<EraseContext, 'store' | 'local' | 'database'>,
  userId: string,
): Promise<boolean> {
  const log = new TableLog(store, 'forecasters')
  await log.refresh()
  await attachTable(database, local, log.current)
  const rows = await database.rows(`SELECT 1 FROM forecasters WHERE user_id = ${literal(userId)} LIMIT 1`)
  return rows.length > 0
}

async function eraseForecasts(store: Store, own: ErasedPerson): Promise<ErasedForecasts> {
  const { user_id } = own
  if (await erasedPeople(store).create(user_id, own)) return { person: own, wasErased: false }
  const person = await erasedPeople(store).get(user_id)
  if (person) return { person, wasErased: true }
  throw new ServiceError('unavailable', `the store does not show the erasure of ${user_id}; run again`)
}
