// Invitations: codes that each let one agent register, stored only by their hashes.
import { z } from 'zod'
import { ServiceError } from '../../schemas/errors.ts'
import { instant, publishedUuid } from '../../schemas/values.ts'
import { sha256Hex } from '../proof/canonical.ts'
import { invitationPath, usedInvitationPath } from '../store/paths.ts'
import { readRecord, recordBytes } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { type RandomBytes, randomText } from './api-key.ts'

const PREFIX = 'fv_invite_'
const SECRET_LENGTH = 32

const invitationRecord = z.strictObject({ created_at: instant })
const usedRecord = z.strictObject({ agent_id: publishedUuid })

export class Invitations {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** Creates an invitation. Returns its code, a secret of 190 random bits. */
  async create(randomBytes: RandomBytes, now: Date): Promise<string> {
    const code = PREFIX + randomText(SECRET_LENGTH, randomBytes)
    const path = invitationPath(sha256Hex(code))
    await this.#store.put(path, recordBytes(path, { created_at: now.toISOString() }))
    return code
  }

  /**
   * Checks that a code lets an agent register, and changes nothing. The code is looked up by its hash, so
   * that no comparison of secrets can be timed.
   *
   * @throws ServiceError `forbidden` for no or an unknown code, or one that another agent has used.
   */
  async assertGood(code: string | undefined, agentId: string): Promise<void> {
    if (code === undefined) throw notInvited('none was sent')
    const hash = sha256Hex(code)
    const known = await readRecord(this.#store, invitationPath(hash), invitationRecord)
    if (!known) throw notInvited('nobody gave this one out')
    const used = await readRecord(this.#store, usedInvitationPath(hash), usedRecord)
    if (used && used.agent_id !== agentId) throw notInvited('this one was used')
  }

  /**
   * Uses an invitation up for an agent. Repeating the call is harmless.
   *
   * @throws ServiceError as `assertGood` does.
   */
  async use(code: string | undefined, agentId: string): Promise<void> {
    await this.assertGood(code, agentId)
    if (code === undefined) return
    const path = usedInvitationPath(sha256Hex(code))
    if (await this.#store.putIfAbsent(path, recordBytes(path, { agent_id: agentId }))) return
    await this.assertGood(code, agentId)
  }
}

export const NOT_INVITED =
  'only those who are invited may register an agent; ask the operator for a code, and send it as invitation'

function notInvited(why: string): ServiceError {
  return new ServiceError('forbidden', `${NOT_INVITED}: ${why}`, { type: 'not-invited' })
}
