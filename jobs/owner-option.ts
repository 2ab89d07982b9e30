// The option `--owner`: the name of the owner of a key or of an agent.
import { ServiceError } from '../schemas/errors.ts'
import { name } from '../schemas/names.ts'

const SHOWN_LENGTH = 100

/** @throws ServiceError `invalid` for a text that is not a name. */
export function assertOwner(owner: string): void {
  const fault = name.safeParse(owner).error?.issues[0]?.message
  if (fault === undefined) return
  throw new ServiceError('invalid', `--owner is ${JSON.stringify(owner.slice(0, SHOWN_LENGTH))}; it ${fault}`)
}
