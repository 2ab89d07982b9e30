// Invitations: each code lets one agent register. Only the hashes of codes are stored.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { instant, publishedUuid } from '../../schemas/values.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { invitationPath, usedInvitationPath } from '../store/paths.ts'
import { records } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { type RandomBytes, randomText } from './api-key.ts'

const PREFIX = 'fv_invite_'
const SECRET_LENGTH = 32

const invitationRecord = z.strictObject({ created_at: instant })
const usedRecord = z.strictObject({ agent_id: publishedUuid })

const given = (store: Store) => records(store, invitationPath, invitationRecord)
const used = (store: Store) => records(store, usedInvitationPath, usedRecord)

/** Creates an invitation. Returns its code, a secret of 190 random bits. */
export async function createInvitation(store: Store, randomBytes: RandomBytes, now: Date): Promise<string> {
  const code = PREFIX + randomText(SECRET_LENGTH, randomBytes)
  await given(store).replace(sha256Hex(code), { created_at: now.toISOString() })
  return code
}

/**
 * Checks that a code lets an agent register, and changes nothing. Looks the code up by its hash, so that no
 * comparison of secrets can be timed. Returns that hash.
 *
 * @throws ServiceError `forbidden` for a missing or unknown code, or one that another agent has used.
 */
export async function assertInvited(
  store: Store,
  code: string | undefined,
  agentId: string,
): Promise<string> {
  if (code === undefined) throw notInvited('none was sent')
  const hash = sha256Hex(code)
  if (!(await given(store).get(hash))) throw notInvited('nobody gave this one out')
  const user = await used(store).get(hash)
  if (user && user.agent_id !== agentId) throw notInvited('this one was used')
  return hash
}

/**
 * Uses an invitation up for an agent. Repeating the call is harmless.
 *
 * @throws ServiceError as `assertInvited` does.
 */
export async function useInvitation(store: Store, code: string | undefined, agentId: string): Promise<void> {
  const hash = await assertInvited(store, code, agentId)
  if (!(await used(store).create(hash, { agent_id: agentId }))) await assertInvited(store, code, agentId)
}

export const NOT_INVITED =
  'only those who are invited may register an agent; ask the operator for a code, and send it as invitation'

function notInvited(why: string): ServiceError {
  return new ServiceError('forbidden', `${NOT_INVITED}: ${why}`, { type: 'not-invited' })
}
